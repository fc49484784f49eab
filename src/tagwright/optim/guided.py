"""Guided learning: the weights and the order of labelling are learned together, online; the average is kept.

GUIDED algorithm 2, for each sentence in a random order. P and Q as in chain/guided.py, with the weights of the moment:

    p = the candidate span whose top hypothesis has the highest action score U
    top hypothesis of p is the gold one       accept p
    else                                      w += f(gold action of p) − f(top action of p), and work out all of Q again

The gold action is not adopted: with the new weights, another token may be easier now. So accepted spans are always
right, and their first state is the gold one.

Three ways to learn (`mode`):

    AGGRESSIVE   as above, with a bound on the updates of a sentence: contradictory data would go on for ever
    EARLY        the search goes on as long as the gold hypothesis is in the beam (the whole sentence has one state);
                 where it falls out, all actions of the span are corrected and the sentence is left (Collins and
                 Roark 2004)
    LOCAL        no search: every token between gold labels, with and without those on either side (Tsuruoka and
                 Tsujii 2005)

margin: the gold label of every token is handicapped by it, so that it must win by more than that to be left alone.
Averages are lazy, as in optim/online.py: an update δ at step c also adds c · δ to a second vector. The state that these
kernels work on: optim/guided_state.py.
"""

from __future__ import annotations

from typing import NamedTuple

from tagwright._jit import tight_kernel
from tagwright.arrays import Doubles, Floats, Ints, Longs
from tagwright.chain.guided import (
    LEFT_TO_RIGHT,
    NONE,
    RIGHT_TO_LEFT,
    Rules,
    Search,
    accept,
    begin_search,
    read_labels,
    score_action,
    work_out,
    work_out_beside,
)
from tagwright.scores.label_contexts import NO_ENTRY, Contexts, find_place, find_slot, known_labels

AGGRESSIVE, EARLY, LOCAL = 0, 1, 2


class Tokens(NamedTuple):
    """The training text: token p has attributes[pointers[p] : pointers[p + 1]]; sentences lie between offsets."""

    offsets: Longs
    gold: Ints
    pointers: Longs
    attributes: Ints
    values: Doubles  # [0] when all are 1
    lexical: Ints  # [parts, n] numbers of the lexical parts of label templates


class Words(NamedTuple):
    """Weights of attributes: those of attribute a begin at places[a], one for each label; −1: it has none."""

    places: Longs  # [A]
    weights: Floats
    late: Doubles


class Learned(NamedTuple):
    """What training keeps beside the weights of label contexts: lazy sums, the keys of entries, how many there are."""

    rows: Doubles  # [R, P]
    entries: Doubles  # [N]
    keys: Longs  # [N]
    sizes: Longs  # [2]: keys, entries


class Manner(NamedTuple):
    """How to learn."""

    n_labels: int
    rules: Rules
    direction: int
    mode: int
    margin: float
    bound: int  # on the updates of a sentence, for each of its tokens


@tight_kernel
def score_words(tokens: Tokens, words: Words, Y: int, p: int, margin: float, row: Floats) -> None:
    """row [P] = the scores of token p by its attributes, its gold label handicapped."""
    weighted = tokens.values.shape[0] > 0
    for y in range(row.shape[0]):
        row[y] = 0
    row[tokens.gold[p]] = -margin
    for e in range(tokens.pointers[p], tokens.pointers[p + 1]):
        place = words.places[tokens.attributes[e]]
        if place < 0:
            continue
        if weighted:
            for y in range(Y):
                row[y] += tokens.values[e] * words.weights[place + y]
        else:
            for y in range(Y):
                row[y] += words.weights[place + y]


@tight_kernel
def score_label(tokens: Tokens, words: Words, p: int, margin: float, y: int) -> float:
    """One of these scores."""
    weighted = tokens.values.shape[0] > 0
    total = -margin if y == tokens.gold[p] else 0.0
    for e in range(tokens.pointers[p], tokens.pointers[p + 1]):
        place = words.places[tokens.attributes[e]]
        if place >= 0:
            total += tokens.values[e] * words.weights[place + y] if weighted else words.weights[place + y]
    return total


@tight_kernel
def change_words(tokens: Tokens, words: Words, p: int, gold: int, wrong: int, clock: float) -> None:
    """w += for the gold label, −= for the wrong one, on every attribute of token p."""
    weighted = tokens.values.shape[0] > 0
    for e in range(tokens.pointers[p], tokens.pointers[p + 1]):
        place = words.places[tokens.attributes[e]]
        if place >= 0:
            size = tokens.values[e] if weighted else 1.0
            words.weights[place + gold] += size
            words.late[place + gold] += clock * size
            words.weights[place + wrong] -= size
            words.late[place + wrong] -= clock * size


@tight_kernel
def change_entry(contexts: Contexts, learned: Learned, key: int, y: int, size: float, clock: float) -> None:
    """w[key, y] += size; the key and its entry are made where they must be."""
    slot = find_slot(contexts.slots, key)
    if contexts.slots[slot] < 0:
        contexts.slots[slot] = key
        contexts.heads[slot] = NO_ENTRY
        learned.sizes[0] += 1
    e = contexts.heads[slot]
    while e >= 0 and contexts.labels[e] != y:
        e = contexts.following[e]
    if e < 0:
        e = learned.sizes[1]
        learned.sizes[1] += 1
        contexts.labels[e], contexts.weights[e], contexts.following[e] = y, 0, contexts.heads[slot]
        learned.keys[e], learned.entries[e] = key, 0
        contexts.heads[slot] = e
    contexts.weights[e] += size
    learned.entries[e] += clock * size


@tight_kernel
def change_contexts(
    contexts: Contexts, learned: Learned, lexical: Ints, p: int, Y: int, y: int, l2: int, l1: int, r1: int, r2: int,
    size: float, clock: float,
) -> None:  # fmt: skip
    """w += size · (the label contexts of one action)."""
    known = known_labels(Y, l2, l1, r1, r2)
    for m in range(contexts.sides[3]):
        place = find_place(contexts, m, lexical, p, known, l2, l1, r1, r2)
        if place < 0:
            continue
        if contexts.lexical[m] < 0:
            contexts.rows[place, y] += size
            learned.rows[place, y] += clock * size
        else:
            change_entry(contexts, learned, place, y, size, clock)


@tight_kernel
def seen_label(labels: Ints, t: int, seen: bool, Y: int) -> int:
    return int(labels[t]) if seen else Y


@tight_kernel
def correct(
    tokens: Tokens, words: Words, contexts: Contexts, learned: Learned, first: int, k: int, Y: int,
    n_left: int, n_right: int, gold: Ints, path: Ints, clock: float,
) -> None:  # fmt: skip
    """w += f(action of token k in gold) − f(the one in path), with n_left and n_right labels known beside it."""
    if gold[k] != path[k]:
        change_words(tokens, words, first + k, gold[k], path[k], clock)
    for sign in (1, -1):
        labels = gold if sign > 0 else path
        change_contexts(
            contexts, learned, tokens.lexical, first + k, Y, labels[k],
            seen_label(labels, k - 2, n_left > 1, Y), seen_label(labels, k - 1, n_left > 0, Y),
            seen_label(labels, k + 1, n_right > 0, Y), seen_label(labels, k + 2, n_right > 1, Y), sign, clock,
        )  # fmt: skip


@tight_kernel
def correct_action(
    search: Search, tokens: Tokens, words: Words, contexts: Contexts, learned: Learned, first: int, k: int, Y: int,
    gold: Ints, path: Ints, clock: float,
) -> None:  # fmt: skip
    """The same for the labels that the search knew when it labelled token k."""
    n_left, n_right = k - search.bounds[k, 0], search.bounds[k, 1] - k
    correct(tokens, words, contexts, learned, first, k, Y, n_left, n_right, gold, path, clock)


@tight_kernel
def is_open(search: Search, k: int, n: int, direction: int) -> bool:
    """Whether token k may be labelled next, in a fixed direction; all of them may, in both."""
    if direction == LEFT_TO_RIGHT:
        return k == 0 if search.begins[1] < 0 else k == search.bounds[search.begins[1], 1] + 1
    if direction == RIGHT_TO_LEFT:
        return k == n - 1 if search.ends[n] < 0 else k == search.bounds[search.ends[n], 0] - 1
    return True


@tight_kernel
def learn_aggressively(
    search: Search, tokens: Tokens, words: Words, contexts: Contexts, learned: Learned, manner: Manner, first: int,
    gold: Ints, clock: float, emission: Floats, done: Ints, path: Ints,
) -> int:  # fmt: skip
    """One sentence, until it is labelled right or the bound is reached; returns the number of updates."""
    n, Y, bound = gold.shape[0], manner.n_labels, manner.bound * gold.shape[0]
    begin_search(search, n)
    done[:n] = 0
    for k in range(n):
        if is_open(search, k, n, manner.direction):
            work_out(search, contexts, tokens.lexical, first, k, n, Y, manner.rules, emission[k])
    updates, accepted = 0, 0
    while accepted < n:
        k = search.easiest[1]
        if search.label[k, 0] == gold[k] and search.left[k, 0] == 0 and search.right[k, 0] == 0:
            accept(search, k)
            done[k] = 1
            accepted += 1
            work_out_beside(search, contexts, tokens.lexical, first, k, n, Y, manner.rules, emission, manner.direction)
            continue
        if updates == bound:
            break
        updates += 1
        read_labels(search, k, 0, path)
        correct_action(search, tokens, words, contexts, learned, first, k, Y, gold, path, clock)
        right, wrong = gold[k], path[k]
        for t in range(n):
            if done[t] == 0:
                emission[t, right] = score_label(tokens, words, first + t, manner.margin, right)
                emission[t, wrong] = score_label(tokens, words, first + t, manner.margin, wrong)
                if is_open(search, t, n, manner.direction):
                    work_out(search, contexts, tokens.lexical, first, t, n, Y, manner.rules, emission[t])
    return updates


@tight_kernel
def learn_early(
    search: Search, tokens: Tokens, words: Words, contexts: Contexts, learned: Learned, manner: Manner, first: int,
    gold: Ints, clock: float, emission: Floats, place: Ints, path: Ints,
) -> int:  # fmt: skip
    """One sentence, until the gold hypothesis is lost; place[k]: where it is in the beam of span k."""
    n, Y = gold.shape[0], manner.n_labels
    begin_search(search, n)
    for k in range(n):
        if is_open(search, k, n, manner.direction):
            work_out(search, contexts, tokens.lexical, first, k, n, Y, manner.rules, emission[k])
    for _ in range(n):
        k = search.easiest[1]
        accept(search, k)
        left, right = search.bounds[k, 2], search.bounds[k, 3]
        place[k] = NONE
        for b in range(search.n_states[k]):
            fits = search.label[k, b] == gold[k]
            fits = fits and (left < 0 or search.left[k, b] == place[left])
            if fits and (right < 0 or search.right[k, b] == place[right]):
                place[k] = b
        if place[k] == NONE:
            read_labels(search, k, 0, path)
            for t in range(search.bounds[k, 0], search.bounds[k, 1] + 1):
                correct_action(search, tokens, words, contexts, learned, first, t, Y, gold, path, clock)
            return 1
        work_out_beside(search, contexts, tokens.lexical, first, k, n, Y, manner.rules, emission, manner.direction)
    return 0


@tight_kernel
def learn_locally(
    search: Search, tokens: Tokens, words: Words, contexts: Contexts, learned: Learned, manner: Manner, first: int,
    gold: Ints, clock: float, emission: Floats, path: Ints,
) -> int:  # fmt: skip
    """Every token of one sentence between gold labels: none, those on the left, those on the right, all."""
    n, Y = gold.shape[0], manner.n_labels
    updates = 0
    row = search.row[0]
    for k in range(n):
        path[k] = gold[k]
    for k in range(n):
        score_words(tokens, words, Y, first + k, manner.margin, emission[k])
        for sides in range(4):
            n_left, n_right = k if sides & 1 else 0, n - 1 - k if sides & 2 else 0
            if (sides & 1 and k == 0) or (sides & 2 and k == n - 1):
                continue
            score_action(
                contexts, tokens.lexical, first + k, emission[k], Y,
                seen_label(gold, k - 2, n_left > 1, Y), seen_label(gold, k - 1, n_left > 0, Y),
                seen_label(gold, k + 1, n_right > 0, Y), seen_label(gold, k + 2, n_right > 1, Y), row,
            )  # fmt: skip
            best = 0
            for y in range(1, Y):
                best = y if row[y] > row[best] else best
            if best != gold[k]:
                updates += 1
                path[k] = best
                correct(tokens, words, contexts, learned, first, k, Y, n_left, n_right, gold, path, clock)
                path[k] = gold[k]
                emission[k, gold[k]] = score_label(tokens, words, first + k, manner.margin, gold[k])
                emission[k, best] = score_label(tokens, words, first + k, manner.margin, best)
    return updates


@tight_kernel
def guided_pass(
    order: Longs, search: Search, tokens: Tokens, words: Words, contexts: Contexts, learned: Learned, manner: Manner,
    clock: int, emission: Floats, done: Ints, path: Ints, counts: Longs,
) -> int:  # fmt: skip
    """Sentences in this order, as long as there is room for what the next one may add; how many were done.

    counts [2]: += updates; sentences with an update. Work: emission [L, P], done and path [L].
    """
    for i in range(order.shape[0]):
        begin, end = tokens.offsets[order[i]], tokens.offsets[order[i] + 1]
        n = end - begin
        most = 2 * contexts.sides[3] * n * max(manner.bound, 4)
        n_keys, n_entries = learned.sizes[0] + most, learned.sizes[1] + most
        if n_entries > contexts.labels.shape[0] or 2 * n_keys > contexts.slots.shape[0]:
            return i
        for t in range(n):
            score_words(tokens, words, manner.n_labels, begin + t, manner.margin, emission[t])
        now, gold, updates = float(clock + i), tokens.gold[begin:end], 0
        if manner.mode == AGGRESSIVE:
            updates = learn_aggressively(
                search, tokens, words, contexts, learned, manner, begin, gold, now, emission, done, path
            )
        elif manner.mode == EARLY:
            updates = learn_early(
                search, tokens, words, contexts, learned, manner, begin, gold, now, emission, done, path
            )
        else:
            updates = learn_locally(search, tokens, words, contexts, learned, manner, begin, gold, now, emission, path)
        counts[0] += updates
        counts[1] += updates > 0
    return int(order.shape[0])
