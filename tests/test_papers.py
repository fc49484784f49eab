"""The papers' tables: runs are done once, kept, and shown beside the papers' figures. Trainings are toys here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.hmsvm import ORDER
from benchmarks.papers.claims import Claim, check_all
from benchmarks.papers.corpora import SECTIONS, Corpora, read_ptb
from benchmarks.papers.report import count_reached, markdown, write_report
from benchmarks.papers.tables import Cell, Numbers, Results, Run, Table, perform, unfinished
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
    return Table("toy", "A table", "F1 %", cells, (work("a"), work("bb"), work("a")), notes=("Because.",))


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


def test_two_commands_at_once_lose_nothing(tmp_path: Path) -> None:
    one, two = Results.open(tmp_path / "runs.json"), Results.open(tmp_path / "runs.json")
    one.keep("a", {"f1": 1.0})
    two.keep("b", {"f1": 2.0})
    assert Results.open(tmp_path / "runs.json").runs == {"a": {"f1": 1.0}, "b": {"f1": 2.0}}


def test_cells_stand_beside_the_papers(tmp_path: Path) -> None:
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


def test_sections_of_the_treebank(tmp_path: Path) -> None:
    for section in range(25):
        folder = tmp_path / "wsj" / f"{section:02}"
        folder.mkdir(parents=True)
        (folder / f"wsj_{section:02}01.mrg").write_text(f"( (S (NN w{section}) (-NONE- *)))")
    task = read_ptb(tmp_path)
    assert [len(part[0]) for part in (task.train, task.dev, task.test)] == [len(s) for s in SECTIONS.values()]
    assert task.dev == ([["w19"], ["w20"], ["w21"]], [["NN"]] * 3)
    (tmp_path / "wsj/20/wsj_2001.mrg").unlink()
    with pytest.raises(DataError, match=r"no \.mrg files of section 20 \(dev\)"):
        read_ptb(tmp_path)


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
