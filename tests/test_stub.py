"""The typed stub says exactly what the native module is: names, parameters, types, defaults.

mypy's own stubtest takes nanobind's functions for plain objects and compares nothing, so the signatures that
nanobind records are compared here.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from mnlearn import _core

STUB = Path(__file__).resolve().parent.parent / "src" / "mnlearn" / "_core.pyi"


def as_in_the_stub(signature: str) -> str:
    """A signature as nanobind writes it, in the words of the stub."""
    text = re.sub(r"(?:numpy\.)?ndarray\[dtype=(\w+)[^\]]*\]", r"NDArray[np.\1]", signature)
    text = re.sub(r"(?:numpy\.)?ndarray\[[^\]]*\]", "NDArray[Any]", text)
    for spelled, short in (("mnlearn._core.", ""), ("collections.abc.", "")):
        text = text.replace(spelled, short)
    return text


def function(node: ast.FunctionDef) -> str:
    return f"def {node.name}({ast.unparse(node.args)}) -> {ast.unparse(node.returns) if node.returns else 'None'}"


def at_run_time(bound: Any) -> str:
    ((signature, _, defaults),) = bound.__nb_signature__
    for k, value in enumerate(defaults or ()):
        signature = signature.replace(f"\\{k}", repr(value))
    tree = ast.parse(as_in_the_stub(signature).replace("def (", "def getter(") + ": ...").body[0]
    assert isinstance(tree, ast.FunctionDef)
    return function(tree)


def in_the_stub(body: list[ast.stmt]) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef)}


def public(owner: object) -> set[str]:
    return {name for name in vars(owner) if not name.startswith("_")}


def without_self(signature: str) -> str:
    return signature.replace("(self, ", "(").replace("(self)", "()")


def test_functions_are_the_stubs_functions() -> None:
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    functions = in_the_stub(tree.body)
    assert public(_core) == set(functions) | {n.name for n in tree.body if isinstance(n, ast.ClassDef)}
    for name, node in functions.items():
        assert at_run_time(getattr(_core, name)) == function(node)


def test_classes_are_the_stubs_classes() -> None:
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    for stub in (n for n in tree.body if isinstance(n, ast.ClassDef)):
        owner, methods = getattr(_core, stub.name), in_the_stub(stub.body)
        made_by_functions = {"SubsetTests"}
        assert public(owner) | ({"__init__"} if stub.name not in made_by_functions else set()) == set(methods)
        for name, node in methods.items():
            bound = getattr(owner, name)
            if node.decorator_list:
                assert ast.unparse(node.decorator_list[0]) == "property"
                assert at_run_time(bound.fget).split("->")[1] == function(node).split("->")[1]
            else:
                assert without_self(at_run_time(bound)) == without_self(function(node))
