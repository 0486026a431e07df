"""Rules of the architecture, checked by parsing: which package may import which, and what a file may contain."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "mnlearn"

# From the bottom to the top: a module imports its own package and packages before it. Modules at the top level are
# packages of their own.
ORDER = (
    *("errors", "_lazy", "numbers", "files", "run", "checkpoint", "processes", "foreign", "parallel"),
    *("graphs", "protocols", "evaluation", "data", "statistics", "regression", "independence", "scores", "algorithms"),
    *(
        "distributions",
        "simulate",
        "model",
        "results",
        "analysis",
        "visual",
        "learning",
        "estimators",
        "cli",
        "__main__",
    ),
)

# What a method of a result imports when it is called: a network draws itself, and its analyses learn it again.
LATER = {"results": {"analysis", "visual"}, "analysis": {"visual"}}

# What an order of packages does not say.
NEVER = {
    "algorithms": {"data", "statistics", "regression", "independence", "scores", "_core"},  # a learner sees a judge
    "independence": {"data", "regression"},
    "model": {"independence", "scores", "algorithms"},
    "visual": {"independence", "scores", "algorithms", "simulate", "model"},
}

USERS_OF_THE_CORE = {"numbers", "graphs", "data", "statistics", "distributions", "simulate"}


def modules() -> list[Path]:
    return sorted(p for p in SOURCE.rglob("*.py") if p != SOURCE / "__init__.py")


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def package_of(module: str) -> str:
    """Return the package of a module, or the module itself at the top level."""
    return module.split(".", maxsplit=1)[0]


def loaded(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a module that run when it is loaded."""
    for child in ast.iter_child_nodes(node):
        for_types = isinstance(child, ast.If) and getattr(child.test, "id", "") == "TYPE_CHECKING"
        if not for_types and not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from loaded(child)


@cache
def imports(path: Path, *, anywhere: bool = True) -> set[str]:
    """Return the modules of the library that a file imports, in functions and for types only too if anywhere."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {name for node in (ast.walk(tree) if anywhere else loaded(tree)) for name in names_of(node)}


def names_of(node: ast.AST) -> set[str]:
    """Return the modules of the library that an import statement names; "" is the package itself."""
    names: set[str] = set()
    if isinstance(node, ast.Import):
        names = {a.name for a in node.names if a.name.split(".")[0] == "mnlearn"}
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"line {node.lineno} has a relative import; write it out"
        base = node.module or ""
        if base.split(".")[0] == "mnlearn":
            for alias in node.names:
                longer = SOURCE.joinpath(*base.split(".")[1:], alias.name)
                is_module = longer.with_suffix(".py").exists() or longer.is_dir() or alias.name == "_core"
                names.add(f"{base}.{alias.name}" if is_module else base)
    return {name.removeprefix("mnlearn").removeprefix(".") for name in names}


def packages_imported(*, anywhere: bool = True) -> dict[str, set[str]]:
    """Return the other packages that the modules of each package import."""
    packages: dict[str, set[str]] = {}
    for path in modules():
        package = package_of(dotted(path).removesuffix(".__init__"))
        packages.setdefault(package, set()).update(map(package_of, imports(path, anywhere=anywhere)))
    return {package: names - {package, "", "_core"} for package, names in packages.items()}


def test_every_package_has_its_place() -> None:
    assert set(packages_imported()) == set(ORDER)


def test_imports_point_one_way() -> None:
    before = {package: set(ORDER[:place]) for place, package in enumerate(ORDER)}
    wrong = {p: names - before[p] for p, names in packages_imported(anywhere=False).items() if names - before[p]}
    assert not wrong


def test_imports_when_a_function_is_called_point_one_way_too() -> None:
    wrong = {}
    for path in modules():
        package = package_of(dotted(path).removesuffix(".__init__"))
        names = set(map(package_of, called_imports(path))) - {package, "", "_core"}
        if upwards := names - set(ORDER[: ORDER.index(package)]) - LATER.get(package, set()):
            wrong[dotted(path)] = upwards
    assert not wrong


def called_imports(path: Path) -> set[str]:
    """Return the modules of the library that a file imports when it is loaded or one of its functions is called."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    types = [n for n in ast.walk(tree) if isinstance(n, ast.If) and getattr(n.test, "id", "") == "TYPE_CHECKING"]
    for_types = {id(inner) for block in types for inner in ast.walk(block)}
    return {name for node in ast.walk(tree) if id(node) not in for_types for name in names_of(node)}


def test_some_packages_never_meet() -> None:
    wrong = {p: names & NEVER[p] for p, names in packages_imported().items() if names & NEVER.get(p, set())}
    assert not wrong
    learners = {name for path in modules() if dotted(path).startswith("algorithms.") for name in imports(path)}
    assert "_core" not in learners


def test_few_packages_import_the_native_core() -> None:
    users = {package_of(dotted(path)) for path in modules() if "_core" in imports(path)}
    assert users == USERS_OF_THE_CORE


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


def test_one_module_starts_processes() -> None:
    starts = (
        r"\b(subprocess|loky|multiprocessing|sys\.executable|os\.(fork|system|popen|exec\w*|spawn\w*|posix_spawn\w*))\b"
    )
    assert [dotted(path) for path in modules() if re.search(starts, path.read_text(encoding="utf-8"))] == ["processes"]


def test_no_lock_is_held_over_the_work_of_a_property() -> None:
    assert [dotted(p) for p in modules() if "cached_property" in p.read_text(encoding="utf-8")] == ["_lazy"]
