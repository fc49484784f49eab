"""The registry of public corpora: what each is, whose, where it comes from, and what its files must be.

The files of a corpus lie in a folder of its name. Checksums are SHA-256.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tagwright.datasets.treebank import split_sample

UD = "https://raw.githubusercontent.com/UniversalDependencies"
NLTK = "https://raw.githubusercontent.com/nltk/nltk_data/5db857e6f7df11eabb5e5665836db9ec8df07e28/packages/corpora"


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """One part of a corpus."""

    name: str
    sha256: str
    sentences: int


@dataclass(frozen=True, slots=True)
class Corpus:
    """`parts`: train, test, and dev where the corpus has one (else the last tenth of train is taken)."""

    name: str  # of its folder, too
    title: str
    licence: str
    home: str
    megabytes: float  # to download
    label: str | int  # the column of the labels, as `read_sentences` takes it
    parts: dict[str, CorpusFile]
    source: str  # the address of a zip archive, or of the folder that has the files
    archive_sha256: str = ""
    make: Callable[[Mapping[str, bytes]], Mapping[str, bytes]] = lambda files: files  # the archive's files ─► these


EWT = Corpus(
    name="ewt",
    title="UD English EWT 2.16: parts of speech (XPOS: Penn tags; UPOS), web text",
    licence="CC BY-SA 4.0",
    home="https://universaldependencies.org/treebanks/en_ewt",
    megabytes=17.8,
    label="xpos",
    parts={
        "train": CorpusFile(
            "en_ewt-ud-train.conllu", "3fb78e2b55482c8ee00caa653af436c88c9e5bc9a73ce26e4ae3ddc79d2b7e7b", 12544
        ),
        "dev": CorpusFile(
            "en_ewt-ud-dev.conllu", "531a54ff90d6ab12201c5a50c3e78e6ddac4de69abc4bce5d275d3cd29efe2b6", 2001
        ),
        "test": CorpusFile(
            "en_ewt-ud-test.conllu", "e266e515a0a7547657ed3d90d9ba46487d6bd251f27ad4269d4e8a427c8555cd", 2077
        ),
    },
    source=f"{UD}/UD_English-EWT/r2.16/",
)
WSJ_SAMPLE = Corpus(
    name="wsj-sample",
    title="the public sample of the Penn Treebank's Wall Street Journal: words and tags, traces removed",
    licence="non-commercial use only",
    home="https://www.nltk.org/nltk_data",
    megabytes=1.7,
    label=-1,
    parts={
        "train": CorpusFile("train.tsv", "a28cad0617258585f426f23558d2360a59f36b415a7a7bd2efaaf0c0748b41bf", 3000),
        "dev": CorpusFile("dev.tsv", "63467b830e631544670aae7a62205939e964d3dcc068ff1133c74935d53269f8", 400),
        "test": CorpusFile("test.tsv", "6ab0c08fbc0fd6c5a1ce48049bf2cdd294e8fb0bf55532bda8080183bf8510de", 514),
    },
    source=f"{NLTK}/treebank.zip",
    archive_sha256="9da92d76c3666cfb6cddeaed0f7e86b344cce0f0928a286d439e555f19c37399",
    make=split_sample,
)
CONLL2002 = Corpus(
    name="conll2002",
    title="CoNLL-2002 Spanish: named entities (word, POS, IOB2), news",
    licence="research use",
    home="https://www.clips.uantwerpen.be/conll2002/ner",
    megabytes=1.9,
    label=-1,
    parts={
        "train": CorpusFile("esp.train", "a20d95cab7d88a19a86f8c1ad6329325c99fbd9529ed978cbd7e31d4b01b4008", 8323),
        "dev": CorpusFile("esp.testa", "85c17793b77881c53d19017d9d0f1e6fb98b7ddcab54a5f24b05ed1793103c87", 1915),
        "test": CorpusFile("esp.testb", "1f8f7a392c6d4979a5592a5794eed43d7869b46da6851bbcde99714149f1d016", 1517),
    },
    source=f"{NLTK}/conll2002.zip",
    archive_sha256="64440e49236d0d393e08e0b266284966d68e2d2a82a50cc41b8e96d98c03b5c8",
)
CONLL2000 = Corpus(
    name="conll2000",
    title="CoNLL-2000: chunks (word, POS, IOB2), Wall Street Journal sections 15-18 and 20",
    licence="research use",
    home="https://www.clips.uantwerpen.be/conll2000/chunking",
    megabytes=0.8,
    label=-1,
    parts={
        "train": CorpusFile("train.txt", "82033cd7a72b209923a98007793e8f9de3abc1c8b79d646c50648eb949b87cea", 8936),
        "test": CorpusFile("test.txt", "73b7b1e565fa75a1e22fe52ecdf41b6624d6f59dacb591d44252bf4d692b1628", 2012),
    },
    source=f"{NLTK}/conll2000.zip",
    archive_sha256="01e65164f268366e7caa0db92332a1955d081908c87016e2c7640c3c5279b7cd",
)
CORPORA = {corpus.name: corpus for corpus in (EWT, WSJ_SAMPLE, CONLL2002, CONLL2000)}
