"""``python -m ct_tasks``."""

import sys

from ct_tasks.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
