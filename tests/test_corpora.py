"""Public corpora by name: found, checked, downloaded; the network is a function that the tests replace."""

from __future__ import annotations

import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tagwright import datasets
from tagwright.compat import download
from tagwright.datasets import fetching
from tagwright.datasets.corpora import CORPORA, Corpus, CorpusFile
from tagwright.datasets.treebank import PARTS, read_trees, split_sample
from tagwright.errors import DataError, ParameterError

TEXTS = {"t.txt": b"a X\nb Y\n\n" * 20, "e.txt": b"c X\n\n"}


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def zipped(files: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"toy/{name}", content)
    return stream.getvalue()


ZIP = zipped(TEXTS)
TOY = Corpus(
    name="toy", title="a toy", licence="none", home="https://example.org/toy", megabytes=0.1, label=-1,
    parts={part: CorpusFile(name, digest(TEXTS[name]), 1) for part, name in (("train", "t.txt"), ("test", "e.txt"))},
    source="https://example.org/toy.zip", archive_sha256=digest(ZIP),
)  # fmt: skip


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, bytes]:
    """What addresses give. The cache is empty, the registry has the toy."""
    answers = {TOY.source: ZIP}

    def download(address: str, sha256: str, *, cure: str) -> bytes:
        if address not in answers:
            raise DataError(f"it could not be downloaded; {cure}", location=address)
        content = answers.pop(address)
        assert digest(content) == sha256
        return content

    monkeypatch.setattr(fetching, "download", download)
    monkeypatch.setitem(CORPORA, "toy", TOY)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("TAGWRIGHT_DATA", raising=False)
    return answers


def test_a_corpus_is_downloaded_once(network: dict[str, bytes], tmp_path: Path) -> None:
    X, y = datasets.load("toy")
    assert (len(X), y[0]) == (18, ["X", "Y"])
    assert not network
    assert len(datasets.load("toy", "dev")[0]) == 2  # the last tenth of train
    assert datasets.load("toy", "test") == ([["c"]], [["X"]])
    names = sorted(path.name for path in (tmp_path / "cache/tagwright/corpora/toy").iterdir())
    assert names == ["e.txt", "t.txt"]


def test_files_of_a_folder_address(network: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    """One download a file; those that an earlier attempt brought are not asked for again."""
    monkeypatch.setitem(CORPORA, "toy", replace(TOY, source="https://example.org/", archive_sha256=""))
    network |= {"https://example.org/t.txt": TEXTS["t.txt"]}
    with pytest.raises(DataError, match="could not be downloaded"):
        datasets.load("toy")
    network |= {f"https://example.org/{name}": text for name, text in TEXTS.items()}
    assert len(datasets.load("toy")[0]) == 18


def test_a_folder_of_the_users(network: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network.clear()
    home = tmp_path / "mine"
    with pytest.raises(DataError, match=r"no t\.txt; put the files of toy there"):
        datasets.load("toy", folder=home)
    (home / "toy").mkdir(parents=True)
    (home / "toy/t.txt").write_bytes(TEXTS["t.txt"])
    with pytest.raises(DataError, match=r"no e\.txt; put the files of toy there"):
        datasets.load("toy", folder=home)
    (home / "toy/e.txt").write_bytes(TEXTS["e.txt"])
    assert len(datasets.load("toy", folder=home)[0]) == 18
    monkeypatch.setenv("TAGWRIGHT_DATA", str(home))
    assert len(datasets.load("toy")[0]) == 18


def test_a_wrong_file_is_named_and_left_alone(network: dict[str, bytes], tmp_path: Path) -> None:
    home = tmp_path / "cache/tagwright/corpora/toy"
    home.mkdir(parents=True)
    (home / "t.txt").write_bytes(b"mine A\n")
    with pytest.raises(DataError, match=r"t\.txt: the file is not the one registered .* left as it is: move it away"):
        datasets.load("toy")
    assert (home / "t.txt").read_bytes() == b"mine A\n"


def test_without_a_connection(network: dict[str, bytes]) -> None:
    network.clear()
    with pytest.raises(
        DataError, match=r"toy\.zip: it could not be downloaded; download it yourself into .*TAGWRIGHT_DATA"
    ):
        datasets.load("toy")


def test_wrong_names() -> None:
    with pytest.raises(ParameterError, match="no corpus 'nope'; there are ewt, wsj-sample, conll2002, conll2000"):
        datasets.load("nope")
    with pytest.raises(ParameterError, match="part must be one of"):
        datasets.load("ewt", "train.conllu")


def test_a_folder_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "ewt").write_text("a file where a folder should be")
    with pytest.raises(DataError, match=r"ewt: there is no en_ewt-ud-train\.conllu"):
        datasets.load("ewt", folder=tmp_path)


def test_trees_become_words_and_tags() -> None:
    text = "\n( (S (NP-SBJ (NNP Al) (POS 's) ) (VP (VBD ate) (NP (-NONE- *T*-1) )) (. .) ))\n( (FRAG (UH Oh) ))"
    assert read_trees(text) == [[("Al", "NNP"), ("'s", "POS"), ("ate", "VBD"), (".", ".")], [("Oh", "UH")]]


def test_the_sample_is_cut_by_the_order_of_its_files() -> None:
    files = {f"wsj_{n:04}.mrg": f"( (X (A w{n})))".encode() for n in reversed(range(3914))}
    made = split_sample({**files, "README": b"("})
    assert {name: content.count(b"\n\n") for name, content in made.items()} == {
        f"{part}.tsv": last - first for part, (first, last) in PARTS.items()
    }
    assert made["dev.tsv"].startswith(b"w3000\tA\n\n")


def test_the_registry_is_whole() -> None:
    for name, corpus in CORPORA.items():
        assert corpus.name == name
        assert {"train", "test"} <= set(corpus.parts)
        sums = [file.sha256 for file in corpus.parts.values()] + [corpus.archive_sha256] * corpus.source.endswith(
            ".zip"
        )
        assert all(len(bytes.fromhex(checksum)) == 32 for checksum in sums)
        assert corpus.source.startswith("https://")
        assert corpus.source.endswith((".zip", "/"))
        assert corpus.licence


@pytest.fixture
def address() -> Iterator[str]:
    """A server on this machine that gives b"content"."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"content")

        def log_message(self, *arguments: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/toy.zip"
    server.shutdown()
    server.server_close()


def test_what_comes_is_checked(address: str) -> None:
    pytest.importorskip("pooch")
    assert download(address, digest(b"content"), cure="do it yourself") == b"content"
    with pytest.raises(DataError, match=r"what came is not what is registered .*; do it yourself"):
        download(address, digest(b"other"), cure="do it yourself")


def test_nobody_answers() -> None:
    pytest.importorskip("pooch")
    with pytest.raises(DataError, match=r"could not be downloaded .*; do it yourself"):
        download("http://127.0.0.1:1/toy.zip", digest(b""), cure="do it yourself")
