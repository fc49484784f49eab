"""Trees in brackets, as the Penn Treebank has them ─► words and tags.

( (S (NP-SBJ (NNP Pierre) ...)) )       ─►      Pierre/NNP ...        traces (-NONE-) are left out
"""

from __future__ import annotations

import re
from collections.abc import Mapping

BRACKET = re.compile(r"\(\s*([^\s()]*)(?:\s+([^\s()]+)\s*\))?|\)")  # "(tag word)", "(label" or ")"
TRACE = "-NONE-"
PARTS = {"train": (0, 3000), "dev": (3000, 3400), "test": (3400, 3914)}
"""Sentences of the public sample, in the order of its files."""


def read_trees(text: str) -> list[list[tuple[str, str]]]:
    """(word, tag) of every tree."""
    depth, sentence = 0, []
    sentences: list[list[tuple[str, str]]] = []
    for match in BRACKET.finditer(text):
        tag, word = match.groups()
        if word is not None:
            if tag != TRACE:
                sentence.append((word, tag))
        elif tag is not None:
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                sentences.append(sentence)
                sentence = []
    return sentences


def split_sample(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """train.tsv, dev.tsv and test.tsv of the sample's .mrg files."""
    names = sorted(name for name in files if name.endswith(".mrg"))
    sentences = [sentence for name in names for sentence in read_trees(files[name].decode())]
    made = {}
    for part, (first, last) in PARTS.items():
        lines = ["".join(f"{word}\t{tag}\n" for word, tag in sentence) + "\n" for sentence in sentences[first:last]]
        made[f"{part}.tsv"] = "".join(lines).encode()
    return made
