"""Why a token got its label, and not another one: what the score of either is made of.

    F(x, y) = Σ_t ( emission[t, y_t] + what the chain adds between neighbours )            chain/lattice.py

Of a labelling, the label of one token is changed: what changes in F is what stands with this token, namely the weights
of its attributes and of the transitions on either side. `score` is their sum for the label that the token got, and
`runner_up_score` for the other one, so that their difference is that of the scores F of the two labellings.

    SequenceTagger.explain ─► an Explanation for each token ─► `inspect --attributes`, the page of `evaluate --report`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tagwright.arrays import Doubles, Longs
from tagwright.attributes.templates import EDGES
from tagwright.chain.trigrams import Trigrams
from tagwright.encode.attribute_dicts import flatten
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder
from tagwright.encode.forms import N_EDGES
from tagwright.encode.text import Text
from tagwright.errors import DataError, ParameterError
from tagwright.learners._decoder import Decoder
from tagwright.scores.linear import LinearScores
from tagwright.scores.tables import TableScores

ATTRIBUTE, TRANSITION, CONTEXT, RULE = "attribute", "transition", "context", "rule"
"""Kinds of reasons: an attribute of the token, the labels beside it, a training token (with a kernel), and what the
model may not do or must take into account whatever the weights."""
START, STOP = EDGES


class Reason(NamedTuple):
    """What one attribute or transition adds to the score of the label, and to that of the other one."""

    name: str
    kind: str
    weight: float
    runner_up_weight: float

    @property
    def difference(self) -> float:
        """How far it puts the label ahead."""
        return self.weight - self.runner_up_weight


class Explanation(NamedTuple):
    """One token: its label, the label it is compared with, and what the scores of both are made of.

    known: the labels around it that counted, by offset. new: attributes that the model does not know.
    """

    position: int
    token: str
    label: str
    score: float
    runner_up: str
    runner_up_score: float
    known: dict[int, str]
    reasons: list[Reason]
    new: list[str]

    @property
    def margin(self) -> float:
        """How far the label is ahead of the other one."""
        return self.score - self.runner_up_score


Against = str | Sequence[str | None] | None
Row = tuple[str, str, Doubles]
"""Name and kind of a reason, and what it adds to the scores of all labels [Y]."""
Rows = Callable[[int], tuple[list[Row], list[str]]]
"""What the attributes of a token add to the scores of all labels, and which attributes are new."""


def read_against(against: Against, names: Sequence[str], n: int) -> list[int]:
    """The label to compare with, for each of n tokens; −1: the best other one."""
    wanted = [against] * n if against is None or isinstance(against, str) else list(against)
    if len(wanted) != n:
        raise DataError(f"found {len(wanted)} labels, expected one for each of {n} tokens", location="against")
    numbers = {name: y for y, name in enumerate(names)}
    for label in wanted:
        if label is not None and label not in numbers:
            raise ParameterError(f"against: the model has no label {label!r}; it has: {', '.join(names)}")
    return [-1 if label is None else numbers[label] for label in wanted]


def choose_rival(scores: Doubles, label: int, wanted: int) -> int:
    """The label to compare with: the one asked for, else the best other one; a label without rivals is its own."""
    if wanted not in (-1, label):
        return wanted
    others = scores.copy()
    others[label] = -np.inf
    rival = int(others.argmax())
    return rival if others[rival] > -np.inf else label


def make_explanation(
    t: int,
    item: Any,
    names: Sequence[str],
    pair: tuple[int, int],
    known: dict[int, str],
    rows: Sequence[Row],
    new: list[str],
) -> Explanation:
    """Of token t. pair: its label and its rival; rows: what adds to the scores of all labels."""
    y, rival = pair
    reasons = [Reason(name, kind, float(row[y]), float(row[rival])) for name, kind, row in rows]
    score = sum(reason.weight for reason in reasons)
    other = -np.inf if rival == y else sum(reason.runner_up_weight for reason in reasons)
    token = item if isinstance(item, str) else str(item)
    return Explanation(t, token, names[y], score, names[rival], other, known, reasons, new)


def explain_path(
    decoder: Decoder, text: Text, batch: Batch, names: Sequence[str], rows_of: Rows, against: Sequence[int]
) -> Iterator[Explanation]:
    """Every token of a sentence that is labelled by the best path through its lattice."""
    path, rules = decoder.best(batch).tolist(), list_rules(decoder, batch)
    for t, (label, wanted) in enumerate(zip(path, against, strict=True)):
        rows, new = rows_of(t)
        rows = [*rows, *list_transitions(decoder, path, t, names), *((name, RULE, row[t]) for name, row in rules)]
        rival = choose_rival(np.sum([row for *_, row in rows], axis=0), label, wanted)
        known = {offset: names[path[t + offset]] for offset in (-1, 1) if 0 <= t + offset < len(path)}
        yield make_explanation(t, text.items[t], names, (label, rival), known, rows, new)


def list_rules(decoder: Decoder, batch: Batch) -> list[tuple[str, Doubles]]:
    """What the decoder adds to emission scores [n, Y], by name."""
    Y, rules = decoder.scores.n_labels, []
    mask = decoder._possible(batch, None)
    if mask is not None:
        rules.append(("tag dictionary", np.where(mask, 0.0, -np.inf)))
    if type(decoder)._emission is not Decoder._emission:
        plain, full = (np.zeros((batch.n_tokens, decoder.scores.width), np.float64) for _ in range(2))
        scored = decoder.scores.rows(batch)
        work = plain.astype(decoder.scores.dtype)
        scored.emission(0, 1, work)
        plain[:] = work
        decoder._emission(scored, batch, 0, 1, work)
        full[:] = work
        rules.append(("normalised over the next label", (full - plain)[:, :Y]))
    return rules


def list_transitions(decoder: Decoder, labels: Sequence[int], t: int, names: Sequence[str]) -> Iterator[Row]:
    """What the chain adds for every label of token t between the labels of its neighbours."""
    transition, start, stop = decoder.chain_scores
    last = len(labels) - 1
    if t == 0:
        yield f"label[-1]={START}", TRANSITION, start
    else:
        yield f"label[-1]={names[labels[t - 1]]}", TRANSITION, transition[labels[t - 1]]
    if t == last:
        yield f"label[1]={STOP}", TRANSITION, stop
    else:
        yield f"label[1]={names[labels[t + 1]]}", TRANSITION, transition[:, labels[t + 1]]
    if decoder.trigrams is not None:
        yield from _list_trigrams(decoder.trigrams, labels, t, names)


def _list_trigrams(trigrams: Trigrams, labels: Sequence[int], t: int, names: Sequence[str]) -> Iterator[Row]:
    Y, every = trigrams.n_labels, np.arange(trigrams.n_labels)
    for offsets in ((-2, -1), (-1, 1), (1, 2)):
        if t + min(offsets[0], 0) < 0 or t + max(offsets[1], 0) >= len(labels):
            continue
        around = {offset: labels[t + offset] for offset in offsets}
        p, q, c = (around.get(offset, every) for offset in sorted((*offsets, 0)))
        keys: Longs = np.broadcast_to((p * Y + q) * Y + c, Y)
        at = np.searchsorted(trigrams.keys, keys)
        known = np.append(trigrams.keys, -1)[at] == keys
        shown = " & ".join([f"label[{offset}]={names[label]}" for offset, label in around.items()])
        yield shown, TRANSITION, np.where(known, np.append(trigrams.weights, 0.0)[at], 0.0)


def attribute_rows(decoder: Decoder, encoder: Encoder, text: Text, batch: Batch, index: Mapping[str, int]) -> Rows:
    """What the attributes of tokens add, where scores are sums of weights, or a table of words. index: the numbers of
    attributes by name."""
    scores = decoder.scores
    if isinstance(scores, TableScores):
        emission = np.zeros((batch.n_tokens, scores.width), scores.dtype)
        scores.rows(batch).emission(0, 1, emission)

        def rows_of_words(t: int) -> tuple[list[Row], list[str]]:
            name = f"word[0]={text.items[t]}"
            new = [] if batch.forms[0, t] < encoder.columns[0].n_known else [name]
            return [(name, ATTRIBUTE, emission[t, : scores.n_labels].astype(np.float64))], new

        return rows_of_words
    assert isinstance(scores, LinearScores)

    def rows_of_attributes(t: int) -> tuple[list[Row], list[str]]:
        named = list_attributes(encoder, text, t)
        found = [
            (name, ATTRIBUTE, value * dense_weights(scores, index[name])) for name, value in named if name in index
        ]
        return found, [name for name, _ in named if name not in index]

    return rows_of_attributes


def list_attributes(encoder: Encoder, text: Text, t: int) -> list[tuple[str, float]]:
    """The attributes of a token with their values, those that the model does not know too."""
    if encoder.features is not None:
        return [(name, 1.0) for name in encoder.features.explain(text.items, t)]  # type: ignore[arg-type]
    found: dict[str, float] = {}
    for name, value in flatten(text.items[t], text, t):
        found[name] = found.get(name, 0.0) + value
    return list(found.items())


def dense_weights(scores: LinearScores, attribute: int) -> Doubles:
    """The weights of an attribute for all labels [Y]; 0 where there is none."""
    begin, end = scores.pattern.pointers[attribute : attribute + 2]
    found = np.zeros(scores.n_labels)
    found[scores.pattern.labels[begin:end]] = scores.weights.values[begin:end]
    return found


def list_state_features(
    decoder: Decoder, attributes: Sequence[str], labels: Sequence[str]
) -> Iterator[tuple[tuple[str, str], float]]:
    """((attribute, label), weight) of all weights that are not 0; log-probabilities of words and labels seen together
    where the scores are a table of words."""
    scores = decoder.scores
    if isinstance(scores, TableScores):
        rows, columns = scores.counts.rows + N_EDGES, scores.counts.labels
        values = scores.table[rows, columns]
    else:
        assert isinstance(scores, LinearScores)
        pointers, columns, values = scores.pattern.pointers, scores.pattern.labels, scores.weights.values
        rows = np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))
    for a, y, value in zip(rows.tolist(), columns.tolist(), values.tolist(), strict=True):
        if value:
            yield (attributes[a], labels[y]), value


def list_transition_features(decoder: Decoder, labels: Sequence[str]) -> Iterator[tuple[tuple[str, str], float]]:
    """((label, next label), weight) of all transitions that have one, those from START and to STOP too; what is
    forbidden is left out."""
    transition, start, stop = (part.tolist() for part in decoder.chain_scores)
    for label, row in zip(labels, transition, strict=True):
        yield from (((label, after), value) for after, value in zip(labels, row, strict=True))
    yield from (((START, label), value) for label, value in zip(labels, start, strict=True))
    yield from (((label, STOP), value) for label, value in zip(labels, stop, strict=True))
