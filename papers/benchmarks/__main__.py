"""Speed, memory and accuracy: `python papers/benchmarks` lists the cases."""

from __future__ import annotations

import logging
import sys

from harness import main

if __name__ == "__main__":
    logging.getLogger("mnlearn").setLevel(logging.ERROR)
    main(sys.argv[1:])
