"""Wapiti's models, written as its format is defined, with weights for random data."""

from __future__ import annotations

import random

import numpy as np
from attributes.macro_reference import observations

LABELS = ["N", "V", "ß"]
WORDS = ["a", "Ab", "AB", "b1", "12", "abc", "-", "x/y", "/", "U.S."]


def string(text: str) -> bytes:
    data = text.encode()
    return b"%d:%b,\n" % (len(data), data)


def write_model(patterns: list[str], names: list[str], weights: dict[int, float], kind: int = 2) -> bytes:
    """A model as the format is defined."""
    parts = [b"#mdl#%d#%d\n#rdr#%d/1/0\n" % (kind, len(weights), len(patterns)), *map(string, patterns)]
    for own in (LABELS, names):
        parts += [b"#qrk#%d\n" % len(own), *map(string, own)]
    return b"".join([*parts, *(f"{index}={weight.hex()}\n".encode() for index, weight in weights.items())])


def random_sentences(seed: int, n: int = 40) -> list[list[tuple[str, str]]]:
    chance = random.Random(seed)
    return [
        [(chance.choice(WORDS), chance.choice(["n", "V", "é"])) for _ in range(chance.randint(1, 6))] for _ in range(n)
    ]


def random_model(patterns: str, seed: int) -> tuple[bytes, dict[str, np.ndarray], np.ndarray]:
    """A model with weights for whatever some sentences have; the weights of observations, and of label pairs."""
    chance, Y = random.Random(seed), len(LABELS)
    names = dict.fromkeys(
        name for s in random_sentences(seed) for t in range(len(s)) for name in observations(patterns, s, t)
    )
    names |= dict.fromkeys(line for line in patterns.splitlines() if line in ("b", "*"))
    weights: dict[int, float] = {}
    single, pairs, index = {}, np.zeros((Y, Y)), 0
    for name in names:
        for kind, size in (("u", Y), ("b", Y * Y)):
            if name[0] in (kind, "*"):
                own = np.array([chance.choice([0.0, chance.gauss(0, 1)]) for _ in range(size)])
                weights |= {index + k: float(w) for k, w in enumerate(own) if w}
                index += size
                if kind == "u":
                    single[name] = own
                else:
                    pairs += own.reshape(Y, Y)
    return write_model(patterns.splitlines(), list(names), weights), single, pairs
