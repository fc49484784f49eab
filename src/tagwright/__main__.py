"""`python -m tagwright`: the command line."""

from __future__ import annotations

import sys

from tagwright.cli import main

if __name__ == "__main__":  # not in the processes of warm-up, which import this module too
    sys.exit(main())
