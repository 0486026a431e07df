"""`python -m mnlearn` is the command line."""

import sys

from mnlearn.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
