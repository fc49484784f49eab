"""From bytes to tokens, and labels into bytes, by kernels: against `Format.read` and `Format.write`, the definition."""

from __future__ import annotations

import io
import itertools
from collections.abc import Sequence
from contextlib import suppress
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tagwright.errors import DataError
from tagwright.io import FORMATS, Layout, write_sentence
from tagwright.io import blocks as blocks_module
from tagwright.io.blocks import Block, Blocks
from tagwright.io.columns import ColumnsFormat
from tagwright.io.label_bytes import LabelBytes, can_write
from tagwright.io.lines import MAX_TOKEN, Lines
from tagwright.io.tokens import Tokens, find_rules, is_clean, read_tokens

LABELS = ["O", "B-LONGER", "ä", "N/N"]
WORD_LABELS = ["O", "B-LONGER", "ä"]
LAYOUTS = {
    "plain": Layout("plain"),
    "slashed": Layout("slashed", 1),
    "underscored": Layout("slashed", 1, separator="_"),
    "columns": Layout("columns"),
    "even columns": Layout("columns", None, (1,), (), 2),
    "second column": Layout("columns", None, (1,)),
    "two columns": Layout("columns", None, (1, 0)),
    "conllu": Layout("conllu", 3, (1,), (), 10),
    "two of conllu": Layout("conllu", 4, (1, 5), (), 10),
    "short": Layout("conllu", 1, (2,), (), 3),
}
FULL = "_\t" * 7 + "_"

# Pieces of files, from which hypothesis makes files of every kind; most are what is usual.
WORDS = [
    "a",
    "dog",
    "né",
    "日本",
    "x/y",
    "/",
    "/x",
    "x/",
    "//",
    "///",
    "x_y",
    "_",
    "__",
    "#",
    "1",
    "\u00a0",
    "\x1c",
    "\x85",
    "\x7f",
    "1-2",
]
WHITE = [" ", " ", "\t", "  ", " \t"]
LINES = st.sampled_from(
    ["", "", " ", "\t", "# c", "#", "a", "a\tb", "a b", "a  b", " a b", "a\t\tb", "a\tb c", "\tb", "a\t", "é\tX\tY",
     "# global.columns = A B", f"1\té\t{FULL}", f"2\tdog\t{FULL}", f"2\t\t{FULL}", f"1-2\tx\t{FULL}", f"1.1\t\t{FULL}",
     f"1-\tx\t{FULL}", f"\tx\t{FULL}", "1\tx\ty", "2\tx\t", "3\t\ty", "1-2\t_\t_", f"x\tx\t{FULL}", "1\tx", "٣\tx\ty"]
)  # fmt: skip
TOKEN_LINES = st.lists(st.sampled_from([*WORDS, *WORDS, *WHITE]), max_size=8).map("".join)
ENDS = st.sampled_from(["\n"] * 3 + ["\r\n"])


@st.composite
def files(draw: st.DrawFn, lines: st.SearchStrategy[str]) -> bytes:
    """A file: most have one kind of line ends throughout, the last may have none."""
    end = draw(ENDS)
    rows = draw(st.lists(lines, max_size=12))
    ends = [draw(ENDS) if draw(st.integers(0, 30)) == 0 else end for _ in rows]
    if rows and draw(st.booleans()):
        ends[-1] = ""
    start = draw(st.sampled_from(["", "", "\ufeff"]))
    data = (start + "".join(row + end for row, end in zip(rows, ends))).encode()
    if data and draw(st.integers(0, 20)) == 0:  # damaged
        at = draw(st.integers(0, len(data) - 1))
        data = data[:at] + draw(st.sampled_from([b"\xff", b"\0", b"\r", b"\xed\xa0\x80", b"\xc3"])) + data[at + 1 :]
    return data


def whole(data: bytes) -> Lines:
    """The lines of a file, which a format has looked at to find the layout."""
    lines = Lines.of_chunks([data], "file")
    with suppress(DataError):
        lines.peek(1)
    return Lines.of_chunks([data], "file", newline=lines.newline)


def by_sentences(lines: Lines, layout: Layout, labels: Sequence[str]) -> tuple[bytes, list[object], str]:
    """The definition: every token has the label that its place in the text and its word give it."""
    text, items, error = io.StringIO(newline=""), [], ""
    try:
        for sentence in FORMATS[layout.format].read(lines, layout, labelled=False):
            items.append(list(sentence.items))
            write_sentence(text, sentence, [choose(item, labels) for item in sentence.items], layout)
    except DataError as found:
        error = str(found)
    return text.getvalue().encode(), items, error


def choose(item: object, labels: Sequence[str]) -> str:
    return labels[len(str(item).encode()) % len(labels)]


def items_of(tokens: Tokens) -> list[object]:
    columns = [
        [bytes(tokens.letters[b:e]).decode() for b, e in zip(begins, ends)]
        for begins, ends in zip(tokens.begins, tokens.ends)
    ]
    return columns[0] if len(columns) == 1 else list(zip(*columns))


def by_kernels(block: Block, layout: Layout, labels: Sequence[str]) -> tuple[bytes, list[object]] | None:
    rules = find_rules(FORMATS[layout.format], layout, labelled=False)
    assert rules is not None
    assert can_write(rules, layout, labels)
    letters = np.frombuffer(block.data + bytes(8), np.uint8)
    tokens = read_tokens(block, letters, rules, layout)
    if tokens is None:
        return None
    flat = items_of(tokens)
    numbers = np.array([labels.index(choose(item, labels)) for item in flat], np.int32)
    sentences = [flat[a:b] for a, b in zip(tokens.offsets, tokens.offsets[1:])]
    return bytes(LabelBytes.build(labels).write(tokens, numbers)), sentences


def cut(data: bytes, size: int, layout: Layout, block: int = 1) -> list[Block]:
    """A file in blocks that are as small as chunks of this size allow."""
    rules = vars(type(FORMATS[layout.format]))["rules"]
    found: list[Block] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks_module, "BLOCK", block)
        Blocks(rules, found.append).send_all(data[i : i + size] for i in range(0, len(data), size))
    return found


def labels_for(layout: Layout) -> list[str]:
    return WORD_LABELS if layout.format in ("plain", "slashed") else LABELS


def check(data: bytes, layout: Layout, size: int, block: int) -> int:
    """The same bytes, items and errors, whatever the blocks; how many of them went the slow way."""
    labels = labels_for(layout)
    expected = by_sentences(whole(data), layout, labels)
    out, items, error, n_slow, seen = b"", [], "", 0, b""
    for part in cut(data, size, layout, block):
        slow = by_sentences(Lines.of_chunks([part.data], "file", part.number, part.newline), layout, labels)
        fast = by_kernels(part, layout, labels)
        assert fast is None or (*fast, "") == slow
        n_slow += fast is None
        out, items, error, seen = out + slow[0], items + slow[1], slow[2], seen + part.data
        if error:
            break
    if error:  # of two errors, that of the first block comes first
        assert error == by_sentences(whole(seen), layout, labels)[2]
    else:
        assert (out, items, "") == expected
    return n_slow


LABELLED = {
    "underscored": Layout("slashed", 1, separator="_"),
    "slashed": Layout("slashed", 1),
    "columns": Layout("columns", 1, (0,), (), 2),
    "label first": Layout("columns", 0, (2, 1), (), 3),
    "conllu": Layout("conllu", 3, (1,), (), 10),
    "two of conllu": Layout("conllu", 4, (1, 5), (), 10),
    "short": Layout("conllu", 1, (2,), (), 3),
}


def check_labelled(data: bytes, layout: Layout, size: int, block: int) -> int:
    """The same items, labels and errors, whatever the blocks; how many of them went the slow way."""
    rules = find_rules(FORMATS[layout.format], layout, labelled=True)
    assert rules is not None
    n_slow, found = 0, []
    for part in cut(data, size, layout, block):
        letters = np.frombuffer(part.data + bytes(8), np.uint8)
        tokens = read_tokens(part, letters, rules, layout, labelled=True)
        slow = labelled_sentences(Lines.of_chunks([part.data], "file", part.number, part.newline), layout)
        found += slow[0]
        if tokens is None:
            n_slow += 1
        else:
            rows = items_of(tokens)  # of columns, the label's last
            rows = [(row[0] if len(row) == 2 else row[:-1], row[-1]) for row in rows]
            assert (list(itertools.pairwise(tokens.offsets)), "") == (slow[2], slow[1])
            assert rows == slow[0]
        if slow[1]:
            break
    else:
        assert (found, "") == labelled_sentences(whole(data), layout)[:2]
    return n_slow


def labelled_sentences(lines: Lines, layout: Layout) -> tuple[list[tuple[object, str]], str, list[tuple[int, int]]]:
    """Items and labels end to end, the error, and where sentences begin and end."""
    rows: list[tuple[object, str]] = []
    bounds = []
    try:
        for sentence in FORMATS[layout.format].read(lines, layout, labelled=True):
            assert sentence.labels is not None
            bounds.append((len(rows), len(rows) + len(sentence)))
            rows += zip(sentence.items, sentence.labels, strict=True)
    except DataError as error:
        return rows, str(error), bounds
    return rows, "", bounds


USUAL_CONLLU = (
    f"# c\n# d\n\n# e\n1-2\tx\t{FULL}\n1\tné\t{FULL}\n1.1\t\t{FULL}\n2\tdog\t{FULL}\n# f\n\n3\tx\t{FULL}\n \n"
)
SIZES = {"size": st.integers(1, 40), "block": st.sampled_from([1, 30, 10**6])}


@pytest.mark.parametrize("name", [name for name in LAYOUTS if LAYOUTS[name].format in ("plain", "slashed")])
@given(data=files(TOKEN_LINES), **SIZES)
@example(data=b"a  b \n\n x\n", size=3, block=1)
@example(data=b"a b\r\nc d\r\n\r\n", size=1, block=1)
def test_sentences_on_lines(name: str, data: bytes, size: int, block: int) -> None:
    check(data, LAYOUTS[name], size, block)


@pytest.mark.parametrize("name", [name for name in LAYOUTS if LAYOUTS[name].format not in ("plain", "slashed")])
@given(data=files(LINES | st.sampled_from(["a\tb", "c d", f"1\té\t{FULL}", "1\tx\ty", ""])), **SIZES)
@example(data=b"# global.columns = A B\n\na\tb\n\n", size=4, block=1)
@example(data=b"\n# global.columns = A B\na\tb\n\n# global.columns = A B\na b\n\n", size=1, block=1)
@example(data=b"# c\n\n1\tx\ty\n# d\n\n# e\n", size=1, block=1)
@example(data=b"a b\na\tb\n \n\n\t\na\tb", size=1, block=1)
def test_tokens_on_lines(name: str, data: bytes, size: int, block: int) -> None:
    check(data, LAYOUTS[name], size, block)


ROWS = [
    "a\tb",
    "c d",
    "a\tb",
    "a\tb\tc",
    "a b  c",
    f"1\té\t{FULL}",
    "1\tx\ty",
    "a\t\tc",
    "\ta\tb",
    "a b\t",
    " a  b ",
    "",
]


@pytest.mark.parametrize("name", LABELLED)
@given(data=files(LINES | st.sampled_from(ROWS)), **SIZES)
@example(data=b"a b\na\tb\n \n\nc  d \na\tb", size=1, block=1)
@example(data=b"a b c\na\tb\tc\n\t\tc\n\n", size=1, block=30)
def test_labels_on_lines(name: str, data: bytes, size: int, block: int) -> None:
    check_labelled(data, LABELLED[name], size, block)


@given(
    data=files(st.lists(st.sampled_from(["a/b", "a/b", "1/2/c", "x/", "/x", "/", "é/ä", *WHITE])).map("".join)), **SIZES
)
@example(data=b"a/b  c/d \n\na/b/c\n", size=1, block=1)
def test_labels_after_slashes(data: bytes, size: int, block: int) -> None:
    check_labelled(data, LABELLED["slashed"], size, block)


USUAL_LABELLED = {
    "slashed": "The/DT dog/NN barks/VBZ\n\n1/2/CD  né/NN \n/// x// ,//\n",
    "underscored": "The_DT dog_NN barks_VBZ\n\n1_2_CD  né_NN \n___ x__ ,__\n",
    "columns": "The\tDT\ndog  NN\n\n\n né ä\n#\t#\n\n",
    "label first": "DT\tThe\tx y\nNN dog  z\n\n",
    "conllu": USUAL_CONLLU,
    "two of conllu": f"# c\n1\tné\t{FULL}\n2\tdog\t{FULL}\n\n",
    "short": "1\tné\tx\n1-2\t_\t_\n2\ta\ty\n\n",
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("name", LABELLED)
def test_usual_labelled_files_go_the_fast_way(name: str, start: str, end: str) -> None:
    data = (start + USUAL_LABELLED[name]).replace("\n", end).encode()
    for size, block in ((len(data), 1 << 20), (1, 1), (7, 1)):
        assert check_labelled(data, LABELLED[name], size, block) == 0


USUAL = {
    "plain": "The dog barks .\n\nShe  sleeps , né .  \n日本 x/y\n",
    "slashed": "The/DT dog/NN barks\n1/2/CD  x/ \n/// x//\n",
    "underscored": "The_DT dog_NN barks\n1_2_CD  x_ \n___ x__ //\n",
    "columns": "The\ndog\n\n# a\tb\nc d  e\n \nné\n\n",
    "even columns": "The DT\ndog\tNN\n\n  x  Y\n\n",
    "second column": "The DT\ndog\tNN\n\n  x  Y z\n\n",
    "two columns": "The DT\ndog\tN N\tX\n\n  x  Y z\n\n",
    "conllu": USUAL_CONLLU,
    "two of conllu": f"# c\n1\tné\t{FULL}\n2\tdog\t{FULL}\n\n",
    "short": "1\tné\tx\n1-2\t_\t_\n2\t\ty\n\n",
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\n \n"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_usual_files_go_the_fast_way(name: str, start: str, end: str) -> None:
    data = (start + USUAL[name]).replace("\n", end).encode()
    if LAYOUTS[name].format in ("plain", "slashed") and start.isspace():
        data = data.replace(b" ", b"", 1)
    assert check(data, LAYOUTS[name], len(data), 1 << 20) == 0
    for size in range(1, len(data)):
        assert check(data, LAYOUTS[name], size, 1) == 0


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_last_line_without_an_end(name: str) -> None:
    data = USUAL[name].rstrip().encode()
    assert check(data, LAYOUTS[name], 7, 1 << 20) == 0


UNUSUAL = {
    "plain": [b" a\n", b"a\tb\n", b"a\0\n", b"a\xff\n", b"a\rb\n", b"a\r\n\nb\r\n", b"x" * (MAX_TOKEN + 1) + b"\n"],
    "columns": [b"a\n" + b"x" * (MAX_TOKEN + 1) + b"\n\n", b"\ta\n", b"# global.columns = A\na\n\n", b"a\r\nb\n"],
    "second column": [b"a\n", b"a b\nc\n", b"a\t\n"],
    "conllu": [
        b"1\ta\n", b"# c\n", f"1-2\ta\t{FULL}\n\n1\ta\t{FULL}\n".encode(), f"x\ta\t{FULL}\n".encode(),
        f"1\t\t{FULL}\n".encode(), f"1-2\ta\t{FULL}\n".encode(), f"٣\ta\t{FULL}\n".encode(),
        b"#" + b"c" * MAX_TOKEN + b"\n" + f"1\ta\t{FULL}\n".encode(),
    ],
}  # fmt: skip


@pytest.mark.parametrize(("name", "data"), [(name, data) for name, some in UNUSUAL.items() for data in some])
def test_unusual_blocks_do_not(name: str, data: bytes) -> None:
    newline = "\r\n" if data.split(b"\n")[0].endswith(b"\r") else "\n"
    assert by_kernels(Block(data, 1, newline), LAYOUTS[name], labels_for(LAYOUTS[name])) is None


def test_labels_that_cannot_be_written() -> None:
    plain, columns = (FORMATS[name].rules for name in ("plain", "columns"))
    assert plain is not None
    assert columns is not None
    for label in ("", "a/b", "a b", "a\tb", "\ud800"):
        assert not can_write(plain, Layout("plain"), ["A", label])
    assert can_write(plain, Layout("plain"), ["/", "_", "a_b"])
    assert not can_write(plain, Layout("plain", separator="_"), ["a_b"])
    for label in ("a\tb", "a\n", "\ud800"):
        assert not can_write(columns, Layout("columns"), ["A", label])
    assert can_write(columns, Layout("columns"), ["", "a/b", "a b"])


def test_layouts_that_are_not_for_the_fast_way() -> None:
    conllu, labelled = Layout("conllu", None, (1,), (), 10), Layout("columns", 1, (0,), (), 2)
    assert find_rules(FORMATS["conllu"], conllu, labelled=False) is None  # there is no column to fill
    assert find_rules(FORMATS["conllu"], conllu, labelled=True) is None
    assert find_rules(FORMATS["columns"], labelled, labelled=False) is None
    assert find_rules(FORMATS["columns"], LAYOUTS["columns"], labelled=True) is None
    assert find_rules(FORMATS["plain"], LAYOUTS["plain"], labelled=True) is None
    for way in (False, True):
        assert find_rules(FORMATS["crfsuite"], Layout("crfsuite", 0, (1,)), labelled=way) is None


def test_a_format_that_reads_in_its_own_way_is_left_alone() -> None:
    class Own(ColumnsFormat):
        pass

    assert find_rules(Own(), LAYOUTS["columns"], labelled=False) is None


@given(st.lists(st.one_of(
    st.binary(max_size=4), st.text(max_size=3).map(lambda s: s.encode("utf-8", "surrogatepass")),
    st.sampled_from([b"x" * 64, b"\xf4\x90\x80\x80", b"\xe0\x9f\xbf", b"\xed\xa0\x80", b"\xc1\xbf",
                     b"\xf0\x8f\xbf\xbf", b"x" * 200]),
)))  # fmt: skip
@example([b"\xf4\x8f\xbf\xbf", b"\xe0\xa0\x80", b"\xed\x9f\xbf", b"\xc2\x80", b"\xf0\x90\x80\x80"])
def test_what_is_utf8(parts: list[bytes]) -> None:
    check_utf8(b"".join(parts))


def test_borders_of_utf8() -> None:
    edges = (0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0)
    for sequence in product(range(0x7E, 0x100), edges, (0x7F, 0x80, 0xBF, 0xC0), (0x7F, 0x80, 0xBF, 0xC0)):
        for size in (2, 3, 4):
            check_utf8(bytes(sequence[:size]))


def check_utf8(data: bytes) -> None:
    try:
        expected = not {"\0", "\r"} & set(data.decode())
    except UnicodeDecodeError:
        expected = False
    letters = np.frombuffer(data + bytes(8), np.uint8)
    assert is_clean(letters, 0, len(data), False) == expected


def test_blocks_number_their_lines_and_are_whole() -> None:
    data = b"a\nb\n\n\nc\n\nd\n" * 50
    for size in (1, 7, 64, 1000):
        found = cut(data, size, LAYOUTS["columns"])
        assert b"".join(block.data for block in found) == data
        assert [block.number for block in found] == [
            1 + b"".join(block.data for block in found[:k]).count(b"\n") for k in range(len(found))
        ]
        assert len(found) >= min(100, len(data) // size - 2)
    assert len(cut(data, 1, LAYOUTS["columns"])) == 101


def test_a_very_long_sentence_is_not_searched_again_and_again() -> None:
    """Twice as many lines take twice the time, not four times: what was searched is counted, not the clock."""
    searched = []
    find = blocks_module.find_cut

    def spy(letters: np.ndarray, first: int, *rules: bool) -> tuple[int, int]:
        searched.append(len(letters) - first)
        return find(letters, first, *rules)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks_module, "find_cut", spy)
        assert len(cut(b"word\n" * 4000, 100, LAYOUTS["columns"])) == 1
    assert sum(searched) < 2 * 20_000
