"""The house plan, proved by parsing: imports point one way, and nothing reaches over its neighbour."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "mnlearn"

# What each room may import from the library, besides itself. A room not listed here fails the test: give it a place.
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "writing": set(),
    "graphs.graph": {"errors"},
    "protocols": {"errors", "graphs.graph"},
    "parallel": {"errors", "protocols"},
    "checkpoints": {"errors", "writing", "protocols", "graphs.graph"},
    "graphs": {"errors", "writing", "graphs.graph"},
    "data": {"errors", "writing", "protocols", "parallel", "_core"},
    "statistics": {"errors", "protocols", "parallel", "data", "_core"},
    "independence": {"errors", "protocols", "graphs.graph", "statistics"},
    "scores": {"errors", "protocols", "graphs.graph", "data", "statistics"},
    "algorithms": {"errors", "protocols", "graphs.graph"},
    "simulate": {"errors", "protocols", "parallel", "graphs", "graphs.graph", "data", "_core"},
    "model": {"errors", "writing", "protocols", "graphs", "graphs.graph", "data", "statistics", "simulate"},
    "optimize": {
        *("errors", "protocols", "parallel", "checkpoints", "graphs", "graphs.graph", "data", "statistics"),
        *("independence", "scores", "algorithms", "simulate", "writing"),
    },
    "evaluation": {
        "errors",
        "writing",
        "protocols",
        "graphs",
        "graphs.graph",
        "data",
        "statistics",
        "independence",
        "scores",
        "algorithms",
        "simulate",
        "parallel",
        "checkpoints",
        "model",
        "optimize",
    },
    "output": {  # "": its version
        *("errors", "writing", "protocols", "parallel", "checkpoints", "graphs", "graphs.graph", "data", ""),
    },
    "_answers": {"protocols"},
    "questions": {"_answers", "errors", "protocols", "data", "independence", "pipeline"},
    "pipeline": {
        *(
            "errors",
            "protocols",
            "graphs",
            "graphs.graph",
            "data",
            "statistics",
            "independence",
            "scores",
            "algorithms",
        ),
        *("simulate", "model", "evaluation", "output", "parallel", "checkpoints", "optimize"),
    },
    "estimators": {"errors", "protocols", "graphs", "graphs.graph", "data", "output", "pipeline"},
    "cli": {
        "errors",
        "writing",
        "protocols",
        "graphs",
        "graphs.graph",
        "data",
        "simulate",
        "pipeline",
        "questions",
        "output",
        "evaluation",
        "parallel",
        "checkpoints",
        "model",
        "optimize",
        "",
    },
    "__main__": {"cli"},
}


def modules() -> list[Path]:
    return sorted(p for p in SOURCE.rglob("*.py") if p != SOURCE / "__init__.py")


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def room_of(module: str) -> str:
    """The most specific room of a module: graphs.graph has its own, the rest of graphs shares one."""
    return module if module in ALLOWED else module.split(".", maxsplit=1)[0]


def imports(path: Path) -> set[str]:
    """Modules of the library that a file imports, wherever the import stands; "" is the package itself."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names if a.name.split(".")[0] == "mnlearn"}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} has a relative import; write it out"
            base = node.module or ""
            if base.split(".")[0] == "mnlearn":
                for alias in node.names:
                    longer = SOURCE.joinpath(*base.split(".")[1:], alias.name)
                    is_module = longer.with_suffix(".py").exists() or longer.is_dir() or alias.name == "_core"
                    found.add(f"{base}.{alias.name}" if is_module else base)
    return {name.removeprefix("mnlearn").removeprefix(".") for name in found}


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_imports_point_one_way(path: Path) -> None:
    room = room_of(dotted(path).removesuffix(".__init__"))
    assert room in ALLOWED, f"{dotted(path)} has no place in the house plan"
    for name in imports(path):
        target = room_of(name)
        assert target == room or target in ALLOWED[room], f"{dotted(path)} must not import mnlearn.{name}"


def test_algorithms_never_meet_data_statistics_or_a_concrete_test() -> None:
    assert ALLOWED["algorithms"].isdisjoint({"data", "statistics", "independence", "scores", "_core"})


def test_only_data_statistics_and_samplers_talk_to_the_native_core() -> None:
    assert {room for room, allowed in ALLOWED.items() if "_core" in allowed} == {"data", "statistics", "simulate"}


def test_there_is_no_room_called_utils() -> None:
    assert not [p for p in modules() if re.fullmatch(r"_?(utils?|helpers?|misc|common)", p.stem)]


@pytest.mark.parametrize("path", sorted((ROOT / "native").rglob("*.?pp")), ids=lambda p: str(p.name))
def test_kernels_know_no_python_and_bindings_no_mathematics(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if path.name.startswith("bindings"):
        assert not re.search(r"\bstd::(log|exp|lgamma|sqrt|pow)\b|<cmath>|immintrin", text)
    else:
        assert not re.search(r"Python\.h|nanobind|pybind", text)


@pytest.mark.parametrize("path", sorted((ROOT / "native" / "kernels").glob("*_*.cpp")), ids=lambda p: str(p.name))
def test_instruction_set_files_share_no_inline_library_code(path: Path) -> None:
    """Containers compiled with AVX-512 could be merged by the linker with those of the portable path."""
    shared = [*path.parent.glob("*.hpp"), ROOT / "native" / "elementary.hpp"]
    text = "".join(file.read_text(encoding="utf-8") for file in (path, *shared))
    assert not re.search(r"#include <(vector|string|algorithm|map|memory|functional|numeric|utility)>", text)


@pytest.mark.parametrize(
    "package", [SOURCE, *sorted(p.parent for p in SOURCE.glob("*/__init__.py"))], ids=lambda p: p.name
)
def test_public_names_are_listed_and_exist(package: Path) -> None:
    tree = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    assert not [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and any(a.name == "*" for a in n.names)]
    imports = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]  # the package's own are for type checkers
    imported = {a.asname or a.name for n in imports for a in n.names} - {"TYPE_CHECKING", "import_module"}
    listed = [
        ast.literal_eval(n.value)
        for n in tree.body
        if isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == "__all__"
    ]
    if imported - {"annotations"}:
        assert listed, f"{package.name} imports names but has no __all__"
        defined = {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
        assigned = {t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)}
        assert set(listed[0]) <= imported | defined | assigned


def test_no_pickle_is_ever_read() -> None:
    for path in modules():
        assert not re.search(r"\bpickle\b|allow_pickle=True|joblib\.load", path.read_text(encoding="utf-8")), path.name
