"""File arguments: names and patterns on the command line ─► sources, and the sentences of several as those of one.

The word `sample` stands for the embedded corpus wherever a file is taken (./sample is a file of that name).
"""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from tagwright.errors import DataError, DataWarning, warn
from tagwright.io import Sentences
from tagwright.io.lines import source_name
from tagwright.sequence import Sentence

SAMPLE = "sample"


def find_source(name: str) -> str:
    """The path that a file argument means."""
    if name != SAMPLE:
        return name
    from tagwright.datasets import sample_path

    return str(sample_path())


def find_sources(names: Sequence[str]) -> list[str]:
    """The paths that file arguments mean, patterns such as 'corpus/*.txt' resolved: in the order of the arguments,
    those of a pattern by name. A file that is not there is refused, before work on others begins."""
    found: list[str] = []
    for name in names:
        if name == "-" and name in found:
            raise DataError("it is named twice, and can be read once", location="standard input")
        if is_pattern(name):
            paths = resolve(name)
            if not paths:
                raise DataError("no file has such a name; check the pattern", location=name)
            found += paths
        else:
            found.append(_check_path(find_source(name)))
    twice = [found[i] for i in _find_repeated([os.path.realpath(path) for path in found])]
    if twice:
        more = f" and {len(twice) - 1:,} more" if len(twice) > 1 else ""
        warn(f"{twice[0]}{more}: named more than once, and read as often", DataWarning)
    return found


def _find_repeated(paths: Sequence[str]) -> list[int]:
    """Where those that occur again stand first."""
    times = Counter(paths)
    return [paths.index(path) for path, n in times.items() if n > 1]


def is_pattern(name: str) -> bool:
    """Whether a file argument stands for the files whose names are like it."""
    return glob.has_magic(name) and not os.path.exists(name)


def resolve(pattern: str) -> list[str]:
    """The files that a pattern means, by name."""
    return sorted(path for path in glob.glob(pattern, recursive=True) if not os.path.isdir(path))


def keep_inputs(target: str, *names: str | None) -> None:
    """Refuse to write a result over one of the files that it is made from."""
    for name in filter(None, names):
        for source in resolve(name) if is_pattern(name) else [name]:
            if os.path.exists(target) and os.path.exists(source) and os.path.samefile(source, target):
                raise DataError("it is one of the files to read and would be lost; name another", location=target)


def shared_files(names: Sequence[str], others: Sequence[str]) -> list[str]:
    """The files that are among both, by the names of the second."""
    known = {os.path.realpath(path) for path in find_sources(names)}
    return [path for path in find_sources(others) if path != "-" and os.path.realpath(path) in known]


def _check_path(path: str) -> str:
    if os.path.isdir(path):
        cure = f"name files in it, such as {os.path.join(path, '*')!r}"
        raise DataError(f"found a directory, expected a file; {cure}", location=path)
    if path != "-" and not os.path.exists(path):
        raise DataError("no such file; check the path", location=path)
    return path


def name_sources(sources: Sequence[str]) -> str:
    """What to call several sources together."""
    rest, first = len(sources) - 1, source_name(sources[0])
    return first if not rest else f"{first} and {rest} more {'file' if rest == 1 else 'files'}"


def read_together(sources: Sequence[str], open_one: Callable[[str], Sentences]) -> Sentences:
    """The sentences of several sources, one after the other, read as `open_one` says. The layout is that of the first,
    which is opened at once."""
    first = open_one(sources[0])

    def read_all() -> Iterator[Sentence]:
        yield from first
        for source in sources[1:]:
            yield from open_one(source)

    return Sentences(name_sources(sources), first.layout, read_all())
