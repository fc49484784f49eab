"""Small made-up data for tests: a random language with words, a second column, and labels that depend on both."""

from __future__ import annotations

import numpy as np

LABELS = ("B", "A", "C")


def toy_words(n: int, seed: int = 0, longest: int = 7) -> tuple[list[list[str]], list[list[str]]]:
    """Sentences of words whose endings and neighbours tell the label, with some noise."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        T = int(rng.integers(1, longest + 1))
        labels, words = [], []
        for t in range(T):
            label = LABELS[int(rng.integers(0, 3))] if t == 0 or rng.random() < 0.6 else labels[-1]
            stem = "".join(rng.choice(list("xyzXY-1"), int(rng.integers(1, 4))))
            noise = rng.random() < 0.1
            words.append(stem + (rng.choice(list("abc")) if noise else label.lower()))
            labels.append(label)
        X.append(words)
        y.append(labels)
    return X, y


def toy_columns(n: int, seed: int = 0) -> tuple[list[list[tuple[str, str]]], list[list[str]]]:
    """The same with a second column: whether the word has a capital."""
    X, y = toy_words(n, seed)
    return [[(word, "up" if word != word.lower() else "low") for word in words] for words in X], y


def toy_dicts(n: int, seed: int = 0) -> tuple[list[list[dict[str, object]]], list[list[str]]]:
    """The same as ready-made attributes, real values among them."""
    X, y = toy_words(n, seed)
    items = [
        [
            {"word": w, "end": w[-1], "size": len(w) / 4, "first": t == 0, "has": {"x": "x" in w}}
            for t, w in enumerate(s)
        ]
        for s in X
    ]
    return items, y
