"""``python -m ir_std``."""

import sys

from ir_std.cli import main

if __name__ == "__main__":
    sys.exit(main())
