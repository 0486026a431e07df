"""Children of tests have default signal handlers where the tests themselves ignore or block the signals."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from default_signals import ENDING, restored_signals, with_default_signals

STATE = """
import json, signal
handlers = [str(signal.getsignal(number)) for number in {numbers}]
blocked = sorted(set({numbers}) & signal.pthread_sigmask(signal.SIG_BLOCK, ()))
print(json.dumps([handlers, list(map(int, blocked))]))
"""
IGNORING = """
import json, os, signal, subprocess, sys
for number in {numbers}:
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {numbers})
for command in json.loads(sys.argv[1]):
    subprocess.run(command, check=True)
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


def test_a_child_has_default_handlers_where_its_parent_ignores_the_signals() -> None:
    numbers = list(map(int, ENDING))
    command = [sys.executable, "-c", STATE.format(numbers=numbers)]
    commands = json.dumps([command, with_default_signals(command)])
    parent = [sys.executable, "-c", IGNORING.format(numbers=numbers), commands]
    done = subprocess.run(parent, check=True, capture_output=True, text=True, timeout=60)
    plain, helped = map(json.loads, done.stdout.splitlines())
    assert plain == [[str(signal.SIG_IGN)] * len(numbers), numbers]
    defaults = [str(signal.SIG_DFL if n != signal.SIGINT else signal.default_int_handler) for n in ENDING]
    assert helped == [defaults, []]


def test_the_child_is_the_process_that_was_started() -> None:
    command = with_default_signals([sys.executable, "-c", "import os, sys; print(os.getpid(), *sys.argv[1:])", "-x y"])
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        out, _ = process.communicate(timeout=60)
    assert out == f"{process.pid} -x y\n"
    assert process.returncode == 0


def test_signals_of_this_process_are_as_before_afterwards() -> None:
    before = signal.getsignal(signal.SIGHUP)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with restored_signals():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
