"""Bidirectional search over spans: the easiest token first, with the labels already known on either side as context.

GUIDED algorithm 1. P: accepted spans, disjoint. Q: for every token k outside them, the span that labelling k would make
of k, the accepted span that ends before it (S_L) and the one that begins after it (S_R). A hypothesis h of a span:

    U(h.A) = w · f(h.A)                          its last action: a label for k between the labels of two context states
    V(h)   = V(S_L.T) + V(S_R.T) + U(h.A)        a missing side counts 0

Hypotheses with the same boundary labels are one state, of which the best is kept; a span keeps its B best states by V.
Each step accepts the span whose top hypothesis has the highest action score U; then the two tokens beside it are worked
out anew. So at most 3 n spans are worked out: O(B² n).

Boundary labels: as many as templates look at (two at most), and none at the edges of the sentence, where no token is
left to look at them. (The paper keeps them there too; a beam is better spent on what differs for the rest of the
search.)
Ties: the smaller label, the state met first (left states outside, right ones inside), the token to the left.

Well-formed output (`Rules.gaps`, from chain/gaps.py): a label is ruled out where it may not stand beside a labelled
neighbour, or where no labels would fit into the gap between it and some state of the next accepted span. So every gap
can be filled whatever states are chosen. Labels of span schemes never come to a dead end that way. With tokens that
may have few labels alone (a dictionary) it can happen; the sentence is then labelled from left to right, where a label
is possible if and only if the rest is (`gaps.leave_possible`).

A span is known by the token k of its last action. All arrays of a Search belong to the caller.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright._registers import largest
from tagwright.arrays import Bools, Doubles, Floats, Ints, Longs
from tagwright.scores.label_contexts import Contexts, add_contexts, known_labels

BOTH, LEFT_TO_RIGHT, RIGHT_TO_LEFT = 0, 1, 2
NONE = -1


class Rules(NamedTuple):
    """What a search looks at: labels to the left and to the right, and which labels may be joined."""

    reach: Longs  # [2]
    gaps: Bools  # [M, Y, Y]: whether labels l and r may have m tokens between them; M = 0: all may


class Search(NamedTuple):
    """Work of one search, for sentences of up to L tokens and a beam of B; [k, b] is the b-th state of span k."""

    total: Doubles  # [L, B] V
    action: Doubles  # [L, B] U
    label: Ints  # [L, B] of token k
    left: Ints  # [L, B] number of the state S_L
    right: Ints  # [L, B] number of the state S_R
    faces: Ints  # [L, B, 4] boundary labels: the leftmost, the next to it; the rightmost, the next to it
    n_states: Longs  # [L]
    bounds: Longs  # [L, 4] first and last token of span k; its left and its right context span, or NONE
    begins: Longs  # [L + 2] the accepted span that begins at token t − 1, or NONE
    ends: Longs  # [L + 2] the one that ends there
    easiest: Longs  # [2 · leaves] tournament of candidates by the U of their top hypotheses
    order: Longs  # [L] tokens as they were accepted
    left_rows: Floats  # [B, P] scores of left contexts, right contexts and both
    right_rows: Floats
    row: Floats  # [1, P]
    stack: Longs  # [L, 2]

    @classmethod
    def build(cls, longest: int, beam: int, width: int, dtype: type[np.floating[Any]]) -> Search:
        """For sentences of up to `longest` tokens."""
        L, B = longest, beam
        leaves = 1 << max(L - 1, 0).bit_length()
        total, action = np.zeros((2, L, B))
        label, left, right = np.zeros((3, L, B), np.int32)
        begins, ends = np.zeros((2, L + 2), np.int64)
        left_rows, right_rows = np.zeros((2, B, width), dtype)
        return cls(
            total, action, label, left, right, np.zeros((L, B, 4), np.int32), np.zeros(L, np.int64),
            np.zeros((L, 4), np.int64), begins, ends, np.zeros(2 * leaves, np.int64), np.zeros(L, np.int64),
            left_rows, right_rows, np.zeros((1, width), dtype), np.zeros((L, 2), np.int64),
        )  # fmt: skip


@tight_kernel
def begin_search(search: Search, n: int) -> None:
    """P and Q are empty."""
    search.begins[: n + 2] = NONE
    search.ends[: n + 2] = NONE
    search.easiest[:] = NONE


@tight_kernel
def is_easier(search: Search, k: int, other: int) -> bool:
    """Whether candidate k, left of the other, goes first."""
    if k < 0 or other < 0:
        return k >= 0
    return bool(search.action[k, 0] >= search.action[other, 0])


@tight_kernel
def place_candidate(search: Search, k: int, waits: bool) -> None:
    """Token k enters Q, has a new score there, or leaves it."""
    node = search.easiest.shape[0] // 2 + k
    search.easiest[node] = k if waits else NONE
    while node > 1:
        node //= 2
        a, b = search.easiest[2 * node], search.easiest[2 * node + 1]
        search.easiest[node] = a if is_easier(search, a, b) else b


@tight_kernel
def keep_state(
    search: Search, k: int, total: float, action: float, y: int, i: int, j: int, a1: int, a2: int, b1: int, b2: int
) -> None:
    """Put one hypothesis among the B best states of span k, which are in order."""
    n, B = search.n_states[k], search.total.shape[1]
    last = n
    for b in range(n):
        face = search.faces[k, b]
        if face[0] == a1 and face[1] == a2 and face[2] == b1 and face[3] == b2:
            if search.total[k, b] >= total:
                return
            last = b
            break
    if last == n:  # a new state
        if n == B:
            last = B - 1
        else:
            search.n_states[k] = n + 1
    while last > 0 and search.total[k, last - 1] < total:
        search.total[k, last], search.action[k, last] = search.total[k, last - 1], search.action[k, last - 1]
        search.label[k, last] = search.label[k, last - 1]
        search.left[k, last], search.right[k, last] = search.left[k, last - 1], search.right[k, last - 1]
        for c in range(4):
            search.faces[k, last, c] = search.faces[k, last - 1, c]
        last -= 1
    search.total[k, last], search.action[k, last] = total, action
    search.label[k, last], search.left[k, last], search.right[k, last] = y, i, j
    face = search.faces[k, last]
    face[0], face[1], face[2], face[3] = a1, a2, b1, b2


@tight_kernel
def keep_labels(search: Search, k: int, n: int, Y: int, reach: Longs, row: Floats, i: int, j: int) -> None:
    """All labels of token k between the states i and j: row [P] has their action scores."""
    begin, end, left, right = search.bounds[k, 0], search.bounds[k, 1], search.bounds[k, 2], search.bounds[k, 3]
    before = 0.0
    if left >= 0:
        before += search.total[left, i]
    if right >= 0:
        before += search.total[right, j]
    B = search.total.shape[1]
    full = search.n_states[k] == B
    if full and not before + largest(row, Y) > search.total[k, B - 1]:
        return
    outer, inner = begin > 0 and reach[1] > 0, end < n - 1 and reach[0] > 0
    for y in range(Y):
        total = before + row[y]
        if not total > (search.total[k, B - 1] if search.n_states[k] == B else -np.inf):
            continue
        a1, a2, b1, b2 = Y, Y, Y, Y
        if outer:
            a1 = search.faces[left, i, 0] if left >= 0 else y
            if reach[1] > 1:
                if left >= 0:
                    a2 = search.faces[left, i, 1] if k - begin > 1 else y
                elif right >= 0:
                    a2 = search.faces[right, j, 0]
        if inner:
            b1 = search.faces[right, j, 2] if right >= 0 else y
            if reach[0] > 1:
                if right >= 0:
                    b2 = search.faces[right, j, 3] if end - k > 1 else y
                elif left >= 0:
                    b2 = search.faces[left, i, 2]
        keep_state(search, k, total, float(row[y]), y, i, j, a1, a2, b1, b2)


@tight_kernel
def score_action(
    contexts: Contexts, lexical: Ints, p: int, emission: Floats, Y: int, l2: int, l1: int, r1: int, r2: int, out: Floats
) -> None:
    """U of every label of the token p (of the text) between these labels; emission, out [P]."""
    known = known_labels(Y, l2, l1, r1, r2)
    for c in range(out.shape[0]):
        out[c] = emission[c]
    for side in range(3):
        add_contexts(contexts, side, lexical, p, known, l2, l1, r1, r2, out)


@tight_kernel
def rule_out_beside(gaps: Bools, l1: int, r1: int, Y: int, out: Floats) -> None:
    """out [P] = −inf for the labels that may not follow l1 or precede r1; Y: not known."""
    for y in range(Y if gaps.shape[0] > 0 else 0):
        if (l1 < Y and not gaps[0, l1, y]) or (r1 < Y and not gaps[0, y, r1]):
            out[y] = -np.inf


@tight_kernel
def rule_out_far(search: Search, gaps: Bools, k: int, n: int, Y: int, out: Floats) -> None:
    """out [P] = −inf for labels of token k that leave a gap nobody can fill: to the next accepted span on either side
    that k is not beside of, in any of its states."""
    for side in range(2):
        if (search.ends[k] if side == 0 else search.begins[k + 2]) >= 0:
            continue
        for m in range(1, gaps.shape[0]):
            t = k - 1 - m if side == 0 else k + 1 + m
            if t < 0 or t >= n:
                break
            span = search.ends[t + 1] if side == 0 else search.begins[t + 1]
            if span < 0:
                continue
            for b in range(search.n_states[span]):
                for y in range(Y):
                    fits = gaps[m, search.faces[span, b, 2], y] if side == 0 else gaps[m, y, search.faces[span, b, 0]]
                    if not fits:
                        out[y] = -np.inf
            break


@tight_kernel
def work_out(
    search: Search, contexts: Contexts, lexical: Ints, first: int, k: int, n: int, Y: int, rules: Rules,
    emission: Floats,
) -> None:  # fmt: skip
    """The states of the span that labelling token k would make; k enters Q. emission [P]: of token k, which is token
    first + k of the text."""
    left, right = search.ends[k], search.begins[k + 2]
    search.bounds[k, 0] = search.bounds[left, 0] if left >= 0 else k
    search.bounds[k, 1] = search.bounds[right, 1] if right >= 0 else k
    search.bounds[k, 2], search.bounds[k, 3] = left, right
    search.n_states[k] = 0
    for j in range(search.n_states[right] if right >= 0 else 0):
        r1, r2 = search.faces[right, j, 0], search.faces[right, j, 1]
        search.right_rows[j] = 0
        known = known_labels(Y, Y, Y, r1, r2)
        add_contexts(contexts, 1, lexical, first + k, known, Y, Y, r1, r2, search.right_rows[j])
        rule_out_beside(rules.gaps, Y, r1, Y, search.right_rows[j])
    for i in range(search.n_states[left] if left >= 0 else 1):
        l2, l1 = Y, Y
        if left >= 0:
            l1, l2 = search.faces[left, i, 2], search.faces[left, i, 3]
        part = search.left_rows[i]
        for c in range(part.shape[0]):
            part[c] = emission[c]
        add_contexts(contexts, 0, lexical, first + k, known_labels(Y, l2, l1, Y, Y), l2, l1, Y, Y, part)
        rule_out_beside(rules.gaps, l1, Y, Y, part)
        rule_out_far(search, rules.gaps, k, n, Y, part)
        if right < 0:
            keep_labels(search, k, n, Y, rules.reach, part, i, 0)
            continue
        for j in range(search.n_states[right]):
            r1, r2 = search.faces[right, j, 0], search.faces[right, j, 1]
            row = search.row[0]
            for c in range(row.shape[0]):
                row[c] = part[c] + search.right_rows[j, c]
            known = known_labels(Y, l2, l1, r1, r2)
            add_contexts(contexts, 2, lexical, first + k, known, l2, l1, r1, r2, row)
            keep_labels(search, k, n, Y, rules.reach, row, i, j)
    place_candidate(search, k, search.n_states[k] > 0)


@tight_kernel
def accept(search: Search, k: int) -> None:
    """Move candidate k from Q to P."""
    place_candidate(search, k, False)
    search.begins[search.bounds[k, 0] + 1] = k
    search.ends[search.bounds[k, 1] + 1] = k


@tight_kernel
def read_labels(search: Search, k: int, b: int, path: Ints) -> None:
    """The labels of hypothesis b of span k, into path[its first token] to path[its last token]."""
    stack = search.stack
    stack[0, 0], stack[0, 1] = k, b
    size = 1
    while size > 0:
        size -= 1
        k, b = stack[size, 0], stack[size, 1]
        path[k] = search.label[k, b]
        left, right = search.bounds[k, 2], search.bounds[k, 3]
        i, j = search.left[k, b], search.right[k, b]
        if left >= 0:
            stack[size, 0], stack[size, 1] = left, i
            size += 1
        if right >= 0:
            stack[size, 0], stack[size, 1] = right, j
            size += 1


@tight_kernel
def work_out_beside(
    search: Search, contexts: Contexts, lexical: Ints, first: int, k: int, n: int, Y: int, rules: Rules,
    emission: Floats, direction: int,
) -> None:  # fmt: skip
    """Work out anew what the span that was accepted last changes: the tokens beside it, and those across small gaps
    where rules know such."""
    for side in range(2):
        if direction == (LEFT_TO_RIGHT if side == 0 else RIGHT_TO_LEFT):
            continue
        for m in range(max(rules.gaps.shape[0], 1) if direction == BOTH else 1):
            t = search.bounds[k, 0] - 1 - m if side == 0 else search.bounds[k, 1] + 1 + m
            if t < 0 or t >= n or (m > 0 and (search.ends[t + 1] if side == 0 else search.begins[t + 1]) >= 0):
                break
            work_out(search, contexts, lexical, first, t, n, Y, rules, emission[t])


@tight_kernel
def search_in_direction(
    search: Search, contexts: Contexts, lexical: Ints, first: int, n: int, Y: int, rules: Rules, emission: Floats,
    direction: int, path: Ints,
) -> float:  # fmt: skip
    """`search_sentence`, and −inf at a dead end too."""
    begin_search(search, n)
    for k in range(n):
        if direction == BOTH or k == (0 if direction == LEFT_TO_RIGHT else n - 1):
            work_out(search, contexts, lexical, first, k, n, Y, rules, emission[k])
    k = NONE
    for step in range(n):
        k = search.easiest[1]
        if k < 0:
            return -np.inf
        accept(search, k)
        search.order[step] = k
        work_out_beside(search, contexts, lexical, first, k, n, Y, rules, emission, direction)
    read_labels(search, k, 0, path)
    return float(search.total[k, 0])


@tight_kernel
def search_sentence(
    search: Search, contexts: Contexts, lexical: Ints, first: int, n: int, Y: int, rules: Rules, emission: Floats,
    direction: int, path: Ints,
) -> float:  # fmt: skip
    """Label n tokens, `first` and on of the text, into path [n]: V, or −inf where no labelling is possible.

    emission [n, P]: scores of the tokens alone.
    """
    total = search_in_direction(search, contexts, lexical, first, n, Y, rules, emission, direction, path)
    if total > -np.inf or direction != BOTH or rules.gaps.shape[0] == 0:
        return total
    return search_in_direction(search, contexts, lexical, first, n, Y, rules, emission, LEFT_TO_RIGHT, path)


@tight_kernel
def search_sentences(
    search: Search, contexts: Contexts, lexical: Ints, first: int, offsets: Longs, Y: int, rules: Rules,
    emission: Floats, direction: int, path: Ints, totals: Doubles,
) -> None:  # fmt: skip
    """Sentences one after the other, between offsets [N + 1] of emission [n, P]; token 0 is `first` of the text."""
    for s in range(offsets.shape[0] - 1):
        begin, end = offsets[s], offsets[s + 1]
        totals[s] = search_sentence(
            search, contexts, lexical, first + begin, end - begin, Y, rules, emission[begin:end], direction,
            path[begin:end],
        )  # fmt: skip
