"""Word classes and their tree against slow definitions, and clusters as attributes of every learner."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from math import log
from pathlib import Path

import numpy as np
import pytest
from toy import toy_words

from tagwright import CRF, FeatureSet, GuidedTagger, WordClusters, load
from tagwright.attributes.class_tree import find_paths
from tagwright.attributes.exchange import (
    WordPairs,
    add_word,
    count_neighbours,
    count_pairs,
    find_gains,
    learn_classes,
    phi_table,
)
from tagwright.errors import DataError, ModelFileError, ParameterError, TemplateError
from tagwright.learners import LEARNERS
from tagwright.model_file import read_model, write_model


def likelihood(text: np.ndarray, classes: dict[int, object]) -> float:
    """F by its definition, from the text: Σ N(g, h) log N(g, h) − Σ N(g, ·) log N(g, ·) − Σ N(·, h) log N(·, h)."""
    row = [classes[int(w)] for w in text]
    counts = Counter(pairwise(row)), Counter(row[:-1]), Counter(row[1:])
    pairs, left, right = (sum(n * log(n) for n in part.values()) for part in counts)
    return pairs - left - right


def mutual_information(text: np.ndarray, classes: dict[int, object]) -> float:
    """Average mutual information of neighbouring classes."""
    row = [classes[int(w)] for w in text]
    n, pairs, left, right = len(row) - 1, Counter(pairwise(row)), Counter(row[:-1]), Counter(row[1:])
    return sum(m / n * log(m * n / (left[g] * right[h])) for (g, h), m in pairs.items())


def make_text(seed: int, V: int, n: int) -> np.ndarray:
    """Random words, frequent ones first, borders between sentences; every word occurs."""
    rng = np.random.default_rng(seed)
    inner = np.concatenate([np.arange(V), np.minimum(rng.geometric(0.15, n) - 1, V), [0, 0, 1, 1]])
    return np.concatenate([[V], rng.permutation(inner), [V]]).astype(np.int32)


def test_gains_are_differences_of_the_likelihood() -> None:
    V, C = 9, 3
    text = make_text(0, V, 80)
    after, before = WordPairs.build(text[:-1], text[1:], V + 1), WordPairs.build(text[1:], text[:-1], V + 1)
    classes = np.append(np.arange(V) % C, C).astype(np.int32)
    for w in range(V):
        pairs, work, gains = count_pairs(after, classes, C + 1), np.zeros((2, C + 1), np.int64), np.zeros(C)
        total, itself = count_neighbours(w, after, before, classes, work)
        assert (total, itself) == ((text == w).sum(), ((text[:-1] == w) & (text[1:] == w)).sum())
        add_word(int(classes[w]), -1, work, total, itself, pairs)
        find_gains(work, total, itself, pairs, phi_table(20), gains)  # a short table: large counts go without
        expected = [likelihood(text, {**dict(enumerate(classes.tolist())), w: h}) for h in range(C)]
        np.testing.assert_allclose(gains - gains[0], np.array(expected) - expected[0], atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_no_single_move_is_better_at_the_end(seed: int) -> None:
    V, C = 12, 4
    text = make_text(seed, V, 150)
    classes, pairs = learn_classes(text, V, C)
    found = dict(enumerate([*classes.tolist(), C]))
    np.testing.assert_array_equal(
        pairs, count_pairs(WordPairs.build(text[:-1], text[1:], V + 1), np.append(classes, C), C + 1).forward
    )
    best = likelihood(text, found)
    assert set(classes.tolist()) == set(range(C))
    for w in range(V):
        if (classes == classes[w]).sum() > 1:
            assert all(likelihood(text, {**found, w: h}) <= best + 1e-6 for h in range(C))
    assert best > likelihood(text, {w: w % C if w < V else C for w in range(V + 1)})


def test_every_merge_costs_the_least_information() -> None:
    V = 8
    text = make_text(4, V, 200)
    after = WordPairs.build(text[:-1], text[1:], V + 1)
    paths = find_paths(count_pairs(after, np.arange(V + 1, dtype=np.int32), V + 1).forward)
    assert len(set(paths)) == V
    assert not any(b.startswith(a) for a in paths for b in paths if a != b)
    nodes: dict[int, object] = {w: w for w in range(V + 1)}
    for _ in range(V - 1):  # the slow way: try all pairs
        groups = sorted({g for w, g in nodes.items() if w < V}, key=str)
        trials = [{w: min(a, b) if g in (a, b) else g for w, g in nodes.items()} for a, b in combinations(groups, 2)]
        nodes = max(trials, key=lambda trial: mutual_information(text, trial))
        for group in set(nodes.values()) - {V}:  # a node of the tree: all words with one prefix
            members = {w for w, g in nodes.items() if g == group}
            prefix = paths[min(members)]
            while {w for w in range(V) if paths[w].startswith(prefix)} < members:
                prefix = prefix[:-1]
            assert {w for w in range(V) if paths[w].startswith(prefix)} == members


def make_sentences(n: int) -> list[list[str]]:
    """Determiners, nouns and verbs of one sentence pattern; every word is in the place of its kind alone."""
    rng = np.random.default_rng(0)
    kinds = [[f"{kind}{i}" for i in range(6)] for kind in ("det", "noun", "verb")]
    return [[str(rng.choice(kind)) for kind in kinds] for _ in range(n)]


def test_words_of_a_kind_share_a_cluster(tmp_path: Path) -> None:
    clusters = WordClusters.learn(make_sentences(200), n_clusters=3)
    for kind in ("det", "noun", "verb"):
        assert len({clusters.find(f"{kind}{i}") for i in range(6)}) == 1
    assert (clusters.n_clusters, len(clusters)) == (3, 18)
    assert clusters.find("NOUN1") == clusters.find("noun1")
    assert clusters.find("adjective") is None
    clusters.write(tmp_path / "paths")
    again = WordClusters.read(tmp_path / "paths")
    assert (again, again.counts) == (clusters, clusters.counts)
    assert WordClusters.learn(make_sentences(200), n_clusters=3) == clusters
    columns = [[(word, "x") for word in sentence] for sentence in make_sentences(200)]
    assert WordClusters.learn(columns, n_clusters=3) == clusters
    rare = WordClusters.learn([*make_sentences(200), ["once", "noun1"]], n_clusters=3, min_count=2)
    assert rare.find("once") is None


@pytest.mark.parametrize("learner", ["crf", "guided", "perceptron"])
def test_learners_label_words_by_their_clusters(learner: str, tmp_path: Path) -> None:
    """The labelled sentences have half of the words; the model holds the clusters of all."""
    clusters = WordClusters.learn(make_sentences(200), n_clusters=3)
    X = [["det0", "noun1", "verb2"], ["det1", "noun0"], ["noun2", "verb0"]] * 3
    y = [["D", "N", "V"], ["D", "N"], ["N", "V"]] * 3
    model = LEARNERS[learner](features=("word @ 0", clusters)).fit(X, y)
    model.save(tmp_path / "m.tw")
    for one in (model, load(tmp_path / "m.tw")):
        assert one.predict([["det5", "noun4", "verb5"]]) == [["D", "N", "V"]]
        assert one.encoder_.features.clusters == clusters


def test_templates_of_clusters() -> None:
    clusters = WordClusters({"a": "0010", "b": "01"})
    features = FeatureSet.parse("word @ 0\ncluster(3) @ 0, 1\ncluster(1)[0] & word[1]").with_clusters(clusters)
    assert features.explain(["a", "B", "c"], 0) == [
        "word[0]=a",
        "cluster3[0]=001",
        "cluster3[1]=01",
        "cluster1[0]&word[1]=0&B",
    ]
    assert features.explain(["a", "B", "c"], 2) == ["word[0]=c"]
    assert len(FeatureSet.parse("word @ 0").with_clusters(clusters).singles) > 1
    model = GuidedTagger(features=("word @ 0\nlabel[-1] & cluster(3)[0]", clusters)).fit(*toy_words(5))
    assert model.encoder_.features.clusters == clusters
    assert CRF(features=("auto", clusters)).fit(*toy_words(5)).encoder_.features.name == "pos"


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match=r"`cluster\(4\)` needs word clusters.*WordClusters.*--clusters"):
        CRF(features="word cluster(4) @ 0").fit([["a"]], [["A"]])
    with pytest.raises(ParameterError, match="n_clusters must be at least 2"):
        WordClusters.learn([["a", "b"]], n_clusters=1)
    with pytest.raises(DataError, match=r"sentences\[0\]\[1\].*expected a word, found 3"):
        WordClusters.learn([["a", 3]])
    with pytest.raises(DataError, match="found 0 words"):
        WordClusters.learn([])
    for text, found in (
        ("0101 word", "paths:1"),
        ("01\ta\n0x\tb", "paths:2"),
        ("01\ta\tmany", "paths:1"),
        ("", "no words"),
    ):
        (tmp_path / "paths").write_text(text)
        with pytest.raises(DataError, match=found):
            WordClusters.read(tmp_path / "paths")


def test_a_hostile_model_file(tmp_path: Path) -> None:
    clusters = WordClusters({"a": "00", "b": "01"})
    CRF(features=("word @ 0", clusters)).fit([["a", "b"]], [["A", "B"]]).save(tmp_path / "m.tw")
    stored = read_model(tmp_path / "m.tw")
    for numbers in ([0, 2], [0]):
        arrays = {**stored.arrays, "clusters.of": np.array(numbers, np.uint32)}
        write_model(tmp_path / "bad.tw", stored.header, arrays, stored.strings)
        with pytest.raises(ModelFileError, match="word clusters do not fit"):
            load(tmp_path / "bad.tw")
