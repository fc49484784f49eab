"""Inputs for programs.py, the same in every run: random mixtures of words from the packages' own lists and models.

They look at the files of a package without importing it, so that both runs get what neither has touched.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from random import Random

from tagwright.crfsuite import find_model, read_model, unpack_model

FIRST = [
    "Mary",
    "James",
    "Patricia",
    "Robert",
    "Linda",
    "Ana",
    "Wei",
    "Jürgen",
    "Fatima",
    "Olga",
    "O'Neil",
    "Jean-Paul",
    "Sven",
]
LAST = [
    "Smith",
    "Johnson",
    "Garcia",
    "Müller",
    "Nguyen",
    "Kowalski",
    "de",
    "la",
    "Cruz",
    "Van",
    "Buren",
    "McDonald",
    "Singh",
    "Wong",
]
TITLES = ["Mr", "Mrs.", "Dr.", "Prof", "", "", ""]
COMPANIES = [
    "Sitwell",
    "Housing",
    "Acme",
    "Northern",
    "Consolidated",
    "Paper",
    "Global",
    "River",
    "First",
    "National",
    "Software",
    "Brothers",
]
KINDS = ["Inc", "LLC", "& Co.", "Ltd", "Corporation", "of Chicago", "Foundation"]
STREETS = [
    "Main",
    "Oak",
    "Martin",
    "Luther",
    "King",
    "Washington",
    "5th",
    "42nd",
    "Sunset",
    "Lakeview",
    "Broadway",
    "County",
]
TYPES = ["St.", "Street", "Ave", "Blvd", "Road", "Dr", "Hwy 12", "Pkwy NW"]
TOWNS = ["Chicago, IL", "New York NY", "San Jose CA", "Salt Lake City, UT", "St. Louis MO", "Boston, MA"]
THAI_TAGS = ["NOUN", "VERB", "ADP", "PROPN", "PUNCT", "NUM", "ADV", "PRON"]
LINKS = ["next", "2", "3", "previous", "older posts", "›", "About us", "Contact", "page 4", "Last »", "Read more"]
PATHS = ["/blog?page={}", "/page/{}", "/item/{}", "/news/2016/{}.html", "#top", "/search?q=a&p={}", "/about"]


def folder_of(package: str) -> Path:
    """Where a package is installed; LookupError where it is not."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise LookupError(f"{package} is not installed")
    return Path(spec.origin).parent


def addresses(random: Random) -> str:
    number, zip_code = random.randint(1, 9999), random.randint(10000, 99999)
    street = " ".join(random.sample(STREETS, random.randint(1, 2)))
    unit = random.choice(["", "", f" Apt {random.randint(1, 40)}", " Suite 100", ", P.O. Box 77", " #3B"])
    return f"{number} {street} {random.choice(TYPES)}{unit}, {random.choice(TOWNS)} {zip_code}"


def names(random: Random) -> str:
    if random.random() < 0.4:
        return " ".join([*random.sample(COMPANIES, random.randint(1, 3)), random.choice(KINDS)])
    words = [random.choice(TITLES), *random.sample(FIRST, random.randint(1, 2)), *random.sample(LAST, 1)]
    if random.random() < 0.3:
        words += [random.choice(["Jr.", "III", "PhD", "and " + random.choice(FIRST)])]
    return " ".join(filter(None, words))


def page(random: Random) -> str:
    links = []
    for _ in range(random.randint(3, 25)):
        path, text = random.choice(PATHS).format(random.randint(1, 30)), random.choice(LINKS)
        links.append(
            f'<li class="{random.choice(["pager", "menu", "item next", ""])}"><a href="{path}">{text}</a></li>'
        )
    return f"<html><body><p>Some text.</p><ul>{''.join(links)}</ul></body></html>"


def thai(words: Sequence[str]) -> Callable[[Random], str]:
    def make(random: Random) -> str:
        parts = [random.choice(words) for _ in range(random.randint(3, 40))]
        return "".join(part + (" " if random.random() < 0.1 else "") for part in parts)

    return make


def tagged(words: Sequence[str]) -> Callable[[Random], list[list[str]]]:
    return lambda random: [[random.choice(words), random.choice(THAI_TAGS)] for _ in range(random.randint(2, 25))]


def joined(pieces: Sequence[str], separator: str) -> Callable[[Random], str]:
    return lambda random: separator.join(random.choice(pieces) for _ in range(random.randint(3, 40)))


def listed(pieces: Sequence[str]) -> Callable[[Random], list[str]]:
    return lambda random: [random.choice(pieces) for _ in range(random.randint(2, 25))]


def thai_words() -> list[str]:
    return read_lines(folder_of("pythainlp") / "corpus" / "words_th.txt")


def vietnamese_words() -> list[str]:
    return [word for line in read_lines(folder_of("pyvi") / "models" / "words.txt") for word in line.split()]


def sinhala_words() -> list[str]:
    lines = read_lines(folder_of("sinling") / "resources" / "stem_dictionary.txt")
    return [line.split("\t")[0] for line in lines]


def burmese_pieces() -> list[str]:
    """Four letters that training had in a row."""
    model = read_model(folder_of("pyidaungsu") / "model" / "tokenizer.crfsuite")
    return [name.removeprefix("char-3:0=") for name in model.attributes if name.startswith("char-3:0=")]


def khmer_pieces() -> list[str]:
    """Four clusters of letters that training had in a row."""
    [pickled] = (folder_of("khmernltk") / "word_tokenize").glob("*.sav")
    model = unpack_model(find_model(pickled.read_bytes()))
    return [name.removeprefix("kcc[0:+3]:") for name in model.attributes if name.startswith("kcc[0:+3]:")]


def without_accents(text: str) -> str:
    letters = unicodedata.normalize("NFD", text.replace("đ", "d").replace("Đ", "D"))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def read_lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def accentless(random_text: Callable[[Random], str]) -> Callable[[Random], str]:
    return lambda random: without_accents(random_text(random))


MAKERS: dict[str, Callable[[], Callable[[Random], object]]] = {
    "usaddress": lambda: addresses,
    "probablepeople": lambda: names,
    "crfcut": lambda: thai(thai_words()),
    "han_solo": lambda: thai(thai_words()),
    "crfchunk": lambda: tagged(thai_words()),
    "ssg": lambda: thai(thai_words()),
    "tltk": lambda: tagged(thai_words()),
    "pyvi": lambda: joined(vietnamese_words(), " "),
    "pyvi_accents": lambda: accentless(joined(vietnamese_words(), " ")),
    "pyidaungsu": lambda: joined(burmese_pieces(), ""),
    "khmernltk": lambda: joined(khmer_pieces(), ""),
    "sinling": lambda: listed(sinhala_words()),
    "autopager": lambda: page,
}


def make_inputs(name: str, n: int) -> list[object]:
    """n inputs for a program."""
    random, make = Random(name), MAKERS[name]()
    return [make(random) for _ in range(n)]
