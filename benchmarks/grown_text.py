"""Corpora of any size, made of a real one: longer, with more or fewer labels, in sentences of any length.

    lengthen    copies in which a quarter of the tokens have another word of the same label, for new pairs of words, and
                rare words are respelled: V(n) = V(n₀) (n / n₀)^β distinct words, Heaps' law with the β of the real text
    relabel     more labels: the most frequent (label, last three letters) pairs become labels of their own
    reshape     the same tokens in sentences of one length

All are functions of their arguments and a seed alone.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from itertools import chain

Text = tuple[list[list[str]], list[list[str]]]

RARE = 5  # times: words that may be respelled
EXCHANGED = 0.25  # of the tokens of a copy
KEPT = 3  # letters at the end that say what a word is
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def lengthen(text: Text, n_tokens: int, seed: int) -> Text:
    """About so many tokens: a part of the text, or also copies with words exchanged and respelled."""
    draw = random.Random(seed)
    order = list(range(len(text[0])))
    draw.shuffle(order)
    counts = Counter(chain.from_iterable(text[0]))
    known, beta = len(counts), heaps_exponent(text, order)
    words_of = defaultdict(list)
    for word, label in zip(chain.from_iterable(text[0]), chain.from_iterable(text[1]), strict=True):
        words_of[label].append(word)
    sentences: list[list[str]] = []
    labels: list[list[str]] = []
    made = copies = 0
    while made < n_tokens:
        new_words = known * ((copies + 1) ** beta - copies**beta)
        share = new_words / max(1, sum(n for n in counts.values() if n <= RARE))
        for i in order:
            if made >= n_tokens:
                break
            words = text[0][i]
            if copies:
                pairs = zip(words, text[1][i], strict=True)
                words = [draw.choice(words_of[y]) if draw.random() < EXCHANGED else w for w, y in pairs]
                words = [_respell(w, draw) if counts[w] <= RARE and draw.random() < share else w for w in words]
            sentences.append(words)
            labels.append(text[1][i])
            made += len(labels[-1])
        copies += 1
    return sentences, labels


def heaps_exponent(text: Text, order: list[int]) -> float:
    """β of V(n) ~ n^β, from an eighth of the text to the whole."""
    words = [word for i in order for word in text[0][i]]
    return math.log(len(set(words)) / len(set(words[: len(words) // 8]))) / math.log(8)


def _respell(word: str, draw: random.Random) -> str:
    """A word like it, with the same end: two characters are replaced, or put in front, by some of their kind."""
    stem, end = (word[:-KEPT], word[-KEPT:]) if len(word) > KEPT else ("", word)
    letters = list(stem) if len(stem) > 1 else [*stem, "a", "a"]
    for k in draw.sample(range(len(letters)), 2):
        if letters[k].isdigit():
            letters[k] = str(draw.randrange(10))
        elif letters[k].isalpha():
            letter = draw.choice(LETTERS)
            letters[k] = letter.upper() if letters[k].isupper() else letter
    return "".join(letters) + end


def relabel(text: Text, n_labels: int) -> Text:
    """So many labels: the rarest are joined to one, or the most frequent split by the last letters of words."""
    counts = Counter(chain.from_iterable(text[1]))
    if n_labels <= len(counts):
        kept = {label for label, _ in counts.most_common(n_labels if n_labels == len(counts) else n_labels - 1)}
        return text[0], [[label if label in kept else "OTHER" for label in row] for row in text[1]]
    pairs = Counter(
        (label, word[-KEPT:].lower())
        for words, row in zip(*text, strict=True)
        for word, label in zip(words, row, strict=True)
    )
    chosen: dict[tuple[str, str], str] = {}
    for (label, end), n in pairs.most_common():
        if len(counts) + len(chosen) == n_labels:
            break
        chosen[label, end] = f"{label}|{end}"
        counts[label] -= n
        if not counts[label]:  # split to the end: the label itself is no more
            del counts[label]
    return text[0], [
        [chosen.get((label, word[-KEPT:].lower()), label) for word, label in zip(words, row, strict=True)]
        for words, row in zip(*text, strict=True)
    ]


def reshape(text: Text, length: int) -> Text:
    """The tokens of the text, in order, in sentences of `length`; what is left over is left out."""
    words, labels = (list(chain.from_iterable(part)) for part in text)
    starts = range(0, len(words) - length + 1, length)
    return [words[i : i + length] for i in starts], [labels[i : i + length] for i in starts]
