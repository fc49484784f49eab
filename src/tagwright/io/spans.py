"""Spans (names, chunks) as labels, and labels as spans: IOB1, IOB2, IOBES and BILOU.

A label is "O" or a prefix and a type, `B-PER`; the type may be missing (`B`). For a span of three words:

    iob2    B I I     single word: B
    iob1    I I I     single word: I; the first word is B if it follows a span of the same type directly
    iobes   B I E     single word: S         (M is read as I: BMES)
    bilou   B I L     single word: U

`read_spans` is as lenient as conlleval, whatever the scheme: it never refuses a span label for where it stands. A span
begins at a label with B, S or U, after O, after E, S, L or U, and wherever the type changes. So `O I-PER` begins a
span, `B-PER I-LOC` is two, and `O E-PER` is one of a single word. `allowed_transitions` gives the strict rules: the
sequences that `write_spans` can produce.

Used by metrics (span F1, per sentence), by chain/ (constraints on the lattice) and for the probabilities of spans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import chain
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tagwright.errors import DataError

Scheme: TypeAlias = Literal["iob1", "iob2", "iobes", "bilou"]
Bools: TypeAlias = npt.NDArray[np.bool_]
Longs: TypeAlias = npt.NDArray[np.int64]

SCHEMES: tuple[Scheme, ...] = ("iob1", "iob2", "iobes", "bilou")
PREFIXES: dict[str, str] = {"iob1": "BIO", "iob2": "BIO", "iobes": "BIEOSM", "bilou": "BILOU", "auto": "BIELOSUM"}
BEGINS, ENDS = "BSU", "ESLU"  # prefixes that always begin, and always end, a span


class Span(NamedTuple):
    """Words start, start + 1, ..., end - 1 and the type of what they name."""

    start: int
    end: int
    type: str


@lru_cache(maxsize=1 << 16)
def split_label(label: str) -> tuple[str, str] | None:
    """(prefix, type) of a span label, None for any other label. The prefix ends at the first hyphen."""
    prefix, hyphen, type = label.partition("-")
    if len(prefix) != 1 or prefix not in PREFIXES["auto"] or bool(hyphen) != bool(type) or (prefix == "O" and hyphen):
        return None
    return ("I" if prefix == "M" else prefix), type


def read_spans(labels: Sequence[str], scheme: str = "auto") -> list[Span]:
    """The spans of one sentence, in order, read leniently (see above).

    With "auto" the prefixes of all schemes are known; with a scheme, only its own.
    """
    _check_scheme(scheme, auto=True)
    spans = []
    start, open_type, last = 0, "", "O"
    for t, label in enumerate(labels):
        prefix, type = _split_checked(label, scheme, t)
        begins = _begins(last, open_type, prefix, type)
        if last != "O" and (begins or prefix == "O"):
            spans.append(Span(start, t, open_type))
        if begins:
            start = t
        open_type, last = type, prefix
    if last != "O":
        spans.append(Span(start, len(labels), open_type))
    return spans


def _begins(last: str, open_type: str, prefix: str, type: str) -> bool:
    """Whether a label begins a span after the label `last` of type `open_type`; a sentence begins after O."""
    return prefix != "O" and (prefix in BEGINS or last == "O" or last in ENDS or type != open_type)


class Borders(NamedTuple):
    """How `read_spans` finds the borders of spans, label by label. A sentence begins after O and ends before O."""

    types: list[str]  # all types, sorted
    type: Longs  # [Y] number of each label's type; −1 for O
    begins: Bools  # [Y, Y] previous × current: a span begins with current
    goes_on: Bools  # [Y, Y] the span of previous goes on with current; else it ends before current


def span_borders(labels: Sequence[str]) -> Borders:
    """The rules of `read_spans` as arrays over `labels`."""
    parts = [_split_checked(label, "auto", t) for t, label in enumerate(labels)]
    types = sorted({type for prefix, type in parts if prefix != "O"})
    numbers = np.array([types.index(type) if prefix != "O" else -1 for prefix, type in parts], dtype=np.int64)
    begins = np.array([[_begins(*previous, *current) for current in parts] for previous in parts], dtype=np.bool_)
    begins = begins.reshape(len(parts), len(parts))
    return Borders(types, numbers, begins, ~begins & (numbers >= 0)[None, :])


def write_spans(spans: Iterable[Span], length: int, scheme: str) -> list[str]:
    """The labels of a sentence of `length` words. Spans may come in any order but may not overlap."""
    _check_scheme(scheme)
    labels = ["O"] * length
    begin, inside, end, single = {
        "iob1": ("I", "I", "I", "I"),
        "iob2": ("B", "I", "I", "B"),
        "iobes": ("B", "I", "E", "S"),
        "bilou": ("B", "I", "L", "U"),
    }[scheme]
    previous = Span(0, 0, "")
    for span in sorted(spans):
        if not previous.end <= span.start < span.end <= length:
            raise DataError(
                f"found {span!r} after {previous!r} in a sentence of {length} words, expected spans of one word or "
                "more that do not overlap",
                location="spans",
            )
        tail = f"-{span.type}" if span.type else ""
        size = span.end - span.start
        prefixes = [begin, *[inside] * (size - 2), end] if size > 1 else [single]
        if scheme == "iob1" and 0 < previous.end == span.start and previous.type == span.type:
            prefixes[0] = "B"
        labels[span.start : span.end] = [prefix + tail for prefix in prefixes]
        previous = span
    return labels


def convert(labels: Sequence[str], source: str, target: str) -> list[str]:
    """The labels of one sentence in another scheme. `source` may be "auto"."""
    return write_spans(read_spans(labels, source), len(labels), target)


def detect_scheme(labels: AbstractSet[str] | Iterable[Sequence[str]]) -> Scheme | None:
    """The scheme of a corpus (its label sequences), or of a set of labels; None if the labels are not all span labels.

    Prefixes decide for IOBES (E, S, M) and BILOU (L, U). With B and I alone, it is the scheme that fewer labels break,
    IOB2 if equal: I after O breaks IOB2, B without a span of its type before it breaks IOB1. A set cannot show that:
    it is IOB2 if it holds any B, else IOB1. Labels without any span (all O) have no scheme.
    """
    sequences: list[Sequence[str]] = list(labels)
    if all(isinstance(label, str) for label in sequences):  # a set of labels, or one sequence
        sequences = [[str(label) for label in sequences]]
    known = set(chain.from_iterable(sequences))
    prefixes = {(split_label(label) or ("?", ""))[0] for label in known}
    prefixes |= {"E" for label in known if label[:1] == "M"}
    if prefixes <= {"O"}:
        return None
    if prefixes <= set("BIOES") and prefixes & set("ES"):
        return "iobes"
    if prefixes <= set("BILOU") and prefixes & set("LU"):
        return "bilou"
    if not prefixes <= set("BIO"):
        return None
    if isinstance(labels, AbstractSet):
        return "iob2" if "B" in prefixes else "iob1"
    breaks = {scheme: _count_breaks(sequences, scheme) for scheme in ("iob2", "iob1")}
    return "iob2" if breaks["iob2"] <= breaks["iob1"] else "iob1"


def _count_breaks(sequences: Iterable[Sequence[str]], scheme: str) -> int:
    """How many labels stand where the scheme does not allow them."""
    bigrams: Counter[tuple[str, str]] = Counter()
    for sequence in sequences:
        bigrams.update(zip(chain(["O"], sequence), sequence))
    return sum(n for (previous, current), n in bigrams.items() if not _may_follow(previous, current, scheme))


def allowed_transitions(labels: Sequence[str], scheme: str) -> tuple[Bools, Bools, Bools]:
    """Which label may follow which in well-formed output: (matrix [Y, Y] previous × current, start [Y], stop [Y]).

    A path is allowed if and only if `write_spans` can have written it. Labels that training data breaks the rules with
    remain in the matrix; a label whose partners are missing (B-X without E-X) can then be a dead end.
    """
    _check_scheme(scheme)
    for t, label in enumerate(labels):
        _split_checked(label, scheme, t)
    allowed = np.array([[_may_follow(p, c, scheme) for c in labels] for p in labels], dtype=np.bool_)
    start = np.array([_may_follow("O", c, scheme) for c in labels], dtype=np.bool_)
    stop = np.array([_may_follow(p, "O", scheme) for p in labels], dtype=np.bool_)
    return allowed.reshape(len(labels), len(labels)), start, stop


def _may_follow(previous: str, current: str, scheme: str) -> bool:
    """The strict rules. The start and the end of a sentence count as O."""
    before, before_type = split_label(previous) or ("O", "")
    now, now_type = split_label(current) or ("O", "")
    same = before != "O" and now != "O" and before_type == now_type
    if scheme == "iob2":
        return now != "I" or same
    if scheme == "iob1":
        return now != "B" or same
    unfinished = before in "BI"  # B and I need I, E or L of their type after them, and those need B or I before
    return same if unfinished and now in "IEL" else not unfinished and now not in "IEL"


def _split_checked(label: str, scheme: str, t: int) -> tuple[str, str]:
    parts = split_label(label)
    if parts is None or label[0] not in PREFIXES[scheme]:
        expected = "O, or a prefix and a type such as B-PER" if scheme == "auto" else f"a label of {scheme}"
        raise DataError(
            f"found {label!r}, expected {expected} (prefixes {', '.join(PREFIXES[scheme])}); these labels are not "
            "spans, or in another scheme",
            location=f"labels[{t}]",
        )
    return parts


def _check_scheme(scheme: str, *, auto: bool = False) -> None:
    known = (*SCHEMES, "auto") if auto else SCHEMES
    if scheme not in known:
        raise DataError(f"found {scheme!r}, expected one of {', '.join(known)}", location="scheme")
