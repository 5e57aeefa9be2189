"""`python -m lrlm` is `lrlm`."""

import sys

from lrlm.cli import main

if __name__ == "__main__":
    sys.exit(main())
