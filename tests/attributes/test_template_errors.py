"""What cannot be a template: the place, what was found and the cure are in the message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagwright.attributes.language import Cell, Term
from tagwright.attributes.templates import FeatureSet, resolve
from tagwright.errors import TemplateError

BAD = {
    "sufix(3) @ 0": "unknown function `sufix`; did you mean `suffix(n)`? The functions are: word, lower, prefix,",
    "suffix3 @ 0": "did you mean `suffix(n)`?",
    "qqq @ 0": "unknown function `qqq`; The functions are: word,",
    "suffix @ 0": "`suffix` needs a length: write `suffix(3)` or `suffix(1..3)`",
    "suffix(0) @ 0": "`suffix` takes a length from 1 to 32, found 0",
    "suffix(33) @ 0": "`suffix` takes a length from 1 to 32, found 33",
    "suffix(x) @ 0": "expected a number, found `x`",
    "suffix(3..1) @ 0": "the range `3..1` runs backwards; write `1..3`",
    "suffix(1..999999999) @ 0": "is too long",
    "word(2) @ 0": "`word` takes no argument, found 2; leave it out",
    "word @ 33": "an offset is a number from -32 to 32, found 33",
    "word @ -33..0": "an offset is a number from -32 to 32, found -33",
    "word[-33] & word[0]": "an offset is a number from -32 to 32, found -33",
    "word[-20] & word[0] @ -13": "an offset is a number from -32 to 32, found -33",
    "word @ x": "expected a number, found `x`",
    "word @ " + "9" * 5000: "expected a number",
    "word @": "expected a number, found ``",
    "word @ 0 @ 1": "expected a number, found `0 @ 1`",
    "word": "no offsets in `word`; write `word @ 0` for the current token",
    "@ 0": "no terms before `@`",
    "word,lower @ 0": "expected a term such as `word`, `suffix(3)` or `word:1`, found `word,lower`",
    "word:x @ 0": "expected a number, found `x`",
    "word:300 @ 0": "a column is a number from 0 to 255, found 300",
    "word:2 @ 0": "`word:2` needs column 2, but the data has 2 column(s)",
    "word[0] & word:2[0]": "`word:2` needs column 2, but the data has 2 column(s)",
    "suffix(1..2)[-1]": "two cells or more, found `suffix(1..2)[-1]`; for one cell write `suffix(1..2) @ -1`",
    "word[0] & word[0]": "a conjunction needs two different cells or more, found `word[0] & word[0]`",
    "word[0] & word": "expected a cell such as `word[-1]`, found `word`",
    "word[0] &": "expected a cell such as `word[-1]`, found ``",
    "word[0] lower[1]": "expected a term such as",
    "word lower[0] & word[1]": "expected one term before the bracket, found `word lower[0]`; join cells with `&`",
    " & ".join(f"prefix(1..32)[{n}]" for n in range(5)): "33554432 attributes a token; the limit is 10000",
    "suffix(1..32) prefix(1..32) lsuffix(1..32) lprefix(1..32) word @ -32..32,-32..32": "limit",
}


@pytest.mark.parametrize("line", BAD)
def test_bad_line(line: str) -> None:
    with pytest.raises(TemplateError) as caught:
        FeatureSet.parse(f"# one\nword @ 0\n{line}\nword @ 1", location="my.txt", n_columns=2)
    assert BAD[line] in str(caught.value)
    assert str(caught.value).startswith("my.txt:3: ")
    assert caught.value.location == "my.txt:3"


def test_many_lines_are_bounded() -> None:
    with pytest.raises(TemplateError, match="file:5: 10400 attributes a token"):
        FeatureSet.parse("\n".join(["prefix(1..32) @ -32..32"] * 5))


def test_objects_refuse_the_same() -> None:
    for make in (lambda: Term("sufix", 3), lambda: Term("word", column=-1), lambda: Cell(Term("word"), 33)):
        with pytest.raises(TemplateError):
            make()
    word = Cell(Term("word"))
    for cells in ((), (word,), (word, word)):
        with pytest.raises(TemplateError, match="a conjunction needs two different cells"):
            FeatureSet("custom", (), (cells,))


@given(st.text("word()[]@&:.-,#0123 \nsufix", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        features = FeatureSet.parse(text)
    except TemplateError as error:
        assert str(error).startswith("file:")  # noqa: PT017
    else:
        assert FeatureSet.parse(features.to_text()) == features


RESOLVE = {
    "ration": r"features: no preset and no file is called 'ration'; The presets are: s1, s2,",
    "chunks": r"features: no preset and no file is called 'chunks'; did you mean 'chunk'\?",
    "word @ 0\nwrd @ 0": r"features:2: unknown function `wrd`; did you mean `word`\?",
    "# nothing\n": r"features: there is no template; write for example",
    "word:1 @ 0": r"features:1: `word:1` needs column 1, but the data has 1 column\(s\)",
}


@pytest.mark.parametrize("features", RESOLVE)
def test_resolve_refuses_text(features: str) -> None:
    with pytest.raises(TemplateError, match=RESOLVE[features]):
        resolve(features, 1)


def test_resolve_refuses_sets_and_files(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match=r"features 'mine': `word:1` needs column 1, but the data has 1 column"):
        resolve(FeatureSet.build("mine", ["word:1 @ 0"]), 1)
    path = tmp_path / "bad.txt"
    with pytest.raises(TemplateError, match=r"bad\.txt: cannot read the template file: No such file"):
        resolve(path, 1)
    path.write_bytes(b"word @ 0 # \xe9t\xe9")
    with pytest.raises(TemplateError, match=r"bad\.txt: not a UTF-8 text file \(byte 11\)"):
        resolve(str(path), 1)
    path.write_text("word @ 0\nword @ 40\n")
    with pytest.raises(TemplateError, match=r"bad\.txt:2: an offset"):
        resolve(path, 1)


@pytest.mark.parametrize("features", [None, 3, [3], [["word @ 0"]]])
def test_resolve_refuses_other_types(features: Any) -> None:
    with pytest.raises(TemplateError, match="features: expected a preset's name, a template file"):
        resolve(features, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("label @ 0", "the label that is asked for"),
        ("label @ -3", r"labels up to 2 tokens away are known, found `label\[-3\]`"),
        ("label[3] & word[0]", r"found `label\[3\]`"),
        ("label[-1] & word[0] @ -2..0", r"found `label\[-3\]`"),
        ("label", "no offsets"),
        ("label:1 @ -1", "expected a label"),
        ("word label @ -1", "expected a label"),
        ("label(2) @ -1", "expected a label"),
        ("label[-1] & label[-1]", "same label twice"),
        ("label[-1] & word[0] & word[0]", "same cell twice"),
    ],
)
def test_label_templates(text: str, message: str) -> None:
    with pytest.raises(TemplateError, match=message) as found:
        FeatureSet.parse(f"word @ 0\n{text}")
    assert "file:2" in str(found.value)
