"""Options have the names of the Python arguments, up to the rules of docs/cli.md."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import typer

import mnlearn as mn
from mnlearn.cli.app import make_app
from mnlearn.data.options import ReadOptions
from mnlearn.learning.inputs import READING
from mnlearn.learning.registry import TEST_SETTINGS
from mnlearn.model import predictions
from mnlearn.simulate import GibbsPlan, simulate

CALLS: dict[str, tuple[Callable[..., Any], ...]] = {
    "learn": (mn.learn, mn.Learned.bootstrap, mn.Learned.plot, mn.Learned.report),
    "blanket": (mn.blanket,),
    "test": (mn.independence_test,),
    "score": (mn.score,),
    "fit": (mn.fit_parameters,),
    "sample": (mn.DiscreteModel.sample_dataset, GibbsPlan),
    "predict": (predictions,),
    "evaluate": (mn.evaluate, mn.validate),
    "compare": (mn.compare,),
    "compare-groups": (mn.compare_groups, mn.learn),
    "simulate": (simulate, GibbsPlan),
}
OF_ALL = {"json", "debug", "help", "set", "all", "out", "list", "cluster"}
TYPES = {"categorical", "continuous", "nominal", "ordinal", "count"}  # types={...}
FILES = {"plot", "report", "truth", "model"}  # methods and parts of the result, and where a model is
OWN = {"bootstrap", "bootstrap_seed", "stable", "score", "prior"} | {"test", "alpha"}  # options of two calls in one


@pytest.mark.parametrize("name", CALLS)
def test_options_are_named_like_arguments(name: str) -> None:
    arguments = {*READING, *ReadOptions.__annotations__, *TEST_SETTINGS, "transform", *OF_ALL, *TYPES, *FILES, *OWN}
    for call in CALLS[name]:
        arguments |= {*inspect.signature(call).parameters}
    command: Any = typer.main.get_command(make_app())
    for parameter in command.commands[name].params:
        words = [
            word.lstrip("-").replace("-", "_") for word in parameter.opts if not word.startswith("-") or "--" in word
        ]
        accepted = {w for word in words for w in (word, f"{word}s", word.removeprefix("no_"))}
        assert accepted & arguments, f"{name} has {parameter.opts}"


def test_data_come_before_what_is_asked_of_them() -> None:
    command: Any = typer.main.get_command(make_app())

    def positions(name: str) -> list[str]:
        return [one.name for one in command.commands[name].params if one.param_type_name == "argument"]

    for name, call in (
        ("blanket", mn.blanket),
        ("score", mn.score),
        ("fit", mn.fit_parameters),
        ("predict", predictions),
    ):
        expected = positions(name)
        assert list(inspect.signature(call).parameters)[: len(expected)] == expected
