"""`python -m tagwright`: the command line."""

from __future__ import annotations

import sys

from tagwright.cli import main

sys.exit(main())
