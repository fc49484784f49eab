"""The papers' data: the whole of CoNLL-2002 Spanish; the Penn Treebank where the user has it, else what stands in.

`--quick` takes the first sentences only, so that every cell is tried in minutes; its numbers mean nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.corpora import Task, read_task, words_alone
from tagwright.datasets.treebank import read_trees
from tagwright.errors import DataError

QUICK = {"train": 100, "dev": 40, "test": 40}
LATE = range(24, 25)
SECTIONS = {
    "loss": {"train": range(1, 22), "dev": LATE, "test": range(22, 23)},
    "lm-pos": {"train": range(2, 22), "dev": LATE, "test": range(23, 24)},
    "guided": {"train": range(19), "dev": range(19, 22), "test": range(22, 25)},
}
"""Of the Wall Street Journal, by paper. LOSS has no dev set: it gets LM-POS's. BOOST and HMSVM do not say: BOOST has
LOSS's, HMSVM LM-POS's (figure 3 there is figure 2 here)."""
SAMPLE = "wsj"


def treebank(paper: str, *, ptb: bool) -> str:
    """The task of a paper's tables on the Penn Treebank. Its runs have other names than those of the sample."""
    return f"ptb-{paper}" if ptb else SAMPLE


@dataclass(slots=True)
class Corpora:
    """Tasks by name (ner, ewt, wsj; ptb-loss, ptb-lm-pos, ptb-guided), read when first asked for."""

    folder: Path
    ptb: Path | None = None
    quick: bool = False
    threads: int = 2
    _read: dict[str, Task] = field(default_factory=dict)

    @property
    def treebank(self) -> str:
        """What the tables on the Penn Treebank are made of."""
        return "the public sample of the Penn Treebank" if self.ptb is None else "the Penn Treebank"

    def task(self, name: str) -> Task:
        """Train, dev and test of one; entities with words alone, as the papers have them."""
        if name not in self._read:
            paper = name.removeprefix("ptb-")
            task = read_task(name, self.folder) if paper == name else read_ptb(self._find_ptb(), paper)
            parts = [words_alone(part) for part in (task.train, task.dev, task.test)]
            if self.quick:
                parts = [(X[:n], y[:n]) for (X, y), n in zip(parts, QUICK.values(), strict=True)]
            self._read[name] = Task(name, *parts)
        return self._read[name]

    def _find_ptb(self) -> Path:
        assert self.ptb is not None  # else no task has such a name
        return self.ptb


def read_ptb(folder: Path, paper: str) -> Task:
    """Sections of wsj as a paper has them, each a folder of .mrg files, somewhere below `folder`."""
    parts = []
    for part, sections in SECTIONS[paper].items():
        X: list[list[str]] = []
        y: list[list[str]] = []
        for section in sections:
            files = sorted(folder.glob(f"**/{section:02}/*.mrg"))
            if not files:
                expected = f"expected {section:02}/wsj_*.mrg somewhere below"
                raise DataError(f"no .mrg files of section {section:02} ({part}); {expected}", location=str(folder))
            for sentence in (one for file in files for one in read_trees(file.read_text())):
                X.append([word for word, _ in sentence])
                y.append([tag for _, tag in sentence])
        parts.append((X, y))
    return Task(f"ptb-{paper}", *parts)
