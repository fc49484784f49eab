"""JSON lines: an object on each line, with a list of words and a list of labels.

    {"id": 7, "tokens": ["The", "dog", "barks"], "tags": ["DT", "NN", "VBZ"]}

Lists are found by their keys. The words are in `tokens` or `words`, the labels in the only other list of as many
strings, unless the user says which; further inputs are lists too. What else is in an object is kept and written back,
and so are blank lines. An object without words is no sentence to learn from, but is written back as well.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from tagwright.errors import DataError
from tagwright.io.format import Format, Sample, item_rows
from tagwright.io.layout import Column, ColumnChoice, Layout
from tagwright.io.lines import MAX_TOKEN, Lines, is_blank
from tagwright.sequence import Sentence

WORD_KEYS = ("tokens", "words")
LABEL_KEY = "tags"  # where labels go that have no key yet
BEGINNING = re.compile(r'\s*(?:\[\s*)?\{\s*"[^"]*"\s*:')  # of an object, or of an array of them

Object = dict[str, Any]


class JsonLinesFormat(Format):
    """`{"tokens": [...], "tags": [...]}`, one sentence per line."""

    name = "jsonl"
    description = 'JSON lines, {"tokens": [...], "tags": [...]}'
    endings = (".jsonl", ".ndjson")
    has_columns = True
    fills_column = True
    sentence_end = "one JSON object per line"

    def detect(self, sample: Sample) -> float:
        rows = sample.rows[:3]  # of an object over several lines, which is refused
        return 0.98 if rows and (BEGINNING.match("\n".join(rows)) or _is_array(rows[0])) else 0.0

    def find_layout(self, lines: Lines, choice: ColumnChoice) -> Layout:
        """The keys of inputs and labels, from the first object. Inputs are columns 0, 1 ..., the label is the next."""
        n = choice.n_inputs or 1
        head = lines.peek(1)
        if not head:
            return Layout(self.name, None, tuple(range(n)))
        location = lines.location(lines.first_number(head[0]))
        record = read_object(head[0], location)
        inputs = _choose_inputs(record, choice, location)
        label = _choose_label(record, inputs, choice, location)
        n = len(inputs)
        return Layout(self.name, n if label else None, tuple(range(n)), inputs, n + bool(label), label or "")

    def read(self, lines: Lines, layout: Layout, *, labelled: bool) -> Iterator[Sentence]:
        keys = [*layout.names, layout.label_name] if labelled else [*layout.names]
        held: list[str] = []
        for first, batch in lines:
            for i, line in enumerate(batch):
                held.append(line)
                if is_blank(line):
                    continue
                location = lines.location(first + i)
                columns = read_lists(read_object(line, location), keys, location)
                labels = columns.pop() if labelled else None
                items: Any = columns[0] if len(columns) == 1 else list(zip(*columns))
                if items or not labelled:
                    yield Sentence(items, labels, location, held, (), self.name, lines.newline)
                held = []

    def write(
        self, sentence: Sentence, labels: Sequence[str], layout: Layout, values: Sequence[str] | None
    ) -> list[str]:
        """The object with its labels, and `probabilities`, after the blank lines that stood before it."""
        more: Object = {} if values is None else {"probabilities": [*map(float, values)]}
        return _write_object(sentence, labels, layout, more)

    def write_ranked(
        self, sentence: Sentence, labels: Sequence[str], layout: Layout, rank: int, measure: str, value: float
    ) -> list[str]:
        """The object with one of its best labellings; its rank and what it is worth are further members."""
        lines = _write_object(sentence, labels, layout, {"rank": rank, measure: float(f"{value:.6g}")})
        return lines[-1:]


def _is_array(line: str) -> bool:
    """Whether a line is an array of arrays or objects: JSON, but not what is read here."""
    try:
        found = json.loads(line) if line.lstrip().startswith("[") else None
    except (ValueError, RecursionError):
        return False
    return isinstance(found, list) and bool(found) and isinstance(found[0], list | dict)


def _choose_inputs(record: Object, choice: ColumnChoice, location: str) -> tuple[str, ...]:
    """The keys of the input columns: those the user asks for, those of training, or that of the words."""
    if choice.inputs is not None:
        return tuple([_check_key(record, key, location) for key in choice.inputs])
    trained, n = choice.trained, choice.n_inputs or 1
    if trained is not None and trained.names and {*trained.names} <= record.keys():
        return trained.names
    words = [key for key in WORD_KEYS if isinstance(record.get(key), list)]
    if n == 1 and words:
        return (words[0],)
    expected = f"{n} lists for each sentence" if n > 1 else "a list of words in 'tokens' or 'words'"
    training = f", as in training ({trained.describe_inputs()})" if trained is not None and n > 1 else ""
    example = ",".join(["tokens", "pos", *[f"list{i}" for i in range(3, n + 1)]][:n]) if n > 1 else "KEY"
    raise DataError(
        f"found {_list_keys(record)}; expected {expected}{training}; say which keys they have (--inputs {example})",
        location=location,
    )


def _choose_label(record: Object, inputs: Sequence[str], choice: ColumnChoice, location: str) -> str | None:
    """The key of the labels; where labels are not read, the one that they go to."""
    label, trained = choice.label, choice.trained
    if label is None:
        return None
    if label != "auto":
        key = _check_key(record, label, location) if choice.labelled else str(label)
    elif trained is not None and trained.format == JsonLinesFormat.name and trained.label_name not in ("", *inputs):
        key = trained.label_name
    else:
        key = _guess_label(record, inputs, location) if choice.labelled else LABEL_KEY
    if key in inputs:
        raise DataError(
            f"{key!r} is asked for as an input and as the label; choose another for one of them (--inputs, --column)",
            location=location,
        )
    return key


def _guess_label(record: Object, inputs: Sequence[str], location: str) -> str:
    """The only other list that is as long as the words."""
    n = len(record[inputs[0]]) if isinstance(record[inputs[0]], list) else 0
    found = [key for key, value in record.items() if key not in inputs and isinstance(value, list) and len(value) == n]
    if len(found) == 1:
        return found[0]
    what = "several lists that may be labels" if found else "no list of labels"
    raise DataError(
        f"found {what} among {_list_keys(record)}; expected one that is as long as {inputs[0]!r}, such as "
        f"{LABEL_KEY!r}; say which (--column KEY)",
        location=location,
    )


def _check_key(record: Object, key: Column, location: str) -> str:
    if key not in record:
        raise DataError(f"nothing is called {key!r}: found {_list_keys(record)}; choose one of them", location=location)
    return str(key)


def _list_keys(record: Object) -> str:
    """The keys of an object, for a message."""
    shown = ", ".join([key[:30] for key in [*record][:20]])
    return f"the keys {shown}" if record else "no keys"


def read_object(line: str, location: str) -> Object:
    """The object on a line. What could not be written again is refused."""
    try:
        found = json.loads(line, parse_constant=_refuse_number, parse_float=_read_float)
        if "\\u" in line:  # an escape may stand for half a character
            json.dumps(found, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise DataError(
            f"found {line[:60]!r}, expected a JSON object, whole on its line ({error.msg}, character {error.colno}); "
            "correct the line, or write each object on a line of its own, for example with: jq -c .",
            location=location,
        ) from None
    except UnicodeEncodeError:
        raise DataError(
            "found an escape of half a character (a lone surrogate), expected text that can be written; correct it",
            location=location,
        ) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"found JSON that cannot be used: {error}; correct the line", location=location) from None
    if not isinstance(found, dict):
        cure = "give each object a line of its own, for example with: jq -c '.[]'"
        raise DataError(
            f'found {line[:60]!r}, expected a JSON object such as {{"tokens": [...], "tags": [...]}}; {cure}',
            location=location,
        )
    return found


def _refuse_number(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")


def _read_float(text: str) -> float:
    if math.isinf(float(text)):
        raise ValueError(f"the number {text[:30]} is too large")
    return float(text)


def read_lists(record: Object, keys: Sequence[str], location: str) -> list[list[str]]:
    """The lists with these keys, which must be of one length."""
    found = [_read_strings(record, key, location) for key in keys]
    for key, strings in zip(keys, found):
        if len(strings) != len(found[0]):
            raise DataError(
                f"found {len(found[0])} in {keys[0]!r} and {len(strings)} in {key!r}, expected as many; correct the "
                "line",
                location=location,
            )
    return found


def _read_strings(record: Object, key: str, location: str) -> list[str]:
    strings = record.get(key)
    if not isinstance(strings, list):
        what = "no" if key not in record else f"{type(strings).__name__} as"
        raise DataError(
            f"found {what} {key!r} among {_list_keys(record)}; expected a list of strings; add it, or say which keys "
            "to read (--inputs, --column)",
            location=location,
        )
    for i, string in enumerate(strings):
        if not isinstance(string, str):
            cure = "write the names that numbers stand for" if isinstance(string, int) else "correct the line"
            raise DataError(f"{key}[{i}] is {json.dumps(string)[:60]}, expected a string; {cure}", location=location)
        if not string or "\0" in string or len(string) > MAX_TOKEN:
            raise DataError(
                f"{key}[{i}] is empty, has a NUL or more than {MAX_TOKEN:,} characters; correct the line",
                location=location,
            )
    return strings


def _write_object(sentence: Sentence, labels: Sequence[str], layout: Layout, more: Object) -> list[str]:
    if sentence.format == JsonLinesFormat.name:
        before, record = sentence.lines[:-1], json.loads(sentence.lines[-1])
    else:
        rows = item_rows(sentence, "")
        keys = layout.names or (WORD_KEYS[0], *[f"column{i}" for i in range(1, len(rows[0]))])
        before, record = [], {key: list(column) for key, column in zip(keys, zip(*rows))}
    record[layout.label_name or LABEL_KEY] = list(labels)
    return [*before, json.dumps(record | more, ensure_ascii=False)]
