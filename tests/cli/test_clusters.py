"""`tagwright clusters`, and `train --clusters`."""

from __future__ import annotations

import json
from pathlib import Path

from cli.commands import Run

from tagwright import WordClusters, load

TEXT = "the dog sleeps\nthe cat sleeps\na dog barks\na cat barks\n" * 3


def test_clusters_of_plain_text_go_into_a_model(run: Run, small: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(TEXT)
    target = tmp_path / "paths"
    found = run("clusters", tmp_path / "text.txt", "--format", "plain", "--out", target, "--number", 3)
    assert found.code == 0, found.err
    assert "36 tokens, 6 words in 3 clusters" in found.out
    clusters = WordClusters.read(target)
    assert clusters == WordClusters.learn([line.split() for line in TEXT.splitlines()], n_clusters=3)
    assert clusters.find("dog") == clusters.find("cat") != clusters.find("the")
    out = tmp_path / "m.tw"
    done = run("train", small, "--column", "POS", "--out", out, "--clusters", target, "--set", "max_iterations=3")
    assert done.code == 0, done.err
    assert load(out).encoder_.features.clusters == clusters
    shown = run("inspect", out, "--attributes", "Dog").out
    assert "cluster32[0]=" in shown


def test_columns_and_json(run: Run, small: Path, tmp_path: Path) -> None:
    found = run("clusters", small, "--out", tmp_path / "paths", "--number", 8, "--min-count", 2, "--json")
    facts = json.loads(found.out)
    assert (facts["clusters"], facts["words"]) == (8, len(WordClusters.read(tmp_path / "paths")))
    assert run("clusters", small, "--out", tmp_path / "p", "--quiet").out == ""


def test_bad_input(run: Run, small: Path, tmp_path: Path) -> None:
    (tmp_path / "bad").write_text("word 01\n")
    found = run("train", small, "--column", "POS", "--out", tmp_path / "m.tw", "--clusters", tmp_path / "bad")
    assert found.code == 1
    assert "bad:1: found 'word 01', expected a path of 0 and 1" in found.err
    assert run("clusters", small, "--out", tmp_path / "no" / "p").code == 1
    assert run("clusters", small, "--out", tmp_path / "p", "--number", 1).code == 2
    assert run("train", small, "--out", tmp_path / "m.tw", "--clusters", tmp_path / "none").code == 1
