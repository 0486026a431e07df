"""The files of a release agree with each other: workflows, hooks, version and address."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import mnlearn

TOP = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted((TOP / ".github" / "workflows").glob("*.yml"))
PYPROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
RELEASES = {"actions/checkout", "actions/setup-python", "actions/upload-artifact", "actions/download-artifact"}
RELEASES |= {"actions/attest-build-provenance", "pypa/cibuildwheel", "pypa/gh-action-pypi-publish"}
MACHINES = {"ubuntu-24.04", "ubuntu-24.04-arm", "macos-15", "windows-2022"}


def text(name: str) -> str:
    return (TOP / name).read_text(encoding="utf-8")


def load(path: Path) -> dict[Any, Any]:
    """Return a YAML file; the key `on` of a workflow is read as True."""
    document: dict[Any, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return document


def jobs(path: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = load(path)["jobs"]
    return found


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in jobs(path).values() for step in job.get("steps", [])]


def release(*arguments: str, top: Path = TOP) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(top / ".ci" / "release"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")


def set_owner(top: Path, owner: str) -> None:
    """Write an owner, or the placeholder, into the addresses of a copy of pyproject.toml."""
    path = top / "pyproject.toml"
    path.write_text(re.sub(r"(?<=github\.com/)[\w-]+", owner, path.read_text(encoding="utf-8")), encoding="utf-8")


@pytest.fixture
def ready(tmp_path: Path) -> Path:
    """Return a copy of the files that a release reads, as they are when it is due."""
    for name in ("pyproject.toml", "README.md", ".ci/release", "src/mnlearn/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text(name), encoding="utf-8")
    set_owner(tmp_path, "someone")
    changes = f"# Changelog\n\n## Unreleased\n\n## {mnlearn.__version__} (2030-01-02)\n\n- New.\n\n## 0.0.1\n\n- Old.\n"
    (tmp_path / "CHANGELOG.md").write_text(changes, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_do_little_and_ends(path: Path) -> None:
    document = load(path)
    assert document["permissions"] == {"contents": "read"}
    assert "concurrency" in document
    for name, job in jobs(path).items():
        if "uses" in job:
            assert (TOP / job["uses"]).exists(), name
            assert "workflow_call" in load(TOP / job["uses"])[True], name
        else:
            assert job["timeout-minutes"] <= 180, name
        more = set(job.get("permissions", {}).items()) - {("contents", "read")}
        assert not more or (path.name, name) in {("release.yml", "publish"), ("release.yml", "announce")}, name


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_and_their_credentials_leave_no_trace(path: Path) -> None:
    for step in steps(path):
        if "uses" in step:
            name, _, version = step["uses"].partition("@")
            assert name in RELEASES, name
            assert re.fullmatch(r"v\d+(\.\d+)*|release/v\d+|[0-9a-f]{40}", version), step["uses"]
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_the_machines_exist_and_the_targets_are_those_of_make(path: Path) -> None:
    targets = set(re.findall(r"^([\w $()-]+):(?!=)", text("Makefile"), flags=re.MULTILINE))
    targets = {one for names in targets for one in names.split()}
    for name, job in jobs(path).items():
        matrix = job.get("strategy", {}).get("matrix", {})
        assert {*matrix.get("os", []), job.get("runs-on", "ubuntu-24.04")} <= MACHINES | {"${{ matrix.os }}"}, name
        assert set(matrix.get("target", [])) <= targets, name
        for step in job.get("steps", []):
            for line in re.findall(r"^make (.*)$", step.get("run", ""), flags=re.MULTILINE):
                words = {word for word in line.split() if "=" not in word and "$" not in word}
                assert words <= targets, line


def test_every_system_and_python_is_tested() -> None:
    matrix = jobs(TOP / ".github/workflows/tests.yml")
    assert set(matrix["tests"]["strategy"]["matrix"]["os"]) == MACHINES - {"windows-2022"}
    for job in ("tests", "windows"):
        assert matrix[job]["strategy"]["matrix"]["python"] == PYTHONS
    named = [one.rpartition(" ")[2] for one in PYPROJECT["project"]["classifiers"] if ":: Python :: 3." in one]
    assert named == PYTHONS
    assert PYPROJECT["project"]["requires-python"] == f">={PYTHONS[0]}"
    assert f"in {' '.join(PYTHONS)} " in text(".ci/pythons")


def test_publishing_waits_for_everything_and_for_a_person() -> None:
    found = jobs(TOP / ".github/workflows/release.yml")
    publish = found["publish"]
    assert publish["environment"] == "release"
    assert publish["permissions"] == {"id-token": "write", "attestations": "write"}
    assert set(publish["needs"]) == {"tests", "checks", "wheels"}
    assert all(found[name]["needs"] == "check" for name in publish["needs"])
    assert not any("password" in step.get("with", {}) for step in publish["steps"])
    assert load(TOP / ".github/workflows/release.yml")[True] == {"push": {"tags": ["v*"]}}


def test_the_version_is_written_once() -> None:
    assert "version" in PYPROJECT["project"]["dynamic"]
    assert "version" not in PYPROJECT["project"]
    for name in ("CITATION.cff", "docs/conf.py", "CMakeLists.txt"):
        assert f'"{mnlearn.__version__}"' not in text(name)
        assert not re.search(rf"^version: .*{re.escape(mnlearn.__version__)}", text(name), flags=re.MULTILINE)


def test_the_address_is_written_once() -> None:
    urls = PYPROJECT["project"]["urls"]
    assert all(url.startswith(urls["Repository"]) for url in urls.values())
    checked = {*TOP.glob("*.md"), *TOP.glob("*.cff"), *TOP.glob("docs/**/*.md"), TOP / "docs/conf.py"}
    checked |= {path for folder in (".github", ".ci") for path in (TOP / folder).rglob("*") if path.is_file()}
    checked |= {TOP / ".readthedocs.yaml", TOP / ".pre-commit-config.yaml", TOP / "Makefile", TOP / "CMakeLists.txt"}
    naming = {
        str(path.relative_to(TOP)) for path in checked if re.search(r"\bOWNER\b", path.read_text(encoding="utf-8"))
    }
    assert naming == {".ci/release", "docs/conf.py", "docs/release.md"}  # which wait for its replacement
    for path in checked:
        assert urls["Repository"] not in path.read_text(encoding="utf-8"), path


def test_no_release_while_the_placeholder_stands_or_the_changelog_lacks_the_version(ready: Path) -> None:
    tag = f"v{mnlearn.__version__}"
    assert release("check", tag, top=ready).returncode == 0
    wrong = release("check", "v99.0", top=ready)
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert f"The tag must be {tag}" in wrong.stderr
    set_owner(ready, "OWNER")
    assert "placeholder OWNER" in release("check", tag, top=ready).stderr
    (ready / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n- New.\n", encoding="utf-8")
    assert "CHANGELOG.md has no section" in release("check", tag, top=ready).stderr
    assert "usage" in release("publish").stderr


def test_notes_are_the_section_of_the_version(ready: Path) -> None:
    assert release("notes", top=ready).stdout == "- New.\n"


def test_links_of_the_readme_become_addresses(ready: Path) -> None:
    before = re.findall(r"\]\(([^)]+)\)", text("README.md"))
    assert release("links", top=ready).returncode == 0
    after = re.findall(r"\]\(([^)]+)\)", (ready / "README.md").read_text(encoding="utf-8"))
    assert len(after) == len(before)
    assert all("://" in target for target in after)
    assert any("/raw/" in target and target.endswith((".png", ".svg")) for target in after)
    assert sum(target.endswith("/docs/which.md") for target in after) == before.count("docs/which.md")


def test_hooks_before_a_commit_are_the_linters_of_make() -> None:
    lines = text("Makefile").partition("\nlint:")[2].partition("\n\n")[0]
    commands = re.findall(r"\$\(BIN\)/([\w-]+(?: check| format --check| --dry-run --Werror)?)", lines)
    hooks = [hook["entry"] for repo in load(TOP / ".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    assert [f".venv/bin/{command}" for command in commands if command != "python"] == hooks


def test_the_citation_names_the_papers() -> None:
    cited = [reference["title"] for reference in load(TOP / "CITATION.cff")["references"]]
    titles = re.findall(r"^@\w+\{(\w+),.*? title = \{(.*?)\}, \w+ =", text("docs/references.bib"), flags=re.MULTILINE)
    plain = {key: re.sub(r"[{}]", "", title) for key, title in titles}
    assert cited == [plain[key] for key in ("JAIR09", "IBMAP14", "MPL17", "BJP18", "MBS09")]
