"""Write golden results, or list the cases that differ from them; see `engine.py`."""

from __future__ import annotations

import argparse
from difflib import get_close_matches

from golden.cases import CASES
from golden.engine import compute, differences, golden_results, write_results


def main() -> None:
    """Write the results of the chosen cases, or list those that differ from the files."""
    parser = argparse.ArgumentParser(prog="python -m golden", description="Golden results.")
    parser.add_argument("names", nargs="*", metavar="PACKAGE or CASE", help="packages or cases; all by default")
    parser.add_argument("--write", action="store_true", help="write their results anew")
    options = parser.parse_args()
    names = chosen(options.names)
    if options.write:
        write_results(names)
        return
    golden = golden_results()
    for name in names:
        for line in differences(compute(name), golden.get(name), close=CASES[name].close)[:3]:
            print(f"{name}: {line}")


def chosen(words: list[str]) -> list[str]:
    """Return the cases that are named, or whose package is; all without a name."""
    known = {*CASES, *(case.package for case in CASES.values())}
    for word in words:
        if word not in known:
            raise SystemExit(
                f"{word!r} is neither a package nor a case; the nearest are {get_close_matches(word, known)}."
            )
    return [name for name, case in sorted(CASES.items()) if not words or {name, case.package} & {*words}]


if __name__ == "__main__":
    main()
