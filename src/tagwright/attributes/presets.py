"""Ready-made feature sets, as template text.

Nothing but data: edit the text to change a preset; nothing else depends on it (a model stores its own templates).
`templates.resolve` turns a name into a set. It repeats the lines in `other_columns` for every column beyond the word,
with `:C` as that column's number; data with one column skips them.

s1, s2, s3: the sets of Altun, Johnson and Hofmann, "Investigating loss functions and optimization methods for
discriminative learning of label sequences" (2003), section 4.2. a to e: the sets of Shen, Satta and Joshi,
"Guided learning for bidirectional sequence classification" (2007), table 2; ratnaparkhi: a without its labels.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Preset:
    """A feature set as text.

    doc: one line for the user; words: templates of column 0; other_columns: of every further column `:C`
    """

    doc: str
    words: str
    other_columns: str = ""


_WORDS = """
        word prefix(1..4) suffix(1..4) has_digit has_capital has_hyphen @ 0
        word @ -2, -1, 1, 2
        """
_POS = """
        word lower prefix(1..4) suffix(1..4) lsuffix(2..5) shape longshape @ 0
        capitalised all_capitals mixed_case has_digit has_hyphen has_dot capital_dot punctuation @ 0
        word lower suffix(1..3) shape @ -1, 1
        word @ -2, 2
        word[-1] & word[0] @ 0..1
        capitalised[0] & edge[-1]
        """
_A = """
        label @ -1
        label[-2] & label[-1]
        """
_B = """
        label @ 1
        label[-1] & label[1]
        label[1] & label[2]
        """
_C = """
        label @ -2, 2
        label[-2] & word[0]
        label[-1] & word[0]
        label[1] & word[0]
        label[2] & word[0]
        label[-2] & label[-1] & word[0]
        label[-1] & label[1] & word[0]
        label[1] & label[2] & word[0]
        """
_LABELS = _A + _B + _C
_D = "word[-1] & word[0] @ 0..1"
_E = "prefix(5..9) suffix(5..9) @ 0"
_FURTHER = "word:C @ -1..1"

CLUSTERS = "cluster(32) @ -1..1"
"""What a set without a template of word clusters gets when there are some. Whole paths: on EWT, with a tenth of the
labels (dev set), better than paths and prefixes of them."""

PRESETS: dict[str, Preset] = {
    "s1": Preset("the current word alone: what an HMM sees", "word @ 0"),
    "s2": Preset(
        "s1 and the spelling of the current word",
        # The 2003 loss-function paper says "some of the features are"; sentence-initial, has_dot and has_digit are
        # from section 5.1 of the same authors' large-margin paper.
        """
        word suffix(1..3) first_type capital_dot all_capitals has_hyphen has_dot has_digit @ 0
        edge @ -1                     # first in the sentence
        """,
    ),
    "s3": Preset(
        "s2 for the previous, the current and the next word",
        """
        word suffix(1..3) first_type capital_dot all_capitals has_hyphen has_dot has_digit @ -1..1
        # First in the sentence is `word[-1]=<s>` here. That the previous word is first is left out: one more slot.
        """,
    ),
    "ratnaparkhi": Preset(
        "words within 2; affixes to 4 letters, digit, capital and hyphen of the current word (Ratnaparkhi 1996)",
        _WORDS,
    ),
    "a": Preset("ratnaparkhi, the label before, and the two before (guided)", _WORDS + _A, _FURTHER),
    "b": Preset("a, and labels on the right (guided)", _WORDS + _A + _B, _FURTHER),
    "c": Preset("b, single labels two away, labels joined with the word (guided)", _WORDS + _LABELS, _FURTHER),
    "d": Preset("c, and pairs of words (guided)", _WORDS + _LABELS + _D, _FURTHER),
    "e": Preset("d, and affixes to 9 letters (guided)", f"{_WORDS}{_LABELS}{_D}\n{_E}", _FURTHER),
    "best": Preset(
        "part of speech at its best: pos, the labels of c, endings of neighbours, more pairs (guided)",
        _POS
        + _LABELS
        + """
        lower @ -2, 2
        lsuffix(2..3)[-1] & word[0]
        word[0] & lsuffix(2..3)[1]
        lower[-1] & lower[1]
        lower[-2] & lower[-1]
        lower[1] & lower[2]
        shape[-1] & shape[0] & shape[1]
        lprefix(2..3)[0] & lsuffix(2..3)[0]
        lsuffix(3)[-1] & lsuffix(3)[0] @ 0..1
        """,
        _FURTHER,
    ),
    "pos": Preset(
        "part of speech: words within 2, affixes and shapes within 1, word pairs",
        _POS,
        _FURTHER,
    ),
    "ner": Preset(
        "named entities: words and shapes within 2, affixes, pairs of words and of shapes; other columns within 2",
        """
        word lower prefix(1..5) suffix(1..5) shape longshape digits @ 0
        capitalised all_capitals mixed_case has_digit all_digits has_hyphen has_dot capital_dot punctuation @ 0
        word lower shape longshape @ -1, 1
        word shape @ -2, 2
        word[-1] & word[0] @ 0..1
        shape[-1] & shape[0] @ 0..1
        shape[-1] & shape[0] & shape[1]
        lower[-1] & shape[0]
        shape[0] & lower[1]
        """,
        """
        word:C @ -2..2
        word:C[-1] & word:C[0] @ 0..1
        """,
    ),
    "chunk": Preset(
        "chunks: words within 2 and their pairs, affixes; parts of speech (column 1), up to 4, pairs with words",
        """
        word lower prefix(1..3) suffix(1..4) shape @ 0
        word @ -2, -1, 1, 2
        suffix(2..3) shape @ -1, 1
        word[-1] & word[0] @ 0..1
        """,
        """
        word:C @ -2..2
        word:C[-1] & word:C[0] @ -1..2
        word:C[-1] & word:C[0] & word:C[1] @ -1..1
        word:C[-2] & word:C[-1] & word:C[0] & word:C[1] @ 0..1
        word[0] & word:C[0] @ -1..1
        word[-1] & word:C[0] @ 0..1
        word:C[-1] & word[0] @ 0..1
        """,
    ),
}
