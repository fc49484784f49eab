"""`python -m tagwright`: the command line."""

from __future__ import annotations

from tagwright.cli import run_process

run_process()
