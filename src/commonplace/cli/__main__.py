"""`python -m commonplace.cli`."""

import sys

from commonplace.cli import main

if __name__ == "__main__":
    sys.exit(main())
