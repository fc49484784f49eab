"""The embedded sample corpus, read here in plain Python and held to its own annotation rules (docs/sample.md).

A rule is a function from a sentence to the places that break it. Each has been seen to fail on a broken copy.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "src" / "tagwright" / "datasets" / "sample.conll"
DOCS = ROOT / "docs" / "sample.md"
HEADER = "# global.columns = WORD POS CHUNK ENTITY"


def words(text: str) -> set[str]:
    return set(text.split())


PENN = words(
    "CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH VB VBD VBG VBN VBP "
    "VBZ WDT WP WP$ WRB # $ . , : -LRB- -RRB- `` ''"
)
CHUNKS = words("NP VP PP ADVP ADJP SBAR PRT CONJP INTJ LST")
ENTITIES = words("PER ORG LOC MISC")

PUNCTUATION = {  # the tag of each mark; a mark has no other tag, and a tag here has no other mark
    ".": [".", "?", "!"],
    ",": [","],
    ":": [":", ";", "--", "..."],
    "``": ["``"],
    "''": ["''"],
    "-LRB-": ["-LRB-"],
    "-RRB-": ["-RRB-"],
    "$": ["$"],
    "#": ["#"],
    "SYM": ["="],
}
MONTHS = words("January February March April May June July August October November December Dec. Feb. Sept.")
DAYS = words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
TITLES = words(
    "Aunt Captain Colonel Commissioner Director Dr. Finance Foreign Governor Judge Lady Lord Minister Mr. Mrs. Ms. "
    "Pope President Prime Professor Queen Senator Sergeant Sir Uncle"
)
NOT_ENTITIES = MONTHS | DAYS | TITLES | words("Dad Father Grandpa Mum Figure Ph.D.")


class Token(NamedTuple):
    word: str
    pos: str
    chunk: str
    entity: str

    def __str__(self) -> str:
        return "/".join(self)


Sentence = list[Token]
Breach = Iterator[object]  # whatever helps to find the place


def read_lines() -> list[str]:
    return SAMPLE.read_bytes().decode("utf-8").split("\n")


def read_sentences() -> list[Sentence]:
    blocks = "\n".join(read_lines()[1:]).strip("\n").split("\n\n")
    return [[Token(*line.split("\t")) for line in block.split("\n")] for block in blocks]


@pytest.fixture(scope="module")
def sentences() -> list[Sentence]:
    return read_sentences()


def spans(sentence: Sentence, column: str) -> Iterator[tuple[str, Sentence, int]]:
    """(type, tokens, start) of every span of an IOB2 column."""
    tags = [getattr(token, column) for token in sentence] + ["O"]
    start = 0
    for i, tag in enumerate(tags):
        if i and tags[i - 1] != "O" and tag[0] != "I":
            yield tags[start][2:], sentence[start:i], start
        if tag[0] == "B":
            start = i


def test_size(sentences: list[Sentence]) -> None:
    assert len(sentences) >= 320
    assert sum(map(len, sentences)) >= 5_000


def test_the_file_is_clean() -> None:
    lines = read_lines()
    assert lines[0] == HEADER
    assert lines[-2:] == ["", ""], "the file ends with the last sentence and one blank line"
    assert lines[-3] != ""
    for number, line in enumerate(lines[1:-2], start=2):
        if line:
            fields = line.split("\t")
            assert len(fields) == 4, f"line {number}: {line!r}"
            assert all(fields), f"line {number}: {line!r}"
            assert re.fullmatch(r"[!-~\t]+", line), f"line {number} has a space or a character beyond ASCII: {line!r}"
        else:
            assert lines[number - 2] != "", f"line {number} is a second blank line"


def test_tag_sets(sentences: list[Sentence]) -> None:
    assert len(PENN) == 45
    assert {token.pos for sentence in sentences for token in sentence} == PENN
    for column, allowed in (("chunk", CHUNKS), ("entity", ENTITIES)):
        found = {getattr(token, column) for sentence in sentences for token in sentence}
        assert found - {"O"} <= {f"{prefix}-{kind}" for prefix in "BI" for kind in allowed}
        assert {tag[2:] for tag in found - {"O"}} == allowed


@pytest.mark.parametrize("column", ["chunk", "entity"])
def test_iob2(sentences: list[Sentence], column: str) -> None:
    for sentence in sentences:
        previous = "O"
        for token in sentence:
            tag = getattr(token, column)
            assert tag[0] != "I" or previous[2:] == tag[2:], f"{tag} after {previous}: {token}"
            previous = tag


def test_no_sentence_is_repeated(sentences: list[Sentence]) -> None:
    counts = Counter(" ".join(token.word for token in sentence).lower() for sentence in sentences)
    assert [text for text, count in counts.items() if count > 1] == []


def test_the_documentation_has_the_counts(sentences: list[Sentence]) -> None:
    text = DOCS.read_text(encoding="utf-8")
    assert f"{len(sentences)} sentences" in text
    assert f"{sum(map(len, sentences)):,} tokens" in text
    chunks = Counter(kind for sentence in sentences for kind, _, _ in spans(sentence, "chunk"))
    entities = Counter(kind for sentence in sentences for kind, _, _ in spans(sentence, "entity"))
    for kind, count in (chunks + entities).items():
        assert f"{kind} {count:,}" in text


# The rules. Text first, then part of speech, chunks, entities.


def begins_and_ends_like_a_sentence(sentence: Sentence) -> Breach:
    if not re.match(r"[A-Z0-9`]|-LRB-", sentence[0].word):
        yield f"begins with {sentence[0]}"
    last = sentence[-1]
    salutation = sentence[0].word in ("Dear", "To") and last.word in (",", ":")
    signature = last.entity.endswith("PER")
    if last.word not in (".", "?", "!", "''", "-RRB-") and not salutation and not signature:
        yield f"ends with {last}"
    if last.word in ("''", "-RRB-") and sentence[-2].pos != ".":
        yield f"ends with {sentence[-2]} {last}"


def quotes_and_brackets_are_paired(sentence: Sentence) -> Breach:
    for opening, closing in (("``", "''"), ("-LRB-", "-RRB-")):
        marks = [token.word for token in sentence if token.word in (opening, closing)]
        if marks != [opening, closing] * (len(marks) // 2):
            yield marks


def punctuation_has_its_own_tag(sentence: Sentence) -> Breach:
    for token in sentence:
        by_word = [tag for tag, words in PUNCTUATION.items() if token.word in words]
        if by_word != [token.pos] and (by_word or token.pos in PUNCTUATION):
            yield token
        if by_word and token.pos not in ("$", "#") and token.chunk != "O" and token.word != ",":
            yield token


def small_words_have_one_tag(sentence: Sentence) -> Breach:
    expected = {"to": "TO", "the": "DT", "an": "DT", "of": "IN", "and": "CC", "or": "CC", "not": "RB", "n't": "RB"}
    expected |= {"ago": "RB", "a.m.": "NN", "p.m.": "NN", "%": "NN", "who": "WP", "which": "WDT", "whose": "WP$"}
    expected |= {"i": "PRP", "he": "PRP", "she": "PRP", "it": "PRP", "his": "PRP$", "their": "PRP$", "would": "MD"}
    for token in sentence:
        if expected.get(token.word.lower(), token.pos) != token.pos:
            yield token
        if token.pos == "TO" and token.word.lower() not in ("to", "na"):
            yield token


def numbers_are_cd(sentence: Sentence) -> Breach:
    for token in sentence:
        if re.fullmatch(r"\d[\d,.:]*|\d{4}s", token.word) and token.pos not in ("CD", "LS"):
            yield token


def a_modal_and_to_take_the_base_form(sentence: Sentence) -> Breach:
    for _, tokens, _ in spans(sentence, "chunk"):
        tags = [token.pos for token in tokens if token.pos != "RB"]
        for before, after in pairwise(tags):
            if (before == "MD" and after not in ("VB", "TO")) or (before == "TO" and after not in ("VB", "CD")):
                yield tokens


def chunks_hold_their_heads(sentence: Sentence) -> Breach:
    """Every chunk has a word that can head it, and no noun phrase swallows a finite verb."""
    heads = {
        "NP": "NN NNS NNP NNPS PRP CD DT JJ JJR JJS WP WDT EX POS FW",
        "VP": "VB VBD VBG VBN VBP VBZ MD",
        "PP": "IN TO VBG VBN",
        "ADVP": "RB RBR RBS WRB FW",
        "ADJP": "JJ JJR",
        "SBAR": "IN",
        "PRT": "RP",
        "CONJP": "RB",
        "INTJ": "UH",
        "LST": "LS",
    }
    for kind, tokens, _ in spans(sentence, "chunk"):
        if not {token.pos for token in tokens} & words(heads[kind]):
            yield kind, tokens
        if kind == "NP" and {token.pos for token in tokens} & {"VB", "VBD", "VBP", "VBZ", "MD"}:
            yield kind, tokens


def tags_keep_to_their_chunks(sentence: Sentence) -> Breach:
    homes = {"RP": "PRT", "LS": "LST", "UH": "INTJ", "EX": "NP", "PRP": "NP", "MD": "VP", "VB": "VP", "VBD": "VP"}
    homes |= {"VBP": "VP", "VBZ": "VP", "NNP": "NP", "NNPS": "NP", "NNS": "NP", "CD": "NP", "POS": "NP"}
    for token in sentence:
        if token.pos in homes and token.chunk[2:] != homes[token.pos]:
            yield token
        if token.pos == "POS" and token.chunk != "B-NP":
            yield token


def prepositional_phrases_begin_as_listed(sentence: Sentence) -> Breach:
    """A PP is one word, save "because of", "such as" and "instead of"; "out of" is two PPs."""
    for kind, tokens, start in spans(sentence, "chunk"):
        phrase = " ".join(token.word.lower() for token in tokens)
        if kind == "PP" and len(tokens) > 1 and phrase not in ("because of", "such as", "instead of"):
            yield tokens
        if kind == "PP" and tokens[0].pos in ("VBG", "VBN"):  # according to, compared with
            following = sentence[start + 1]
            if phrase not in ("according", "compared", "depending") or following.chunk != "B-PP":
                yield tokens
    for first, second in pairwise(sentence):
        out_of = (first.word.lower(), second.word) == ("out", "of")
        if out_of and (first.pos, first.chunk, second.chunk) != ("IN", "B-PP", "B-PP"):
            yield first, second


def lists_with_commas_are_separate_chunks(sentence: Sentence) -> Breach:
    """A comma stands inside a chunk only in a date or between the adjectives of one noun."""
    for before, comma, after in zip(sentence, sentence[1:], sentence[2:]):
        if comma.word == "," and comma.chunk != "O" and (before.pos, after.pos) not in (("CD", "CD"), ("JJ", "JJ")):
            yield before, comma, after


def names_are_entities(sentence: Sentence) -> Breach:
    """A proper noun is in an entity unless it is a title, a date, or a word of kinship."""
    for token in sentence:
        if token.pos in ("NNP", "NNPS") and (token.entity == "O") != (token.word in NOT_ENTITIES):
            within_a_name = token.entity[0] == "I"  # Ministry of Finance
            if not within_a_name:
                yield token


def entities_look_like_names(sentence: Sentence) -> Breach:
    for kind, tokens, _ in spans(sentence, "entity"):
        first, last = tokens[0], tokens[-1]
        if not re.match(r"[A-Z]|macOS", first.word) or not re.match(r"[A-Z0-9]|macOS", last.word):
            yield kind, tokens
        if not {token.pos for token in tokens} & {"NNP", "NNPS", "JJ"}:
            yield kind, tokens
        if {token.pos for token in tokens} & {"JJ"} and (kind != "MISC" or len(tokens) > 1):  # nationality, religion
            yield kind, tokens
        if any(token.pos in (",", "``", "''", ".") for token in tokens):
            yield kind, tokens


RULES: list[Callable[[Sentence], Breach]] = [
    begins_and_ends_like_a_sentence,
    quotes_and_brackets_are_paired,
    punctuation_has_its_own_tag,
    small_words_have_one_tag,
    numbers_are_cd,
    a_modal_and_to_take_the_base_form,
    chunks_hold_their_heads,
    tags_keep_to_their_chunks,
    prepositional_phrases_begin_as_listed,
    lists_with_commas_are_separate_chunks,
    names_are_entities,
    entities_look_like_names,
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_rule(sentences: list[Sentence], rule: Callable[[Sentence], Breach]) -> None:
    breaches = [(" ".join(token.word for token in s), breach) for s in sentences for breach in rule(s)]
    assert breaches == []
