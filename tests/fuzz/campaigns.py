"""All campaigns by name."""

from __future__ import annotations

import os
from pathlib import Path

from tests.fuzz.calls import calls
from tests.fuzz.commands import Campaign, Play
from tests.fuzz.files import files, foreign, templates
from tests.fuzz.mutations import Random
from tests.fuzz.stored import checkpoints, models, raw_models


def faulty(_: Path) -> Play:
    """For tests of this package: a third of the cases end in a crash, a third in a foreign error."""

    def play(random: Random) -> None:
        what = int(random.integers(3))
        if what == 1:
            os.abort()
        if what == 2:
            raise KeyError("x")

    return play


CAMPAIGNS: dict[str, Campaign] = {
    "models": models,
    "raw-models": raw_models,
    "checkpoints": checkpoints,
    "files": files,
    "foreign": foreign,
    "templates": templates,
    "calls": calls,
}
ALL: dict[str, Campaign] = {**CAMPAIGNS, "faulty": faulty}
