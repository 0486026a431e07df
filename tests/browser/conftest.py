"""A real browser, without a screen: Debian's Chromium, or any that MNLEARN_CHROMIUM names.

Where there is none the tests here are skipped; `make test-browser` sets MNLEARN_BROWSER=required, and then they fail.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from report_networks import hostile, huge, large, ordinary


def _lacking(what: str) -> Any:
    if os.environ.get("MNLEARN_BROWSER") == "required":
        pytest.fail(f"these tests need {what}")
    pytest.skip(f"needs {what}")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The browser, started once."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _lacking("playwright: pip install --group browser")
    known = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    program = os.environ.get("MNLEARN_CHROMIUM") or next(filter(None, map(shutil.which, known)), None)
    if program is None:
        _lacking("a browser: apt-get install chromium, or name one in MNLEARN_CHROMIUM")
    as_root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # else it will not start
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=as_root)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a report by name; it is written at the first use."""
    folder = tmp_path_factory.mktemp("reports")
    makers: dict[str, Callable[[], Any]] = {"ordinary": ordinary, "hostile": hostile, "large": large, "huge": huge}

    def written(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            makers[name]().report(path, source="survey.csv")
        return path

    return written


class Opened:
    """A report in the browser, with its console messages and its requests."""

    def __init__(self, chromium: Any, path: Path, **how: Any) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.context = chromium.new_context(viewport={"width": 1280, "height": 900}, offline=True, **how)
        self.page = self.context.new_page()
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", self._dismiss)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def _dismiss(self, dialog: Any) -> None:
        self.complaints.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def ready(self) -> Any:
        """The page, once its pictures are drawn."""
        self.page.wait_for_selector("html[data-ready=yes]", timeout=60_000)
        return self.page


@pytest.fixture
def opened(chromium: Any, reports: Callable[[str], Path]) -> Iterator[Callable[..., Opened]]:
    """Open a report by name; at the end of the test it has no complaints and no requests."""
    pages: list[Opened] = []

    def _open(name: str = "ordinary", **how: Any) -> Opened:
        pages.append(Opened(chromium, reports(name), **how))
        return pages[-1]

    yield _open
    for page in pages:
        page.context.close()
        assert page.complaints == []
        assert [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))] == []
        assert len([url for url in page.requests if url.startswith("file:")]) == 1
