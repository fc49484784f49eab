"""`tagwright inspect`: what a model is, what it learned, why a token got its label."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from cli.commands import Run
from toy import toy_words

from tagwright import CRF, HMM, GuidedTagger, KernelPerceptron, SequenceAdaBoost, load
from tagwright.cli.learned import START, STOP, list_weights, template_sizes, top_weights, transitions
from tagwright.guided.label_contexts import BASE, PART, PART_STRIDE, STRIDES
from tagwright.scores.linear import LinearScores


def dense_weights(path: Path) -> dict[str, dict[str, float]]:
    """All weights by attribute and label, the slow way."""
    model = load(path)
    scores = model.decoder_.scores
    assert isinstance(scores, LinearScores)
    found: dict[str, dict[str, float]] = {}
    for a, name in enumerate(model.encoder_.attribute_names()):
        run = range(scores.pattern.pointers[a], scores.pattern.pointers[a + 1])
        found[name] = {model.labels_[scores.pattern.labels[w]]: float(scores.weights.values[w]) for w in run}
    return found


def test_top_weights_are_the_largest(model: Path) -> None:
    weights = dense_weights(model)
    found = top_weights(load(model), 4)
    assert list(found) == load(model).labels_
    for label in ("NN", "DT", "VBD"):
        largest = sorted([row[label] for row in weights.values() if label in row], reverse=True)[:4]
        assert [value for _, value in found[label]] == largest
        assert all(weights[name][label] == value for name, value in found[label])


def test_transitions_are_those_of_the_chain(model: Path) -> None:
    loaded = load(model)
    found = {(t.previous, t.current): t.score for t in transitions(loaded)}
    inner, start, stop = loaded.decoder_.chain_scores
    dt, nn = loaded.labels_.index("DT"), loaded.labels_.index("NN")
    assert found["DT", "NN"] == inner[dt, nn]
    assert found.get(("NN", "DT"), 0.0) == inner[nn, dt]
    assert found[START, "DT"] == start[dt]
    assert found.get(("NN", STOP), 0.0) == stop[nn]
    scores = [t.score for t in transitions(loaded)]
    assert scores == sorted(scores, reverse=True)
    assert np.isfinite(scores).all()


def test_template_sizes_add_up(model: Path) -> None:
    loaded = load(model)
    weights = list_weights(loaded)
    assert weights is not None
    sizes = template_sizes(loaded)
    assert sum(size.attributes for size in sizes) == loaded.encoder_.n_attributes
    assert sum(size.weights or 0 for size in sizes) == len(weights.values)
    words = next(size for size in sizes if size.template == "word[0]")
    assert words.attributes == len(loaded.encoder_.columns[0].values) + 2  # the edges
    features = loaded.encoder_.features
    assert features is not None
    assert sizes[-1].template == " & ".join([cell.text for cell in features.conjunctions[-1]])


def test_word_tables(run: Run, small: Path, tmp_path: Path) -> None:
    out = tmp_path / "hmm.tw"
    assert run("train", small, "--out", out, "--column", "POS", "--learner", "hmm", "--quiet").code == 0
    hmm = load(out)
    assert isinstance(hmm, HMM)
    (name, value), *_ = top_weights(hmm, 1)["DT"]
    assert name == "word[0]=the"
    assert np.exp(value) == pytest.approx(hmm.emission_probabilities("the")["DT"], rel=1e-5)
    assert template_sizes(hmm)[0].weights == len({(w, t) for w, t, *_ in map(str.split, read_rows(small))})
    found = json.loads(run("inspect", out, "--attributes", "the zorgs", "--json").out)["tokens"]
    assert found[0]["attributes"] == {"word[0]=the": pytest.approx(value)}
    spelling = hmm.emission_probabilities("zorgs")[found[1]["label"]]
    assert found[1]["attributes"] == {"word[0]=zorgs": pytest.approx(np.log(spelling), abs=1e-4)}
    assert "highest log-probability for each label\n" in run("inspect", out).out


def read_rows(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines()[1:] if line]


def test_text(run: Run, model: Path) -> None:
    code, out, err = run("inspect", model, "--top", "2")
    assert (code, err) == (0, "")
    assert out.startswith(f"{model}\nlearner    crf ")
    assert "trained on small.conll, " in out
    assert "file       columns, label POS, inputs WORD\n" in out
    assert "\ntemplate " in out
    assert "\nhighest weight for each label\n" in out
    assert "DT → NN" in out


def test_json(run: Run, model: Path) -> None:
    code, out, _ = run("inspect", model, "--json", "--label", "NN", "--top", "3")
    found = json.loads(out)
    assert (code, out.count("\n")) == (0, 1)
    assert list(found["weights"]) == ["NN"]
    assert len(found["weights"]["NN"]) == 3
    assert all("NN" in (previous, current) for previous, current, _ in found["transitions"])
    assert found["model_bytes"] == model.stat().st_size
    assert found["layout"]["label"] == 1
    assert found["params"]["c2"] == CRF().c2
    assert found["changed"] == {"max_iterations": 12, "random_state": 0}
    assert found["features"]["name"] == "pos"


def test_second_order_and_tag_dictionary(run: Run, small: Path, tmp_path: Path) -> None:
    out = tmp_path / "second.tw"
    options = ["--set", "order=2", "--set", "tag_dictionary=3", "--set", "max_iterations=5", "--quiet"]
    assert run("train", small, "--out", out, "--column", "POS", *options).code == 0
    model = load(out)
    found = json.loads(run("inspect", out, "--json").out)
    dictionary = model.decoder_.dictionary
    assert dictionary is not None
    assert found["tag_dictionary"]["words"] == dictionary.n_words > 10
    assert 1 <= found["tag_dictionary"]["labels_a_word"] < 3
    assert found["tag_dictionary"]["open_labels"] == dictionary.sizes[0] < len(model.labels_)
    scores = [score for *_, score in found["trigrams"]]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == np.count_nonzero(model.decoder_.trigrams.weights)
    before, previous, current, score = found["trigrams"][0]
    p, q, c = (model.labels_.index(label) for label in (before, previous, current))
    key = (p * len(model.labels_) + q) * len(model.labels_) + c
    assert score == model.decoder_.trigrams.weights[model.decoder_.trigrams.keys.tolist().index(key)]
    text = run("inspect", out).out
    assert f"dictionary {dictionary.n_words} words keep to their labels (" in text
    assert "likely label trigrams" in text
    assert f"{before} → {previous} → {current} " in text
    one = json.loads(run("inspect", out, "--json", "--label", current).out)["trigrams"]
    assert 0 < len(one) < len(scores)
    assert all(current in triple[:3] for triple in one)


def test_attributes_with_their_weights(run: Run, model: Path) -> None:
    found = json.loads(run("inspect", model, "--attributes", "The dog zorgs", "--json").out)["tokens"]
    weights = dense_weights(model)
    features = load(model).encoder_.features
    assert features is not None
    assert [token["token"] for token in found] == ["The", "dog", "zorgs"]
    assert [token["label"] for token in found] == load(model).predict([["The", "dog", "zorgs"]])[0]
    for t, token in enumerate(found):
        assert sorted(token["attributes"]) == sorted(features.explain(["The", "dog", "zorgs"], t))
        for name, weight in token["attributes"].items():
            assert weight == (weights[name].get(token["label"], 0.0) if name in weights else None)
    assert found[2]["attributes"]["word[0]=zorgs"] is None
    text = run("inspect", model, "--attributes", "The dog zorgs").out
    assert text.startswith("The  →  DT\n")
    assert "       new  word[0]=zorgs\n" in text


def test_attributes_with_a_label_answer_why_not_that_label(run: Run, model: Path) -> None:
    """`--label` was ignored. The weights of both labels are those of the model, and add up to the lead in score."""
    options = ["--attributes", "The dog zorgs", "--label", "NNP"]
    found = json.loads(run("inspect", model, *options, "--json").out)["tokens"]
    loaded, weights = load(model), dense_weights(model)
    for one, expected in zip(found, loaded.explain(["The", "dog", "zorgs"], against="NNP"), strict=True):
        assert (one["label"], one["against"]) == (expected.label, "NNP")
        for reason in one["reasons"]:
            if reason["kind"] == "attribute":
                row = weights[reason["name"]]
                assert reason["weight"] == pytest.approx(row.get(one["label"], 0.0))
                assert reason["against"] == pytest.approx(row.get("NNP", 0.0))
        assert sum(r["weight"] for r in one["reasons"]) == pytest.approx(one["score"])
        assert sum(r["against"] for r in one["reasons"]) == pytest.approx(one["against_score"])
        assert one["score"] - one["against_score"] == pytest.approx(expected.margin)
    text = run("inspect", model, *options).out
    assert text.startswith("The  →  DT, not NNP: ahead by ")
    assert "\n        DT       NNP\n" in text
    assert "label[-1]=<s>" in text
    assert text.count("  total") == 3
    assert "--attributes compares with one; name one" in run("inspect", model, *options, "--label", "NN").err


def test_all_weights_are_those_of_inspect(run: Run, model: Path) -> None:
    loaded = load(model)
    found = json.loads(run("inspect", model, "--json", "--top", "100000").out)
    assert {(p, c): w for p, c, w in found["transitions"]} == loaded.transition_features_
    positive = {(name, label): w for label, pairs in found["weights"].items() for name, w in pairs}
    assert positive == {pair: w for pair, w in loaded.state_features_.items() if w > 0}


def test_a_kernel_names_the_training_tokens_that_count(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "m.tw"
    KernelPerceptron("s1", epochs=2, random_state=0).fit(*toy_words(30)).save(out)
    [one] = json.loads(run("inspect", out, "--attributes", "xya", "--label", "C", "--json").out)["tokens"]
    kinds = [reason["kind"] for reason in one["reasons"]]
    assert kinds.count("context") == 11
    assert one["reasons"][10]["name"].endswith(" other training tokens")


def test_attributes_of_columns(run: Run, chunker: Path) -> None:
    found = json.loads(run("inspect", chunker, "--attributes", "1/2/CD dog/NN", "--json").out)["tokens"]
    assert "word[0]=1/2" in found[0]["attributes"]
    assert "word:1[0]=CD" in found[0]["attributes"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--attributes", "dog"],
            "expected 2 columns joined by slashes, as the model was trained on; write dog/COLUMN",
        ),
        (["--attributes", " "], "found no tokens, expected a sentence"),
        (["--label", "B-NPP"], "--label: the model has no label 'B-NPP'; it has: B-ADJP"),
    ],
)
def test_refusals(run: Run, chunker: Path, options: list[str], message: str) -> None:
    code, out, err = run("inspect", chunker, *options)
    assert (code, out) == (1, "")
    assert message in err


def test_calibrated_spans_are_shown(run: Run, tmp_path: Path) -> None:
    X, y = [["xa", "zc"], ["zc", "xa"], ["zc"]] * 4, [["B-P", "O"], ["O", "B-P"], ["O"]] * 4
    model = CRF().fit(X, y)
    model.save(tmp_path / "raw.tw")
    model.calibrate_spans(X, y).save(tmp_path / "m.tw")
    assert json.loads(run("inspect", tmp_path / "raw.tw", "--json").out)["span_calibration"] is None
    found = json.loads(run("inspect", tmp_path / "m.tw", "--json").out)["span_calibration"]
    assert found == {"slope": model.span_calibration_.slope, "intercept": model.span_calibration_.intercept}
    assert "calibrated: slope" in run("inspect", tmp_path / "m.tw").out


def test_chosen_features_of_boosting(run: Run, small: Path, tmp_path: Path) -> None:
    """In the order of their choice, with total weight and rounds; JSON has them all."""
    path = tmp_path / "sparse.tw"
    options = ["--features", "s2", "--learner", "adaboost", "--set", "rounds=30", "max_step=1", "--quiet"]
    assert run("train", small, "--out", path, "--column", "POS", *options).code == 0
    model = load(path)
    assert isinstance(model, SequenceAdaBoost)
    found = json.loads(run("inspect", path, "--json").out)["chosen"]
    assert [(f["attribute"], f["label"], f["rounds"]) for f in found] == [
        (f.attribute, f.label, f.rounds) for f in model.chosen_features()
    ]
    text = run("inspect", path).out
    first = model.chosen_features()[0]
    assert f"first of {len(found)} chosen features" in text
    line = next(line for line in text.splitlines() if line.startswith(f"{first.attribute} → {first.label} "))
    assert f"{first.weight:.2f}" in line
    assert line.split("round", 1)[1].lstrip("s ").startswith("1")


GUIDED = """
word suffix(1) @ 0
label @ -1, 1
label[-2] & label[-1]
label[-1] & label[1] & suffix(1)[0] & word[1]
label[1] & word[0]
"""


def all_contexts(model: GuidedTagger) -> dict[str, dict[str, float]]:
    """The weights of all label contexts by name and label, the slow way: every context that there can be."""
    weights, layout = model.decoder_.labels.weights, model.decoder_.labels.layout
    names, parts = model.labels_, model.decoder_.labels.parts
    entries = {(int(k), int(y)): float(v) for k, y, v in zip(weights.keys, weights.labels, weights.values, strict=True)}
    found: dict[str, dict[str, float]] = {}
    for template, numbers in zip(layout.templates, layout.numbers, strict=True):
        vocabularies = []
        for cell in template.cells:
            column, term = parts.encoder.column_of(cell)
            vocabularies.append(column.vocabularies[term].values)
        for labels in product(range(len(names)), repeat=len(template.offsets)):
            for key, values in enumerate(product(*vocabularies)):
                number = key
                if len(values) > 1:
                    known = parts.tables[template.cells].keys.tolist()
                    if key not in known:
                        continue
                    number = known.index(key)
                strides = dict(zip((-2, -1, 1, 2), numbers[STRIDES].tolist(), strict=True))
                at = numbers[BASE] + sum(strides[o] * y for o, y in zip(template.offsets, labels, strict=True))
                at = int(at + numbers[PART_STRIDE] * number)
                shown = [f"label[{o}]={names[y]}" for o, y in zip(template.offsets, labels, strict=True)]
                if values:
                    cells = "&".join(cell.name for cell in template.cells)
                    shown.append(f"{cells}={'&'.join(values)}")
                row = {}
                for y, name in enumerate(names):
                    row[name] = weights.rows[at, y] if numbers[PART] < 0 else entries.get((at, y), 0.0)
                found[" & ".join(shown)] = row
    return found


def test_label_contexts_and_order_of_a_guided_model(run: Run, tmp_path: Path) -> None:
    X, y = toy_words(30)
    model = GuidedTagger(GUIDED, random_state=0, epochs=3).fit(X, y)
    contexts = all_contexts(model)
    found = model.top_contexts(12)
    for label in model.labels_:
        largest = sorted([row[label] for row in contexts.values() if row[label] > 0], reverse=True)[:12]
        assert [value for _, value in found[label]] == largest
        assert all(contexts[name][label] == value for name, value in found[label])
    assert any("suffix1[0]&word[1]=" in name for pairs in model.top_contexts(1000).values() for name, _ in pairs)
    ranks: dict[str, list[float]] = {label: [] for label in model.labels_}
    for sentence in X:
        for n, step in enumerate(model.explain(sentence)):
            if len(sentence) > 1:
                ranks[step.label].append(n / (len(sentence) - 1))
    order = model.typical_order()
    assert [rank for _, rank in order] == sorted(rank for _, rank in order)
    assert dict(order) == pytest.approx({k: np.mean(v) for k, v in ranks.items() if v})
    model.save(tmp_path / "m.tw")
    text = run("inspect", tmp_path / "m.tw").out
    assert "label contexts: highest weight for each label" in text
    assert "typical order of labelling" in text
    shown = json.loads(run("inspect", tmp_path / "m.tw", "--json", "--top", "12").out)
    assert shown["contexts"] == {label: [list(pair) for pair in pairs] for label, pairs in found.items()}
    assert [(one["label"], one["place"]) for one in shown["order"]] == order
    assert not HMM().fit(X, y).top_contexts(3)
