"""Rules of the architecture, checked by parsing: which package may import which, and what a file may contain."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "mnlearn"

# What each package may import from the library, besides itself. A package that is not listed here fails the test.
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "_lazy": set(),  # which loads the modules of any package
    "_deprecation": {"errors"},
    "_elementary": {"_core"},  # as much part of the language as `math`: any package may import it
    "_validate": {"errors"},
    "_atomic_files": {"errors"},
    "_ties": {"errors"},
    "graphs.arrays": {"errors"},
    "graphs.graph": {"errors", "graphs.arrays"},
    "graphs.pdag": {"graphs.graph"},
    "graphs.separating_sets": {"graphs.graph", "_core"},
    "graphs.candidates": {"errors", "graphs.graph"},
    "graphs.strongest_pairs": {"_core", "graphs.candidates"},
    "graphs.variable_lists": {"graphs.candidates", "graphs.graph"},
    "run": set(),
    "protocols": {"errors", "run", "graphs.graph", "graphs.pdag", "graphs.candidates", "graphs.variable_lists"},
    "parallel": {"errors", "run"},
    "checkpoints": {"errors", "_atomic_files", "protocols", "graphs.graph", ""},
    "graphs": {"errors", "_validate", "_atomic_files", "graphs.graph"},
    "data": {"errors", "_validate", "_atomic_files", "protocols", "parallel", "_core"},
    "statistics": {
        *("errors", "_ties", "protocols", "parallel", "data", "graphs.candidates", "graphs.variable_lists", "_core"),
    },
    "independence": {"errors", "_ties", "protocols", "graphs.graph", "graphs.candidates", "statistics"},
    "scores": {
        *("errors", "_ties", "protocols", "graphs.graph", "graphs.candidates", "graphs.variable_lists", "data"),
        "statistics",
    },
    "algorithms": {
        *("errors", "_ties", "protocols", "graphs.graph", "graphs.pdag", "graphs.separating_sets"),
        *("graphs.strongest_pairs", "graphs.candidates", "graphs.variable_lists"),
    },
    "simulate": {"errors", "_validate", "protocols", "parallel", "graphs", "graphs.graph", "data", "_core"},
    "model": {
        *("errors", "_validate", "_atomic_files", "protocols", "graphs", "graphs.graph", "data", "statistics"),
        "simulate",
    },
    "evaluation": {
        *("errors", "_validate", "_atomic_files", "protocols", "graphs", "graphs.graph", "data", "statistics"),
        "algorithms",
    },
    # A learned network draws itself: its methods import `visual` when they are called. "" is the version.
    "results": {
        *("errors", "_atomic_files", "protocols", "parallel", "checkpoints", "graphs", "graphs.graph", "data"),
        *("graphs.candidates", "statistics", "visual", ""),
    },
    "visual": {"errors", "_atomic_files", "protocols", "graphs", "graphs.graph", "data", "statistics", "results", ""},
    "learning": {
        *("errors", "protocols", "graphs", "graphs.graph", "data", "statistics", "independence", "scores"),
        *("algorithms", "simulate", "model", "evaluation", "results", "parallel", "checkpoints"),
        *("graphs.separating_sets", "graphs.candidates", "graphs.variable_lists"),
    },
    "estimators": {"errors", "protocols", "graphs", "graphs.graph", "data", "results", "learning"},
    "cli": {
        *("errors", "_atomic_files", "protocols", "graphs", "graphs.graph", "data", "simulate", "learning", "results"),
        *("visual", "evaluation", "parallel", "checkpoints", "model", ""),
    },
    "__main__": {"cli"},
}


def modules() -> list[Path]:
    return sorted(p for p in SOURCE.rglob("*.py") if p != SOURCE / "__init__.py")


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def package_of(module: str) -> str:
    """Return the entry of ALLOWED for a module: graphs.graph has its own, the rest of graphs shares one."""
    return module if module in ALLOWED else module.split(".", maxsplit=1)[0]


@cache
def imports(path: Path) -> set[str]:
    """Return the modules of the library that a file imports anywhere; "" is the package itself."""
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


def packages_imported() -> dict[str, set[str]]:
    """Return what the modules of each package import from other packages."""
    found: dict[str, set[str]] = {}
    for path in modules():
        package = package_of(dotted(path).removesuffix(".__init__"))
        found.setdefault(package, set()).update(map(package_of, imports(path)))
    return {package: names - {package} for package, names in found.items()}


def test_imports_point_one_way() -> None:
    wrong = []
    for path in modules():
        package = package_of(dotted(path).removesuffix(".__init__"))
        allowed = ALLOWED.get(package, set()) | {package, "_lazy", "_elementary"}
        wrong += [f"{dotted(path)} imports mnlearn.{name}" for name in imports(path) if package_of(name) not in allowed]
    assert not wrong


def test_every_package_has_its_place() -> None:
    assert set(packages_imported()) <= set(ALLOWED)


def test_the_library_does_not_import_the_papers() -> None:
    importing = re.compile(r"^\s*(from|import) mnlearn_papers", re.MULTILINE)
    assert not [dotted(path) for path in modules() if importing.search(path.read_text(encoding="utf-8"))]


def test_algorithms_import_neither_data_nor_statistics_nor_a_concrete_test() -> None:
    imported = packages_imported()["algorithms"]
    assert imported.isdisjoint({"data", "statistics", "independence", "scores", "_core"}), imported


def test_only_data_statistics_samplers_and_searches_in_graphs_import_the_native_core() -> None:
    users = {package for package, names in packages_imported().items() if "_core" in names}
    assert users == {
        "_elementary",
        "data",
        "statistics",
        "simulate",
        "graphs.separating_sets",
        "graphs.strongest_pairs",
    }


def test_no_module_is_called_utils() -> None:
    assert not [p for p in modules() if re.fullmatch(r"_?(utils?|helpers?|misc|common)", p.stem)]


def test_kernels_know_no_python_and_bindings_no_mathematics() -> None:
    mathematics = r"\bstd::(log|exp|lgamma|sqrt|pow)\b|<cmath>|immintrin"
    python = r"Python\.h|nanobind|pybind"
    wrong = []
    for path in sorted((ROOT / "native").rglob("*.?pp")):
        binding = path.parent.name == "bindings"
        if re.search(mathematics if binding else python, path.read_text(encoding="utf-8")):
            wrong.append(path.name)
    assert not wrong


def test_instruction_set_files_share_no_inline_library_code() -> None:
    """Containers compiled with AVX-512 could be merged by the linker with those of the portable path."""
    kernels = ROOT / "native" / "kernels"
    files = [*kernels.glob("*.cpp"), *kernels.glob("*.hpp")]
    assert len(files) > 10
    library = r"#include <(vector|string|algorithm|map|memory|functional|numeric|utility)>"
    assert not [path.name for path in files if re.search(library, path.read_text(encoding="utf-8"))]


def test_public_names_are_listed_and_exist() -> None:
    for init in [SOURCE / "__init__.py", *sorted(SOURCE.glob("*/__init__.py"))]:
        _check_public_names(init)


def _check_public_names(init: Path) -> None:
    tree = ast.parse(init.read_text(encoding="utf-8"))
    imports = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]  # the package's own are for type checkers
    imported = {a.asname or a.name for n in imports for a in n.names} - {"TYPE_CHECKING", "import_module"}
    assert "*" not in imported, init
    listed = [
        ast.literal_eval(n.value)
        for n in tree.body
        if isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == "__all__"
    ]
    if imported - {"annotations"}:
        assert listed, f"{init} imports names but has no __all__"
        defined = {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
        assigned = {t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)}
        assert set(listed[0]) <= imported | defined | assigned, init


def test_no_pickle_is_ever_read() -> None:
    pattern = r"\bpickle\b|allow_pickle=True|joblib\.load"
    assert not [path.name for path in modules() if re.search(pattern, path.read_text(encoding="utf-8"))]
