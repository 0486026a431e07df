"""Draw docs/images/report.png anew: the report of the example survey, as a browser shows it (`make screenshot`)."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import mnlearn as mn
from mnlearn.simulate.catalogue import example

TARGET = Path(__file__).parent / "images" / "report.png"
CHOSEN = "poor_sleep"


def main() -> None:
    """Learn, report, open, choose a variable, and keep what is seen."""
    TARGET.parent.mkdir(exist_ok=True)
    learned = mn.learn(example(1000, seed=1).columns(), "sep").bootstrap(50, seed=1)
    program = os.environ.get("MNLEARN_CHROMIUM") or shutil.which("chromium")
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        report = Path(folder) / "report.html"
        learned.report(report, title="Sleep and work: a survey of 12 questions", source="survey.csv")
        browser = driver.chromium.launch(executable_path=program, args=as_root)
        page = browser.new_page(viewport={"width": 1200, "height": 1500})
        page.goto(report.as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        page.fill("#search", CHOSEN)
        page.press("#search", "Enter")
        page.wait_for_timeout(500)
        page.screenshot(path=TARGET)
        browser.close()


if __name__ == "__main__":
    main()
