"""A task as files: what every job reads, whatever its language. `--quick` takes the first sentences."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.corpora import Task, Text, read_task

SHORT = 20  # tokens of a sentence whose latency is measured


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured. sentences: of train, dev, test (None: all); tokens: at least, of the file to tag."""

    sentences: tuple[int | None, int | None, int | None] = (None, None, None)
    tokens: int = 500_000
    short: int = 1000
    repeat: int = 7
    rounds: int = 15
    starts: int = 5
    factor: float = 1.0  # of the rivals' iterations and ours


FULL = Scale()
QUICK = Scale((300, 100, 100), 20_000, 200, 2, 4, 2, 0.1)


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folder of a task's files, and what scoring needs."""

    folder: Path
    scale: Scale
    gold: dict[str, list[list[str]]]
    tokens: dict[str, int]

    @property
    def columns(self) -> Path:
        return self.folder / "text.columns"

    @property
    def sentence(self) -> Path:
        return self.folder / "sentence.columns"


def open_workspace(name: str, data: Path, folder: Path, scale: Scale) -> Workspace:
    """Write a task's files."""
    return write_task(read_task(name, data), folder, scale)


def write_task(task: Task, folder: Path, scale: Scale) -> Workspace:
    """train, dev, test: sentences and labels; text: dev and test; short: of 20 tokens; text.columns: the long file."""
    folder.mkdir(parents=True, exist_ok=True)
    parts: dict[str, Text] = {}
    for part, n in zip(("train", "dev", "test"), scale.sentences, strict=True):
        X, y = getattr(task, part)
        parts[part] = X[:n], y[:n]
    text = parts["dev"][0] + parts["test"][0]
    for part, (X, y) in parts.items():
        write_json(folder / f"{part}.json", {"X": X, "y": y})
    write_json(folder / "text.json", {"X": text})
    short = cut(text, scale.short)
    write_json(folder / "short.json", {"X": short})
    whole = parts["train"][0] + text
    times = -(-scale.tokens // sum(map(len, whole)))
    write_columns(whole * times, folder / "text.columns")
    write_columns(short[:1], folder / "sentence.columns")
    tokens = {"text": sum(map(len, text)), "columns": times * sum(map(len, whole))}
    tokens["train"] = sum(map(len, parts["train"][0]))
    return Workspace(folder, scale, {part: y for part, (_, y) in parts.items()}, tokens)


def cut(text: list[list[Any]], n: int) -> list[list[Any]]:
    """`n` sentences of 20 tokens each, out of running text; from the beginning again where it ends."""
    tokens = list(chain.from_iterable(text))
    places = [start % max(1, len(tokens) - SHORT) for start in range(0, n * SHORT, SHORT)]
    return [tokens[start : start + SHORT] for start in places]


def write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content))


def write_columns(sentences: list[list[Any]], path: Path) -> None:
    """A token a line, columns apart by tabs, a blank line after each sentence."""
    with path.open("w", encoding="utf-8") as out:
        for sentence in sentences:
            out.writelines("\t".join([item] if isinstance(item, str) else item) + "\n" for item in sentence)
            out.write("\n")
