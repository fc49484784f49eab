"""Text: strings as pieces of one long array of letters, looked up and spelled out by kernels.

    strings.py        Strings: many strings end to end; from lists of Python strings, and back
    hash_tables.py    numbers ─► numbers, strings ─► numbers: known ones are found, unknown strings are numbered
    characters.py     what is true of a character, as tables for kernels
    spelling.py       the functions that templates name (suffix, shape, capitalised ...), each defined once

Letters are UTF-8, as files have them. Strings stop here: everything after the encoder sees integers.
"""
