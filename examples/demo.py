"""What Tagwright does, in a minute: train, measure, tag, explain. Run it with `make demo`.

Everything is trained here and now on the sample corpus; nothing is downloaded. Colours appear on a terminal only.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Sequence

from tagwright import CRF, datasets
from tagwright.cli.console import notes
from tagwright.cli.learned import top_weights, transitions
from tagwright.io import read_spans
from tagwright.learners import LEARNERS, SequenceTagger
from tagwright.metrics import Evaluation, evaluate
from tagwright.optim.progress import ProgressLine

SENTENCES = [
    "The old bridge near Lisbon was closed after heavy storms on Monday .",
    "`` Can you book a table for two ? '' asked Maria Lopez quietly .",
    "Stir the chopped onions gently until they turn golden .",
    "Researchers at Oxford University have found a faster way to test drinking water .",
    "He runs faster than his brother , but she swims better than both .",
]
WORD_CLASSES = {"N": 34, "V": 31, "J": 32, "R": 33, "P": 36, "D": 90, "I": 90, "C": 35}  # first letter: ANSI colour
ENTITIES = {"PER": 41, "ORG": 44, "LOC": 42, "MISC": 45}
COLOURED = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
WIDTH = min(shutil.get_terminal_size().columns, 100)
UNSURE = 0.7

Corpus = tuple[list[list[str]], list[list[str]]]


def main() -> None:
    began = time.perf_counter()
    with notes(quiet=False):
        tagger = learn_words()
        show_tags(tagger)
        show_entities()
        show_learned(tagger)
    print(paint(f"\nall of this took {time.perf_counter() - began:.0f} s", 1))
    print("next: tagwright train sample --out pos.tw --dev 20%     your own data: README.md, docs/cli.md")


def learn_words() -> SequenceTagger:
    """Train every learner on parts of speech; return the CRF."""
    train, test = split("pos")
    headline("parts of speech", f"{len(train[0])} sentences to learn from, {len(test[0])} held out")
    print(f"{'learner':<18}{'accuracy':>15}{'known words':>15}{'unknown words':>15}{'parameters':>13}{'seconds':>10}")
    chosen: SequenceTagger | None = None
    for name, learner in LEARNERS.items():
        fit(learner, "auto", (train[0][:5], train[1][:5]))  # compiles kernels on the first run; then times compare
        model, seconds = fit(learner, "auto", train)
        scores = measure(model, train, test)
        cells = (scores.accuracy, scores.known_accuracy or 0, scores.unknown_accuracy or 0)
        numbers = "".join([f"{cell:>15.2f}" for cell in cells])
        print(f"{name:<18}{numbers}{model.n_parameters_:>13,}{seconds:>10.2f}")
        chosen = model if learner is CRF else chosen
    assert chosen is not None
    return chosen


def fit(learner: type[SequenceTagger], features: str, train: Corpus) -> tuple[SequenceTagger, float]:
    """A trained model and its time; progress moves on a terminal."""
    line = ProgressLine()
    model = learner()
    settings = {"features": features, "c2": 0.1, "random_state": 0, "n_jobs": -1, "rounds": 300, "callbacks": [line]}
    model.set_params(**{name: value for name, value in settings.items() if name in model.get_params()})
    began = time.perf_counter()
    model.fit(*train)
    line.close()
    return model, time.perf_counter() - began


def measure(model: SequenceTagger, train: Corpus, test: Corpus) -> Evaluation:
    X, y = test
    return evaluate(y, model.predict(X), tokens=X, known={word for words in train[0] for word in words})


def split(column: str) -> tuple[Corpus, Corpus]:
    """The sample with words as input: four fifths to learn from, every fifth sentence to test on."""
    X, y = datasets.sample(column, inputs=["word"])
    words = [[str(word) for word in sentence] for sentence in X]

    def take(wanted: Callable[[int], bool]) -> Corpus:
        chosen = [i for i in range(len(words)) if wanted(i)]
        return [words[i] for i in chosen], [y[i] for i in chosen]

    return take(lambda i: i % 5 != 0), take(lambda i: i % 5 == 0)


def show_tags(tagger: SequenceTagger) -> None:
    """Fresh sentences, tags under the words; a question mark where the model is unsure."""
    headline("new sentences", f"? marks a tag with a probability below {UNSURE:.0%}")
    X = [sentence.split() for sentence in SENTENCES]
    found = zip(X, tagger.predict(X), tagger.predict_marginals(X), strict=True)
    for words, tags, rows in found:
        marks = [tag + ("?" if row[tag] < UNSURE else "") for tag, row in zip(tags, rows, strict=True)]
        for line in lines_that_fit(list(zip(words, marks, strict=True))):
            sizes = [max(map(len, pair)) for pair in line]
            print(" ".join([f"{word:<{size}}" for (word, _), size in zip(line, sizes, strict=True)]))
            coloured = [
                paint(f"{tag:<{size}}", WORD_CLASSES.get(tag[0], 37))
                for (_, tag), size in zip(line, sizes, strict=True)
            ]
            print(" ".join(coloured).rstrip())
        print()


def lines_that_fit(pairs: Sequence[tuple[str, str]]) -> Iterable[list[tuple[str, str]]]:
    """The pairs, in lines no wider than the terminal."""
    line: list[tuple[str, str]] = []
    used = 0
    for pair in pairs:
        size = max(map(len, pair)) + 1
        if line and used + size > WIDTH:
            yield line
            line, used = [], 0
        line.append(pair)
        used += size
    yield line


def show_entities() -> None:
    """Names in the same sentences, by a second model."""
    train, test = split("entity")
    model, seconds = fit(CRF, "ner", train)
    scores = measure(model, train, test)
    headline("names", f"learned in {seconds:.1f} s; F1 {scores.f1 or 0:.1f} on held-out sentences")
    for sentence in SENTENCES:
        words = sentence.split()
        spans = read_spans(model.predict([words])[0])
        for span in reversed(spans):
            name = " ".join(words[span.start : span.end])
            shown = paint(f" {name} ", ENTITIES[span.type]) + paint(f" {span.type}", 2)
            words[span.start : span.end] = [shown if COLOURED else f"[{span.type} {name}]"]
        print(" ".join(words))


def show_learned(tagger: SequenceTagger) -> None:
    """The reasons: the strongest attributes of some labels, the most likely neighbours."""
    headline("what it learned", "the strongest reasons for some tags, with their weights")
    weights = top_weights(tagger, 4)
    for label in ("NNP", "NNS", "VBD", "RB", "CD"):
        reasons = "  ".join([f"{name} {weight:.1f}" for name, weight in weights[label]])
        print(f"{paint(f'{label:<5}', WORD_CLASSES.get(label[0], 37))} {reasons}")
    pairs = ", ".join([f"{t.previous} → {t.current}" for t in transitions(tagger)[:6]])
    print(f"\nmost likely neighbours: {pairs}")


def headline(title: str, rest: str) -> None:
    print(f"\n{paint(title, 1)}: {rest}")
    print("─" * min(WIDTH, len(title) + len(rest) + 2))


def paint(text: str, code: int) -> str:
    """`text` in an ANSI colour, if the output is a terminal."""
    return f"\033[{code}m{text}\033[0m" if COLOURED else text


if __name__ == "__main__":
    main()
