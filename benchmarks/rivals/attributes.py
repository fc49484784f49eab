"""The attributes that rivals get, in plain Python: the same as our templates give, name by name (a test compares them).

plain   words and spelling (EWT, WSJ)       ner     plain, and the POS column within 2
chunk   the CRFsuite tutorial's             pos     our preset of that name

What belongs to a word is computed once per word and remembered, so rates are better than most users see.
"""

import unicodedata
from itertools import groupby

CACHE = {}


def forget():
    """Remember nothing, as a program that has just begun."""
    CACHE.clear()


def affixes(name, text, lengths, ends):
    return [f"{name}{n}[0]={text[-n:] if ends else text[:n]}" for n in lengths if len(text) >= n]


def flags(word):
    letters = [c for c in word if c.isalpha()]
    found = {
        "capitalised": word[:1].istitle(),
        "all_capitals": bool(letters) and all(c.istitle() for c in letters),
        "has_digit": any(c.isdecimal() for c in word),
        "has_hyphen": "-" in word,
        "has_dot": "." in word,
    }
    return [f"{name}[0]" for name, there in found.items() if there]


def word_part(word):
    """Of the current word alone."""
    key = "plain", word
    found = CACHE.get(key)
    if found is None:
        found = [f"word[0]={word}", f"lower[0]={word.lower()}"]
        found += affixes("prefix", word, range(1, 5), False) + affixes("suffix", word, range(1, 5), True) + flags(word)
        CACHE[key] = found
    return found


def plain(words):
    padded = ["<s>", "<s>", *words, "</s>", "</s>"]
    rows = []
    for t, word in enumerate(words):
        row = word_part(word).copy()
        row.append("word[-2]=" + padded[t])
        row.append("word[-1]=" + padded[t + 1])
        row.append("word[1]=" + padded[t + 3])
        row.append("word[2]=" + padded[t + 4])
        rows.append(row)
    return rows


def ner(items):
    rows = plain([word for word, _ in items])
    tags = ["<s>", "<s>", *[tag for _, tag in items], "</s>", "</s>"]
    for t, row in enumerate(rows):
        row += [f"word:1[{k - 2}]={tags[t + k]}" for k in range(5)]
    return rows


def joined(column, padded, t, places):
    """A conjunction: `padded` begins three before the sentence."""
    names = "&".join([f"{column}[{k}]" for k in places])
    return names + "=" + "&".join([padded[t + 3 + k] for k in places])


def chunk(items):
    words = ["<s>"] * 3 + [word for word, _ in items] + ["</s>"] * 3
    tags = ["<s>"] * 3 + [tag for _, tag in items] + ["</s>"] * 3
    rows = []
    for t in range(len(items)):
        row = [f"word[{k}]={words[t + 3 + k]}" for k in range(-2, 3)]
        row += [joined("word", words, t, (k, k + 1)) for k in (-1, 0)]
        row += [f"word:1[{k}]={tags[t + 3 + k]}" for k in range(-2, 3)]
        row += [joined("word:1", tags, t, (k, k + 1)) for k in range(-2, 2)]
        row += [joined("word:1", tags, t, (k, k + 1, k + 2)) for k in range(-2, 1)]
        rows.append(row)
    return rows


def classes(text):
    found = []
    for c in text:
        if c.istitle():
            found.append("X")
        elif c.islower():
            found.append("x")
        elif c.isdecimal():
            found.append("d")
        elif c.isalpha():
            found.append("o")
        elif not unicodedata.category(c).startswith("M"):
            found.append(c)
    return "".join(found)


def shape(word):
    return "".join([c for c, _ in groupby(classes(word[:64]))])


def pos_parts(word):
    """Of a word as the current one, as the one before, as the one after; and whether it is capitalised."""
    key = "pos", word
    found = CACHE.get(key)
    if found is None:
        low, form = word.lower(), shape(word)
        own = [f"word[0]={word}", f"lower[0]={low}"]
        own += affixes("prefix", word, range(1, 5), False) + affixes("suffix", word, range(1, 5), True)
        own += affixes("lsuffix", low, range(2, 6), True)
        own += [f"shape[0]={form}", f"longshape[0]={classes(word[:12])}", *flags(word)]
        capital = word[:1].istitle()
        if any(c.istitle() for c in word[1:]) and "all_capitals[0]" not in own:
            own.append("mixed_case[0]")
        if capital and "." in word:
            own.append("capital_dot[0]")
        if not any(c.isalpha() or c.isdecimal() for c in word):
            own.append("punctuation[0]")
        near = []
        for k in (-1, 1):
            part = [f"word[{k}]={word}", f"lower[{k}]={low}"]
            part += [f"suffix{n}[{k}]={word[-n:]}" for n in range(1, 4) if len(word) >= n]
            near.append([*part, f"shape[{k}]={form}"])
        found = CACHE[key] = own, *near, capital
    return found


def pos(words):
    n = len(words)
    padded = ["<s>", "<s>", *words, "</s>", "</s>"]
    rows = []
    for t, word in enumerate(words):
        own, _, _, capital = pos_parts(word)
        row = own.copy()
        row += pos_parts(words[t - 1])[1] if t else ["word[-1]=<s>", "lower[-1]=<s>"]
        row += pos_parts(words[t + 1])[2] if t < n - 1 else ["word[1]=</s>", "lower[1]=</s>"]
        row.append("word[-2]=" + padded[t])
        row.append("word[2]=" + padded[t + 4])
        row.append(f"word[-1]&word[0]={padded[t + 1]}&{word}")
        row.append(f"word[0]&word[1]={word}&{padded[t + 3]}")
        if capital and t == 0:
            row.append("capitalised[0]&edge[-1]=<s>")
        rows.append(row)
    return rows


SETS = {"plain": plain, "ner": ner, "chunk": chunk, "pos": pos}
