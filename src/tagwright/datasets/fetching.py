"""From the name of a corpus to its files: in a folder of the user's, else in the cache, else downloaded.

A file that differs from its checksum is an error, and stays where it is. Only new files are ever written.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from io import BytesIO
from pathlib import Path

from tagwright.atomic_file import atomic_file
from tagwright.compat import download
from tagwright.datasets.corpora import CORPORA, Corpus, CorpusFile
from tagwright.errors import DataError, ParameterError

VARIABLE = "TAGWRIGHT_DATA"


def find_corpus(name: str) -> Corpus:
    """The registered corpus of this name."""
    if name not in CORPORA:
        raise ParameterError(f"there is no corpus {name!r}; there are {', '.join(CORPORA)} (and the embedded sample)")
    return CORPORA[name]


def find_files(corpus: Corpus, folder: str | os.PathLike[str] | None = None) -> dict[str, Path]:
    """The file of each part. `folder` (or TAGWRIGHT_DATA) has a folder for each corpus; without either: the cache."""
    given = folder if folder is not None else os.environ.get(VARIABLE) or None
    home = (cache_folder() if given is None else Path(given)) / corpus.name
    paths = {part: home / file.name for part, file in corpus.parts.items()}
    missing = [path for path in paths.values() if not _exists(path)]
    if missing and given is not None:
        raise DataError(
            f"there is no {missing[0].name}; put the files of {corpus.name} there ({corpus.home}), or leave out the "
            f"folder (and {VARIABLE}) to have them downloaded",
            location=str(home),
        )
    if missing:
        _fetch(corpus, home)
    for part, file in corpus.parts.items():
        check_file(paths[part], file)
    return paths


def _exists(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError as error:  # a folder that may not be entered
        raise DataError(f"cannot be read ({error.strerror}); change its permissions", location=str(path)) from error


def check_file(path: Path, file: CorpusFile) -> None:
    """Refuse a file that is not what the registry knows."""
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror}); change its permissions", location=str(path)) from error
    if found != file.sha256:
        raise DataError(
            f"the file is not the one registered (SHA-256 {found[:12]}..., expected {file.sha256[:12]}...); it is left "
            "as it is: move it away to have the right one downloaded, or read your own file with tagwright.io",
            location=str(path),
        )


def cache_folder() -> Path:
    """Where downloaded corpora are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or "~/.cache"
    return Path(base).expanduser() / "tagwright" / "corpora"


def _fetch(corpus: Corpus, home: Path) -> None:
    """Download what is missing, and write it file by file: whole, or not at all."""
    cure = f"download it yourself into {home} ({corpus.home}), or set {VARIABLE} to a folder that has {corpus.name}/"
    missing = [file for file in corpus.parts.values() if not (home / file.name).exists()]
    if corpus.archive_sha256:
        made = corpus.make(_unzip(download(corpus.source, corpus.archive_sha256, cure=cure)))
    else:
        made = {file.name: download(corpus.source + file.name, file.sha256, cure=cure) for file in missing}
    home.mkdir(parents=True, exist_ok=True)
    for file in missing:
        with atomic_file(str(home / file.name)) as stream:
            stream.write(made[file.name])


def _unzip(content: bytes) -> dict[str, bytes]:
    """The files of an archive, by name."""
    with zipfile.ZipFile(BytesIO(content)) as archive:
        return {Path(entry).name: archive.read(entry) for entry in archive.namelist() if not entry.endswith("/")}
