"""Wapiti's models as our own CRFs, with the same scores.

    without patterns     the observations are the user's: a CRF on ready-made attributes
    with patterns        a CRF with templates, on the columns that the patterns look at

An observation is a string, `u05:of/the`. What our attributes are called is read out of it, by every pattern that can
make it. Beyond the sentence Wapiti counts (_x-1, _x-2 ...), where ours has one value: the difference goes to `edge[-1]`
and its like. A test that fails (false) is the weight of `bias` here, and taken off where it holds. A word that is
shorter than a prefix asks for is the word itself.

What scores otherwise is refused, with the pattern: pairs of labels with weights for what is seen, MEMMs, patterns that
have no equal (attributes/macros.py), lower case of other letters than ASCII's, which Wapiti leaves as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from tagwright.arrays import Doubles, Longs
from tagwright.attributes.language import EDGES, Cell, Term
from tagwright.attributes.macros import FALSE, TRUE, missing_edges, split_macros, value_outside
from tagwright.attributes.templates import FeatureSet
from tagwright.encode.encoder import Encoder, column_terms
from tagwright.encode.forms import ColumnForms, Vocabulary
from tagwright.errors import ModelFileError, TemplateError
from tagwright.learners.crf import CRF, make_crf
from tagwright.scores.pattern import Pattern
from tagwright.text.strings import Strings
from tagwright.wapiti.text_model import MEMM, WapitiModel

Cells = tuple[Cell, ...]
Values = tuple[str, ...]
BIAS = Cell(Term("bias"))
MOST_SPLITS = 1_000
"""Ways in which an observation may be made of values; more would be a text of nothing but separators."""


def to_crf(model: WapitiModel, name: str = "model") -> CRF:
    """A CRF that tags as the model does; errors call it by `name`."""
    try:
        return _to_crf(model)
    except (ModelFileError, TemplateError) as error:
        raise ModelFileError(f"{name}: this Wapiti model cannot be expressed: {error}") from None


def _to_crf(model: WapitiModel) -> CRF:
    if model.kind == MEMM:
        raise ModelFileError("it is an MEMM, which decodes otherwise; train a CRF with Wapiti (--type crf)")
    transition = _transition_matrix(model)
    single = model.previous < 0
    if not model.patterns:
        encoder, entries = _encode_observations(model)
    else:
        encoder, entries = _encode_patterns(model, np.unique(model.owners[single]))
    pattern, weights = _add_weights(model, entries, encoder.n_attributes)
    return make_crf(encoder, pattern, weights, model.label_names, transition)


@dataclass(frozen=True, slots=True)
class _Entries:
    """Attribute attributes[k] gets signs[k] times the weights of observation observations[k]."""

    attributes: Longs
    observations: Longs
    signs: Doubles


def _transition_matrix(model: WapitiModel) -> Doubles:
    """The weights of label pairs, where nothing is seen beside them."""
    constant = {name for name in model.patterns if "%" not in name and name[0] != "u"}
    pairs = np.flatnonzero(model.previous >= 0)
    for o in np.unique(model.owners[pairs]).tolist():
        if model.observations[o] not in constant:
            raise ModelFileError(
                f"the observation {model.observations[o]!r} has weights for pairs of labels, which no learner here can "
                "have; train with u instead of b or * in its pattern, and one pattern b"
            )
    Y = len(model.label_names)
    matrix = np.zeros((Y, Y))
    np.add.at(matrix, (model.previous[pairs], model.labels[pairs]), model.values[pairs])
    return matrix


def _encode_observations(model: WapitiModel) -> tuple[Encoder, _Entries]:
    """Observations as ready-made attributes, as the data have them."""
    owners = np.unique(model.owners)
    names = [model.observations[o][model.prefixed :] for o in owners.tolist()]
    entries = _Entries(np.arange(len(owners)), owners, np.ones(len(owners)))
    return Encoder.build(None, 0, given=Vocabulary(names)), entries


def _add_weights(model: WapitiModel, entries: _Entries, n_attributes: int) -> tuple[Pattern, Doubles]:
    """The weights of all attributes: sums over the observations that they stand for."""
    Y, single = len(model.label_names), np.flatnonzero(model.previous < 0)
    pointers = np.searchsorted(model.owners[single], np.arange(len(model.observations) + 1))
    counts = np.diff(pointers)[entries.observations]
    firsts = np.repeat(pointers[entries.observations] - np.cumsum(counts) + counts, counts)
    which = single[firsts + np.arange(len(firsts))]
    keys = np.repeat(entries.attributes, counts) * Y + model.labels[which]
    values = np.repeat(entries.signs, counts) * model.values[which]
    distinct, where = np.unique(keys, return_inverse=True)
    sums = np.bincount(where, values, len(distinct))
    distinct, sums = distinct[sums != 0], sums[sums != 0]
    per_attribute = np.bincount(distinct // Y, minlength=n_attributes)
    return Pattern(np.concatenate([[0], np.cumsum(per_attribute)]), (distinct % Y).astype(np.int32)), sums


# ---- patterns ----


@dataclass(slots=True)
class _Reading:
    """What observations say: of which attributes they are weights."""

    attributes: dict[tuple[Cells, Values], int] = field(default_factory=dict)
    found: list[tuple[int, int, float]] = field(default_factory=list)  # attribute, observation, sign

    def add(self, cells: Cells, values: Values, observation: int, sign: float = 1.0) -> None:
        number = self.attributes.setdefault((cells, values), len(self.attributes))
        self.found.append((number, observation, sign))


def _encode_patterns(model: WapitiModel, used: Longs) -> tuple[Encoder, _Entries]:
    """Templates for the patterns, with the values that observations have; and which observation is whose."""
    reading = _Reading()
    readers = [_make_reader(pattern) for pattern in model.patterns if pattern[0] != "b"]
    for o in used.tolist():
        for read in readers:
            read(model.observations[o], o, reading)
    encoder, numbers = _build_encoder(reading)
    attributes, observations, signs = zip(*reading.found, strict=True) if reading.found else ((), (), ())
    index = numbers[np.array(attributes, np.int64)]
    return encoder, _Entries(index, np.array(observations, np.int64), np.array(signs, np.float64))


def _make_reader(pattern: str) -> Callable[[str, int, _Reading], None]:
    """What reads the observations of one pattern."""
    try:
        names, cells = split_macros(pattern)
    except TemplateError as error:
        raise ModelFileError(f"the pattern {pattern!r} has no equal here: {error}") from None
    words = [cell for cell in cells if cell.term.function in ("word", "lower")]
    if len(cells) > 1 and (len(words) < len(cells) or missing_edges(cells)):
        raise ModelFileError(
            f"the pattern {pattern!r} has no equal here: only words of neighbouring tokens can be joined "
            "to the same effect"
        )

    def read(observation: str, o: int, reading: _Reading) -> None:
        for values in _split_values(observation, names, pattern):
            if not cells:
                reading.add((BIAS,), ("",), o)
            elif len(cells) == 1:
                _read_single(cells[0], values[0], o, reading, pattern)
            else:
                _read_joined(cells, values, o, reading, pattern)

    return read


def _split_values(observation: str, names: Sequence[str], pattern: str) -> Iterator[Values]:
    """All ways in which an observation can be made of the names of a pattern with values between them."""
    if not observation.startswith(names[0]) or not observation.endswith(names[-1]):
        return
    if len(names) == 1:
        if observation == names[0]:
            yield ()
        return
    end = len(observation) - len(names[-1])
    n = 0
    stack: list[tuple[int, Values]] = [(len(names[0]), ())]
    while stack:
        begin, values = stack.pop()
        k = len(values) + 1
        if k == len(names) - 1:
            if begin < end:
                yield (*values, observation[begin:end])
                n += 1
        else:
            at = observation.find(names[k], begin + 1, end)
            while at >= 0:
                stack.append((at + len(names[k]), (*values, observation[begin:at])))
                at = observation.find(names[k], at + 1, end)
        if n + len(stack) > MOST_SPLITS:
            raise ModelFileError(f"the observation {observation[:60]!r} can be read in too many ways as {pattern!r}")


def _read_single(cell: Cell, value: str, o: int, reading: _Reading, pattern: str) -> None:
    """Observation o, in which one cell has this value."""
    function, side = cell.term.function, -1 if cell.offset < 0 else 1
    _check_value(cell, value, pattern)
    if cell.term.flag:
        _read_test(cell, value, o, reading)
    elif cell.term.argument is None or len(value) == cell.term.argument:
        reading.add((cell,), (value,), o)
    elif len(value) < cell.term.argument:
        short = "lower" if function.startswith("l") else "word"
        reading.add((Cell(Term(short, None, cell.term.column), cell.offset),), (value,), o)
    if cell.term.argument is not None and not value.isascii():
        raise ModelFileError(
            f"the pattern {pattern!r} has no equal here: Wapiti counts bytes, here letters are counted ({value!r})"
        )
    for distance in range(1, abs(cell.offset) + 1):
        if value_outside(cell, distance) == value:
            _add_outside(cell.offset, side, distance, o, reading)


def _read_test(cell: Cell, value: str, o: int, reading: _Reading) -> None:
    """A test that holds, or fails: everywhere, but for where it holds and beyond the sentence."""
    if value == TRUE:
        reading.add((cell,), ("",), o)
    elif value == FALSE:
        reading.add((BIAS,), ("",), o)
        reading.add((cell,), ("",), o, -1.0)
        if cell.offset:
            reading.add((Cell(Term("edge"), cell.offset),), (EDGES[cell.offset > 0],), o, -1.0)


def _add_outside(offset: int, side: int, distance: int, o: int, reading: _Reading) -> None:
    """The weights of o so far beyond the sentence, and no further: `edge[j]` is there from some distance on."""
    nearest = offset - side * (distance - 1)
    edge = (EDGES[side > 0],)
    reading.add((Cell(Term("edge"), nearest),), edge, o)
    if distance < abs(offset):
        reading.add((Cell(Term("edge"), nearest - side),), edge, o, -1.0)


def _read_joined(cells: Sequence[Cell], values: Values, o: int, reading: _Reading, pattern: str) -> None:
    """Observation o, in which some cells have these values."""
    known: dict[Cell, str] = {}
    for cell, value in zip(cells, values, strict=True):
        _check_value(cell, value, pattern)
        outside = {value_outside(cell, distance) for distance in range(1, abs(cell.offset) + 1)}
        shown = EDGES[cell.offset > 0] if value in outside else value
        if known.setdefault(cell, shown) != shown:
            return  # one token with two values
    order = sorted(known, key=lambda cell: (cell.offset, cell.name))
    reading.add(tuple(order), tuple(known[cell] for cell in order), o)


def _check_value(cell: Cell, value: str, pattern: str) -> None:
    """Refuse values that functions here would not give, or not there alone."""
    if value in EDGES and cell.offset:
        raise ModelFileError(f"the pattern {pattern!r} has no equal here: the word {value} stands for the edges")
    if cell.term.function in ("lower", "lprefix", "lsuffix") and value.lower() != value and not value.isascii():
        raise ModelFileError(
            f"the pattern {pattern!r} has no equal here: Wapiti leaves capitals beyond A to Z as they are, {value!r}"
        )


def _build_encoder(reading: _Reading) -> tuple[Encoder, Longs]:
    """An encoder that knows all values of the attributes; and the number that it gives to each attribute."""
    groups = dict.fromkeys(cells for cells, _ in reading.attributes)
    singles = tuple(cells[0] for cells in groups if len(cells) == 1)
    features = FeatureSet("wapiti", singles, tuple(cells for cells in groups if len(cells) > 1))
    wanted: dict[tuple[int, Term], dict[str, None]] = {}
    for cells, values in reading.attributes:
        for cell, value in zip(cells, values, strict=True):
            wanted.setdefault((cell.term.column, cell.term), {})[value] = None
    columns = [_learn_column(c, terms, wanted) for c, terms in column_terms(features).items()]
    bare = Encoder.build(features, max(features.columns, default=0) + 1, columns)
    codes = [
        [bare_code(bare, cell, value) for cell, value in zip(cells, values, strict=True)]
        for cells, values in reading.attributes
    ]
    return _number_attributes(bare, features, list(reading.attributes), codes)


def _learn_column(c: int, terms: Sequence[Term], wanted: dict[tuple[int, Term], dict[str, None]]) -> ColumnForms:
    """A column that knows the words of its observations, and all values of its terms."""
    words = [value for value in wanted.get((c, Term("word", None, c)), {}) if value not in EDGES]
    learned = ColumnForms.learn(c, terms, None, Strings.of(words, len(words)))
    vocabularies = [
        Vocabulary(list(dict.fromkeys([*vocabulary.values, *wanted.get((c, term), {})])))
        for term, vocabulary in zip(terms, learned.vocabularies, strict=True)
    ]
    return ColumnForms.build(c, terms, None, learned.table.strings, learned.codes, vocabularies)


def bare_code(encoder: Encoder, cell: Cell, value: str) -> int:
    """The code of a value in the vocabulary of its cell."""
    column, term = encoder.column_of(cell)
    return column.vocabularies[term].index[value]


def _number_attributes(
    bare: Encoder, features: FeatureSet, attributes: Sequence[tuple[Cells, Values]], codes: Sequence[Sequence[int]]
) -> tuple[Encoder, Longs]:
    """The encoder with the keys of its conjunctions; and the number of every attribute."""
    keys: dict[Cells, list[int]] = {}
    own = []
    for (cells, _), digits in zip(attributes, codes, strict=True):
        key = 0
        for cell, digit in zip(cells, digits, strict=True):
            column, term = bare.column_of(cell)
            key = key * len(column.vocabularies[term]) + digit
        own.append(key)
        if len(cells) > 1:
            keys.setdefault(cells, []).append(key)
    sorted_keys = [np.array(sorted(keys[cells]), np.int64) for cells in features.conjunctions]
    encoder = Encoder.build(features, bare.width, bare.columns, sorted_keys)
    bases = _find_bases(encoder)
    numbers = [
        bases[cells]
        + (key if len(cells) == 1 else int(np.searchsorted(sorted_keys[features.conjunctions.index(cells)], key)))
        for (cells, _), key in zip(attributes, own, strict=True)
    ]
    return encoder, np.array(numbers, np.int64)


def _find_bases(encoder: Encoder) -> dict[Cells, int]:
    """The number of the first attribute of every group of cells."""
    bases: dict[Cells, int] = {}
    for column, slots in zip(encoder.columns, encoder.slots, strict=False):
        for slot in slots:
            for term, base in zip(slot.terms, slot.bases, strict=True):
                bases[(Cell(column.terms[term], slot.offset),)] = base
    for conjunction, (slot,) in zip(encoder.conjunctions.members, encoder.slots[len(encoder.columns) :], strict=True):
        bases[conjunction.cells] = slot.bases[0]
    return bases
