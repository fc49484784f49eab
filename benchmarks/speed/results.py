"""Finished blocks, in a JSON file: an interrupted command goes on where it was.

A block is a rival on a task, between two measurements of ours: what a ratio is made of was measured in one run. The
measurement after one rival may be the one before the next.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

Numbers = dict[str, Any]


@dataclass(slots=True)
class Results:
    """blocks: by "task/rival", each with `rival`, `ours` (by name: before, after), `version`. missing: why not."""

    path: Path
    blocks: dict[str, Numbers] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    machine: Numbers = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path) -> Results:
        if not path.exists():
            return cls(path)
        found = json.loads(path.read_text())
        return cls(path, found["blocks"], found["missing"], found["machine"])

    def keep(self, key: str, block: Numbers) -> None:
        """One more block; the file is replaced as a whole."""
        self.blocks[key] = {**block, "date": f"{datetime.now(UTC):%Y-%m-%d}"}
        self.missing.pop(key, None)
        self._write()

    def keep_missing(self, key: str, reason: str) -> None:
        self.missing[key] = reason
        self._write()

    def _write(self) -> None:
        self.machine = describe_machine()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        content = {"machine": self.machine, "missing": self.missing, "blocks": self.blocks}
        partial = self.path.with_suffix(f".{os.getpid()}.partial")
        partial.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")
        partial.replace(self.path)


def describe_machine() -> Numbers:
    """Processor, cores, versions; no names."""
    model = platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    versions = {name: version(name) for name in ("tagwright", "numpy", "numba")}
    return {
        "processor": model, "cores": os.cpu_count(), "system": platform.system(), "python": platform.python_version(),
        "versions": versions, "date": f"{datetime.now(UTC):%Y-%m-%d}",
    }  # fmt: skip
