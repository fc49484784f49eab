"""The papers' tables: runs are done once, kept, and shown beside the papers' figures. Trainings are toys here."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks.hmsvm import ORDER
from benchmarks.papers import deviations, guided, losses
from benchmarks.papers.__main__ import all_tables
from benchmarks.papers.claims import Claim, check_all
from benchmarks.papers.corpora import Corpora, read_ptb, treebank
from benchmarks.papers.report import count_reached, markdown, write_report
from benchmarks.papers.tables import (
    Cell,
    Numbers,
    Results,
    Run,
    Stopped,
    Table,
    estimate_minutes,
    perform,
    stopped_by_signals,
    unfinished,
)
from tagwright.errors import DataError

ROOT = Path(__file__).parents[1]


def make_table(done: list[str], *, fail: str = "") -> Table:
    """Three cells of two runs; `done` tells what was run."""

    def work(key: str) -> Run:
        def train(_: Corpora) -> Numbers:
            if key == fail:
                raise KeyboardInterrupt
            done.append(key)
            return {"f1": 70.0 + len(key), "times": [1, 2]}

        return Run(key, train, 0.1)

    cells = (Cell("S1", "F1", "a", "f1", 71.0), Cell("S1", "F2", "bb", "f1", 73.0), Cell("S2", "F1", "a", "f1"))
    return Table("toy", "A table", "F1 %", cells, (work("a"), work("bb"), work("a")))


def test_runs_are_done_once_and_kept(tmp_path: Path) -> None:
    done: list[str] = []
    path = tmp_path / "new" / "runs.json"
    stopped = make_table(done, fail="bb")
    with pytest.raises(KeyboardInterrupt):
        perform(
            unfinished([stopped, stopped], Results.open(path)), Results.open(path), Corpora(tmp_path), lambda _: None
        )
    assert done == ["a"]
    results = Results.open(path)
    perform(unfinished([make_table(done)], results), results, Corpora(tmp_path), lambda _: None)
    assert done == ["a", "bb"]
    assert unfinished([make_table(done)], Results.open(path)) == []
    assert Results.open(path).number(make_table(done).cells[1]) == 72.0
    assert [file.name for file in path.parent.iterdir()] == ["runs.json"]


def test_a_stopped_run_is_not_finished(tmp_path: Path) -> None:
    """Trainings take KeyboardInterrupt for the wish to end early, and give a model: its numbers must not be kept."""

    def train(_: Corpora) -> Numbers:
        with suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        return {"f1": 1.0}

    handler = signal.getsignal(signal.SIGINT)
    results = Results.open(tmp_path / "runs.json")
    with pytest.raises(Stopped), stopped_by_signals():
        perform([Run("a", train, 0.1)], results, Corpora(tmp_path), lambda _: None)
    assert Results.open(tmp_path / "runs.json").runs == {}
    assert signal.getsignal(signal.SIGINT) is handler


def test_what_another_command_has_finished_is_not_repeated(tmp_path: Path) -> None:
    done: list[str] = []
    results = Results.open(tmp_path / "runs.json")
    runs = unfinished([make_table(done)], results)
    Results.open(tmp_path / "runs.json").keep("a", {"f1": 5.0})
    perform(runs, results, Corpora(tmp_path), lambda _: None)
    assert done == ["bb"]
    assert results.runs["a"] == {"f1": 5.0}


@pytest.mark.parametrize(("text", "found"), [("{", "no JSON"), ("[]", "other JSON"), ('{"a": 1}', "other JSON")])
def test_a_file_that_holds_no_runs(tmp_path: Path, text: str, found: str) -> None:
    (tmp_path / "runs.json").write_text(text)
    with pytest.raises(DataError, match=f"{found}.*move it away"):
        Results.open(tmp_path / "runs.json")
    assert (tmp_path / "runs.json").read_text() == text


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(DataError, match=r"cannot be written .* choose another folder with --out"):
        Results.open(tmp_path / "file" / "runs.json").prepare()
    Results.open(tmp_path / "new" / "runs.json").prepare()
    assert list((tmp_path / "new").iterdir()) == []


def test_the_estimate_is_what_runs_took(tmp_path: Path) -> None:
    def train(_: Corpora) -> Numbers:
        return {}

    crowded = {"seconds": 900.0, "cpu": 120.0}  # seconds of a machine that was busy with other things
    recorded = Results(tmp_path / "runs.json", {"ner/a": crowded, "wsj/b": {"seconds": 60.0, "cpu": 90.0}})
    runs = [Run(key, train, 0.5) for key in ("ner/a", "ner/new", "ptb-loss/b", "ptb-loss/new")]
    assert estimate_minutes(runs[:1], recorded) == 2.0
    assert estimate_minutes(runs[1:2], recorded) == 0.5
    assert estimate_minutes(runs[2:3], recorded) == 13.0  # the sample's minute, 13 times
    assert estimate_minutes(runs[3:], recorded) == 6.5
    assert estimate_minutes(runs, recorded) == 22.0


def test_two_commands_at_once_lose_nothing(tmp_path: Path) -> None:
    one, two = Results.open(tmp_path / "runs.json"), Results.open(tmp_path / "runs.json")
    one.keep("a", {"f1": 1.0})
    two.keep("b", {"f1": 2.0})
    assert Results.open(tmp_path / "runs.json").runs == {"a": {"f1": 1.0}, "b": {"f1": 2.0}}


def test_cells_stand_beside_the_papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(deviations.DEVIATIONS, "toy", "Because.")
    results = Results(tmp_path / "runs.json", {"a": {"f1": 71.0}})
    table = make_table([])
    text = "\n".join(markdown(table, results))
    assert "| S1 | 71.00 (71.00) | · (73.00) |" in text
    assert "| S2 | 71.00 |  |" in text
    assert "1 of 1 cells reach the paper's figure." in text
    assert "Because." in text
    results.runs["bb"] = {"f1": 72.9}
    assert count_reached(table, results) == (1, 2)
    claims = [Claim("Water is wet", True, "always"), Claim("Snow is warm", None, "run x is missing")]
    write_report([table], results, claims, Corpora(tmp_path), tmp_path / "out")
    page = (tmp_path / "out" / "README.md").read_text()
    assert "| S1 | 71.00 (71.00) | 72.90 (73.00) |" in page
    assert "| Water is wet | holds | always |" in page
    assert "| Snow is warm | not known yet | run x is missing |" in page


def test_claims_are_checked_by_their_numbers(tmp_path: Path) -> None:
    results = Results(tmp_path / "runs.json")
    assert {claim.verdict for claim in check_all(results)} == {None}
    for power in ("0", "1"):
        for bound, times in (("loose", 30), ("tight", 5), ("exact", 1)):
            results.runs[f"wsj/selections/{power}/{bound}"] = {"most": times}
    for task in ("ner", "wsj"):
        for place, name in enumerate(ORDER):
            results.runs[f"{task}/300/{name}"] = {"error": 9.0 - place}
    verdicts = {claim.text.split()[0]: claim.verdict for claim in check_all(results)}
    assert verdicts == {
        "Features": None,
        "Boosting": None,
        "Exact": True,
        "HM-SVM": True,
        "Guided": None,
        "Deterministic": None,
    }
    results.runs["wsj/selections/1/exact"] = {"most": 6}
    results.runs["ner/300/CRF"] = {"error": 4.0}
    verdicts = {claim.text.split()[0]: claim.verdict for claim in check_all(results)}
    assert (verdicts["Exact"], verdicts["HM-SVM"]) == (False, False)


def test_features_matter_more_in_the_papers_own_numbers(tmp_path: Path) -> None:
    results = Results(tmp_path / "runs.json")
    for task, number, figures in (("ner", "f1", losses.LOSS_2), ("wsj", "accuracy", losses.LOSS_1)):
        for features, row in figures.items():
            for loss, figure in zip(losses.C2, row, strict=True):
                results.runs[f"{task}/{features}/{loss}"] = {number: figure}
    claim = check_all(results)[0]
    assert claim.verdict is True
    assert "ner, S1 to S3: 12.4 to 16.4 points, 14.5 on average; losses: 3.2 at most, 2.5 on average" in claim.evidence
    results.runs["ner/s1/sequence_log"] = {"f1": 45.0}  # one loss falls behind by more than features bring
    assert check_all(results)[0].verdict is False
    results.runs["ner/s1/sequence_log"] = {"f1": 59.92}
    results.runs["wsj/s2/pointwise_exp"] = {"accuracy": 94.7}  # more features, and nothing gained
    assert check_all(results)[0].verdict is False


def test_boosting_is_sparse_up_to_its_limit(tmp_path: Path) -> None:
    runs: dict[str, Numbers] = {f"ner/{s}/sequence_exp": {"f1": 75.0} for s in ("s2", "s3")}
    runs |= {"ner/s2/boosting": {"f1": 73.0, "density": 14.99}, "ner/s3/boosting": {"f1": 74.0, "density": 9.0}}
    claim = check_all(Results(tmp_path / "runs.json", runs))[1]
    assert claim.verdict is True
    assert claim.evidence == (
        "S2 15.0 %, the limit it was given (F1 73.0, all features 75.0); S3 9.0 % (F1 74.0, all features 75.0)"
    )
    runs["ner/s3/boosting"]["density"] = 16.0
    assert check_all(Results(tmp_path / "runs.json", runs))[1].verdict is False


def test_both_directions_must_not_be_worse(tmp_path: Path) -> None:
    runs: dict[str, Numbers] = {
        f"{task}/guided/e/{way}, aggressive/{beam}": {"error": 4.0}
        for task in ("wsj", "ewt")
        for way in ("both", "left to right")
        for beam in (1, 3)
    }
    assert check_all(Results(tmp_path / "runs.json", runs))[4].verdict is True
    runs["ewt/guided/e/both, aggressive/3"] = {"error": 4.01}
    assert check_all(Results(tmp_path / "runs.json", runs))[4].verdict is False


def test_one_hypothesis_is_close_in_the_papers_own_numbers(tmp_path: Path) -> None:
    runs: dict[str, Numbers] = {
        f"{task}/guided/test/{beam}": {"error": error, "spread": 0.1}
        for task in ("wsj", "ewt")
        for beam, error in guided.TEST.items()
    }
    claim = check_all(Results(tmp_path / "runs.json", runs))[5]
    assert claim.verdict is True
    assert claim.evidence.startswith("wsj: 2.73 ± 0.10 against 2.67 ± 0.10, +2.2 %; ewt: ")
    runs["ewt/guided/test/1"] = {"error": 2.81, "spread": 0.1}
    assert check_all(Results(tmp_path / "runs.json", runs))[5].verdict is False


@pytest.mark.parametrize("ptb", [False, True])
def test_every_table_is_whole(ptb: bool) -> None:
    tables = all_tables(ptb=ptb)
    assert set(tables) == set(deviations.DEVIATIONS)
    for table in tables.values():
        assert {cell.run for cell in table.cells} == {run.key for run in table.runs}
        assert len(deviations.DEVIATIONS[table.name]) > 100
        assert len({(cell.row, cell.column) for cell in table.cells}) == len(table.cells)


def test_runs_of_the_treebank_are_not_those_of_its_sample() -> None:
    """What was found on the sample is not taken for the treebank's, and the other way round."""
    sample, whole = ({run.key for t in all_tables(ptb=ptb).values() for run in t.runs} for ptb in (False, True))
    assert not {key for key in sample if key.startswith("ptb-")}
    assert {key.partition("/")[0] for key in whole} == {"ner", "ewt", "ptb-loss", "ptb-lm-pos", "ptb-guided"}


@pytest.mark.parametrize(
    ("paper", "sections"),
    [
        ("loss", (range(1, 22), [24], [22])),  # LOSS 4.2: 1-21 and 22
        ("lm-pos", (range(2, 22), [24], [23])),  # LM-POS 5.1
        ("guided", (range(19), [19, 20, 21], [22, 23, 24])),  # GUIDED table 1
    ],
)
def test_sections_of_the_treebank(tmp_path: Path, paper: str, sections: tuple[Iterable[int], ...]) -> None:
    for section in range(25):
        folder = tmp_path / "wsj" / f"{section:02}"
        folder.mkdir(parents=True)
        (folder / f"wsj_{section:02}01.mrg").write_text(f"( (S (NN w{section}) (-NONE- *)))")
    corpora = Corpora(tmp_path, ptb=tmp_path)
    task = corpora.task(treebank(paper, ptb=True))
    for part, own in zip((task.train, task.dev, task.test), sections, strict=True):
        assert part == ([[f"w{section}"] for section in own], [["NN"] for _ in own])
    (tmp_path / "wsj/24/wsj_2401.mrg").unlink()
    part = "test" if paper == "guided" else "dev"
    with pytest.raises(DataError, match=rf"no \.mrg files of section 24 \({part}\)"):
        read_ptb(tmp_path, paper)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.papers", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_an_unknown_table_lists_the_names() -> None:
    found = run("loss-9")
    assert found.returncode == 2
    assert "no table 'loss-9'; there are loss-1, loss-2" in found.stderr


def test_a_folder_without_data(tmp_path: Path) -> None:
    found = run("loss-2", "--data", str(tmp_path / "nowhere"), "--out", str(tmp_path / "out"))
    assert found.returncode == 1
    assert "there is no esp.train; put the files of conll2002 there" in found.stderr
