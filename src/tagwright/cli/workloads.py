"""Workloads for warm-up: what users do, in small. Between them they call every kernel: none is left to compile later.

A workload trains a learner with some settings on a few sentences of the sample and asks the model for all it can give,
from Python and from the command line. Which kernels these are, and for which types, is nobody's list: whatever a
learner comes to need, its workload needs too. A new setting that leads to kernels of its own wants a workload;
tests/cli/test_warm_up.py finds kernels that users need and no workload calls.

The longest come first, for `tagwright warm-up`, which shares them out among processes.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tagwright import (
    CRF,
    HMM,
    HMSVM,
    MEMM,
    GuidedTagger,
    KernelPerceptron,
    SequenceAdaBoost,
    StructuredPerceptron,
    WordClusters,
    datasets,
    load,
    pycrfsuite,
)
from tagwright.cli import main
from tagwright.learners import LEARNERS, SequenceTagger

N_SENTENCES = 30
TEMPLATES = "word suffix(1..2) shape @ -1..1\nword[-1] & word[0]"
Corpus = tuple[list[list[Any]], list[list[str]]]
Models = Callable[[], Sequence[SequenceTagger]]


def words(column: str = "pos") -> Corpus:
    """Words, with parts of speech or names."""
    X, y = datasets.sample(column, inputs=["word"])
    return X[:N_SENTENCES], y[:N_SENTENCES]


def columns() -> Corpus:
    """Words in two columns, with chunks."""
    X, y = words("chunk")
    return [[(word, word[-2:]) for word in sentence] for sentence in X], y


def dicts() -> Corpus:
    """Attributes made by the user: strings, flags and numbers; and lists of names."""
    X, y = words("entity")
    items: list[list[Any]] = []
    for i, s in enumerate(X):
        given = [{"word": word, "upper": word.isupper(), "length": len(word) / 10} for word in s]
        items.append([[f"word:{word}", "upper"] for word in s] if i % 5 == 1 else given)
    return items, y


def use(model: SequenceTagger, corpus: Corpus, folder: Path) -> None:
    """Train, tag, and ask for whatever there is, from Python and from the command line."""
    X, y = corpus
    model.set_params(random_state=0, n_jobs=2)
    model.fit(X, y, X[:5], y[:5])
    path = str(folder / "model.tw")
    model.save(path)
    model = load(path)
    fresh = [*X[:3], [change(item) for item in X[3]]]
    labels = model.predict(fresh, n_jobs=2)
    model.predict(fresh, allowed=[[[label, model.labels_[0]] for label in sentence] for sentence in labels])
    if model.ranked:
        model.predict_nbest(fresh, k=2)
    if model.probabilistic:
        model.predict_marginals(fresh)
        model.predict(fresh, decoding="posterior")
    if isinstance(X[0][0], str):
        text = folder / "text.txt"
        text.write_text("\n".join([" ".join(sentence) for sentence in fresh]) + "\n", encoding="utf-8")
        call("tag", path, str(text))


def change(item: Any) -> Any:
    """The item as an unknown one."""
    if isinstance(item, dict):
        return item | {"word": item["word"] + "x"}
    return item + "x" if isinstance(item, str) else type(item)([item[0] + "x", *item[1:]])


def call(*argv: str) -> None:
    """A command whose output nobody reads."""
    with contextlib.redirect_stdout(io.StringIO()):
        if code := main([*argv, "--quiet"]):
            raise RuntimeError(f"tagwright {' '.join(argv)}: exit code {code}")


def crfs(dtype: str) -> list[SequenceTagger]:
    """Losses, solvers and kinds of chains."""
    losses: list[dict[str, Any]] = [{"loss": loss} for loss in ("pointwise_log", "sequence_exp", "pointwise_exp")]
    solvers: list[dict[str, Any]] = [{"solver": "cg"}, {"solver": "sgd"}, {"c1": 0.1}]
    chains: list[dict[str, Any]] = [{"tag_dictionary": 1}, {"order": 2}, {"order": 2, "tag_dictionary": 1}]
    return [CRF("s1", dtype=dtype, max_iterations=2, **settings) for settings in [*chains, *losses, *solvers]]


def workload_of(make: Models, read: Callable[[], Corpus] = words) -> Callable[[Path], None]:
    """The workload of these models."""

    def run(folder: Path) -> None:
        for model in make():
            use(model, read(), folder)

    return run


def run_other_data(folder: Path) -> None:
    """Every learner on items that are not words."""
    short = {"max_iterations": 2, "epochs": 1, "rounds": 3}
    for learner in LEARNERS.values():
        for corpus in (columns(), dicts()):
            model = learner()
            model.set_params(**{name: short[name] for name in short.keys() & model.get_params()})
            use(model, corpus, folder)


def run_spans(folder: Path) -> None:
    """Well-formed spans, their probabilities, clusters."""
    X, y = words("chunk")
    clusters = WordClusters.learn(X, n_clusters=4)
    for learner in LEARNERS.values():
        model = learner(None if learner is HMM else ("s1", clusters), well_formed=True)
        model.set_params(**{name: 2 for name in ("epochs", "rounds") if name in model.get_params()})
        use(model, (X, y), folder)
        if model.probabilistic:
            model.fit(X, y).predict_spans(X)
    CRF("s1").fit(X, y).calibrate_spans(X, y)


def run_partial_labels(folder: Path) -> None:
    """Training on labels that are known in part."""
    X, y = words()
    partial: list[Any] = [[(None, {label, "NN"}, label)[t % 3] for t, label in enumerate(labels)] for labels in y]
    CRF(TEMPLATES, max_iterations=2).fit(X, partial)


def run_underflow(folder: Path) -> None:
    """Scores so large that sums are made of logarithms."""
    X, y = words("entity")
    items, large = ([[{"word": word, word[-1]: value} for word in s] for s in X] for value in (1e4, 1e8))
    for order in (1, 2):
        for loss in ("sequence_log", "pointwise_log")[: 3 - order]:
            model = CRF(order=order, loss=loss, c2=1e-6, max_iterations=3).fit(items, y)
            model.predict_marginals(large[:5])


def run_commands(folder: Path) -> None:
    """The commands on files."""
    out, text = str(folder / "m.tw"), str(folder / "words.txt")
    Path(text).write_text("\n".join([" ".join(sentence) for sentence in words()[0]]) + "\n", encoding="utf-8")
    call("train", "sample", "--out", out, "--dev", "20%", "--set", "max_iterations=3")
    call("evaluate", out, "sample")
    call("evaluate", out, "sample", "--report", str(folder / "report"))
    for name, line in (("f.conllu", "1\ta" + 8 * "\tNN" + "\n\n"), ("slashed", "a/NN\n")):
        (folder / name).write_text(line, encoding="utf-8")
        call("tag", out, str(folder / name))
        call("evaluate", out, str(folder / name))
    for options in ([], ["--marginals"], ["--nbest", "2"]):
        call("tag", out, text, *options)
    call("tag", out, "sample", "--format", "columns")
    call("inspect", out, "--attributes", "He smiled")
    call("clusters", text, "--out", str(folder / "clusters"), "--number", "4")
    CRF(boundaries=False, max_iterations=2).fit(*dicts()).save(out)
    for source, target in ((out, "m.crfsuite"), (str(folder / "m.crfsuite"), "n.tw")):
        call("convert", source, str(folder / target))
    load(folder / "n.tw").predict(dicts()[0])
    call("compare", "sample", "--learners", "hmm,perceptron", "--folds", "2", "--size", str(N_SENTENCES))


def run_stand_in(folder: Path) -> None:
    """What stands in for python-crfsuite: its algorithms, and sentences of all kinds."""
    X, y = dicts()
    path = str(folder / "m.crfsuite")
    for algorithm in ("lbfgs", "l2sgd", "ap", "pa", "arow"):
        trainer = pycrfsuite.Trainer(algorithm, {"max_iterations": 2, "feature.minfreq": 0.1}, verbose=False)
        for k, (sentence, labels) in enumerate(zip(X, y, strict=True)):
            trainer.append(sentence, labels, k % 5)
        trainer.train(path, holdout=4)
    with pycrfsuite.Tagger().open(path) as tagger:
        kinds: list[Any] = [X[0], X[1], pycrfsuite.ItemSequence(X[0])]  # dicts, lists of names
        for sentence in kinds:
            tagger.probability(tagger.tag(sentence))
        tagger.info()


WORKLOADS: dict[str, Callable[[Path], None]] = {
    "crf": workload_of(lambda: [CRF("pos", max_iterations=2)]),
    "adaboost": workload_of(lambda: [SequenceAdaBoost("s1", rounds=5, bound=b) for b in ("exact", "tight", "loose")]),
    "guided": workload_of(
        lambda: [
            GuidedTagger("best", epochs=1),
            GuidedTagger("best", epochs=1, guided=False),
            GuidedTagger("pos", epochs=1, tag_dictionary=1, aggressive=False, direction="left_to_right"),
        ]
    ),
    "hmsvm": workload_of(
        lambda: [HMSVM("s1", max_iterations=2, kernel=k, slack=s) for k in ("linear", "poly") for s in ("l1", "l2")]
    ),
    "perceptron": workload_of(
        lambda: [StructuredPerceptron("pos", epochs=1, update=u) for u in ("perceptron", "arow")]
    ),
    "losses and solvers": workload_of(lambda: crfs("float32")),
    "spans": run_spans,
    "float64": workload_of(
        lambda: [CRF("pos", dtype="float64", max_iterations=2), *crfs("float64"), MEMM("s1", dtype="float64")]
    ),
    "kernels": workload_of(lambda: [KernelPerceptron("s1", kernel=k, epochs=1) for k in ("poly", "rbf", "linear")]),
    "memm": workload_of(lambda: [MEMM("pos", max_iterations=2)]),
    "hmm": workload_of(lambda: [HMM(), HMM("s1")]),
    "other data": run_other_data,
    "partial labels": run_partial_labels,
    "underflow": run_underflow,
    "commands": run_commands,
    "python-crfsuite": run_stand_in,
}


def run_workload(name: str, folder: Path) -> None:
    """One of WORKLOADS. It leaves nothing but files in `folder`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        WORKLOADS[name](folder)
