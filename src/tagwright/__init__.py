"""Tagwright: sequence taggers that train in seconds and explain themselves."""

from __future__ import annotations

__version__ = "0.1.0"
