"""Word clusters: classes of words learned from text without labels, for templates to look at (`cluster(6) @ 0`).

    sentences ─► classes (exchange.py) ─► a tree of them (class_tree.py) ─► the path of every word, as bits

A word that the labelled sentences do not have can have a cluster, and share it with words that they do have: what a
tagger learned about those is then known of it too. Miller et al. 2004 have the idea and the use of path prefixes.
A feature set holds its clusters, and so does the model's file. A file of clusters has a line for each word,
`path TAB word TAB count`, as Liang's program and published Brown clusters have it; the count may be left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property
from os import PathLike, fspath
from typing import TYPE_CHECKING

import numpy as np

from tagwright.arrays import Ints
from tagwright.atomic_file import atomic_file
from tagwright.errors import DataError, ParameterError
from tagwright.io.lines import Lines
from tagwright.io.packing import packed_stream
from tagwright.string_blob import check_text
from tagwright.text.hash_tables import StringTable
from tagwright.text.spelling import ClusterTables
from tagwright.text.strings import Strings

if TYPE_CHECKING:
    from tagwright.attributes.exchange import Tell


class WordClusters:
    """The path of every word: a string of 0 and 1, from the root of the tree of classes."""

    def __init__(self, paths: Mapping[str, str], counts: Mapping[str, int] | None = None) -> None:
        self.paths = dict(paths)
        self.counts = dict(counts or {})
        for word in self.paths:
            if not word.isascii():
                try:
                    check_text(word, repr(word)[:60])
                except ValueError as error:
                    raise DataError(str(error), location="paths") from None

    @classmethod
    def learn(
        cls,
        sentences: Iterable[Sequence[object]],
        *,
        n_clusters: int = 256,
        min_count: int = 1,
        tell: Tell = lambda passes, moved: None,
    ) -> WordClusters:
        """From sentences of words (or of tuples of columns, words first); labels are not needed.

        min_count: rarer words get no cluster. tell: called after every pass over all words with its number, and with
        how many words have moved.
        """
        from tagwright.attributes.class_tree import find_paths
        from tagwright.attributes.exchange import learn_classes

        if n_clusters < 2 or min_count < 1:
            found = f"{n_clusters!r} and {min_count!r}"
            raise ParameterError(f"n_clusters must be at least 2 and min_count at least 1, found {found}")
        text = [[_word_of(item, i, t) for t, item in enumerate(sentence)] for i, sentence in enumerate(sentences)]
        counts = Counter(word for sentence in text for word in sentence)
        words = sorted([word for word, n in counts.items() if n >= min_count], key=lambda word: (-counts[word], word))
        if len(words) < 2:
            raise DataError(
                f"found {len(words)} words that are frequent enough, expected some text", location="sentences"
            )
        classes, pairs = learn_classes(_number(text, words), len(words), n_clusters, tell)
        paths = find_paths(pairs)
        by_word = {word: paths[c] for word, c in zip(words, classes.tolist(), strict=True)}
        return cls(by_word, {word: counts[word] for word in words})

    @classmethod
    def read(cls, path: str | PathLike[str]) -> WordClusters:
        """A file of clusters, packed or not."""
        paths: dict[str, str] = {}
        counts: dict[str, int] = {}
        for first, lines in Lines(path):
            for number, line in enumerate(lines, first):
                bits, *rest = line.split("\t")
                if not rest or not bits or set(bits) - {"0", "1"} or (len(rest) > 1 and not rest[1].isdecimal()):
                    expected = "a path of 0 and 1, a word, and perhaps its count, tabs between"
                    raise DataError(f"found {line.strip()!r:.60}, expected {expected}", location=f"{path}:{number}")
                paths[rest[0]] = bits
                counts[rest[0]] = int(rest[1]) if len(rest) > 1 else 0
        if not paths:
            raise DataError("found no words, expected a file of clusters", location=str(path))
        return cls(paths, counts)

    def write(self, path: str | PathLike[str]) -> None:
        """A file of clusters: words of a cluster together, frequent ones first. The ending of its name may ask for a
        packed one (.gz, .bz2, .xz)."""
        order = sorted(self.paths, key=lambda word: (self.paths[word], -self.counts.get(word, 0), word))
        lines = [f"{self.paths[word]}\t{word}\t{self.counts.get(word, 0)}\n" for word in order]
        with atomic_file(fspath(path)) as file, packed_stream(fspath(path), file) or nullcontext(file) as stream:
            stream.write("".join(lines).encode("utf-8"))

    def find(self, word: str) -> str | None:
        """The path of a word, or of its lower-cased form; None where neither is known."""
        return self.paths.get(word) or self.paths.get(word.lower())

    @cached_property
    def tables(self) -> ClusterTables:
        """The words, and the path of each, for kernels."""
        words, paths = list(self.paths), list(self.paths.values())
        return ClusterTables(StringTable.build(Strings.of(words, len(words))), Strings.of(paths, len(paths)))

    @property
    def n_clusters(self) -> int:
        """Distinct paths."""
        return len(set(self.paths.values()))

    def __len__(self) -> int:
        return len(self.paths)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WordClusters) and self.paths == other.paths

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<WordClusters: {len(self):,} words in {self.n_clusters} clusters>"


def _word_of(item: object, i: int, t: int) -> str:
    word = item[0] if isinstance(item, tuple) and item else item
    if not isinstance(word, str):
        raise DataError(f"expected a word, found {item!r:.60}", location=f"sentences[{i}][{t}]")
    return word


def _number(text: Iterable[Iterable[str]], words: Sequence[str]) -> Ints:
    """One row of numbers, a border (the number of words) around every sentence; words without a number are borders."""
    border = len(words)
    numbers = {word: number for number, word in enumerate(words)}
    row = [border]
    for sentence in text:
        row += [numbers.get(word, border) for word in sentence]
        row.append(border)
    return np.array(row, np.int32)
