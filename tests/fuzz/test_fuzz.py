"""A minute of every campaign, the same cases each time: no crash, no hang, no error that is not ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.campaigns import CAMPAIGNS
from tests.fuzz.processes import play_one, run

CASES = 150
SEED = 7


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CAMPAIGNS)
def test_nothing_is_found(name: str, folder: Path) -> None:
    CAMPAIGNS[name](folder)
    summary = run(name, folder, SEED, CASES, jobs=1)
    assert summary.findings == []
    assert summary.counts["ok"] > 0 or name == "raw-models"  # which checksums refuse
    assert summary.counts["refused"] > 0
    assert sum(summary.counts.values()) == CASES


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(None, "ok"), (ValueError("x"), "foreign: ValueError outside 'x'"), (MemoryError(), "memory")],
)
def test_outcomes(error: Exception | None, outcome: str) -> None:
    def play(random: object) -> None:
        if error is not None:
            raise error

    assert play_one(play, 0, 0) == outcome


def test_a_process_that_dies_is_counted_and_replaced(folder: Path) -> None:
    summary = run("faulty", folder, SEED, 12, jobs=2)
    assert sum(summary.counts.values()) == 12
    assert set(summary.counts) == {"ok", "crash", "foreign"}
    assert len(summary.findings) == summary.counts["crash"] + summary.counts["foreign"]
    assert all("-6" in outcome for _, outcome in summary.findings if outcome.startswith("crash"))
