"""Functions of clients as a person would write them, equal ones together: f_1 = f_2 = x^2/2, f_3 = (x - 1)^2/4."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from bounds.printing.notation import Notation, is_short
from ratecheck.aliases import Array

# Of more clients in a row that have the same function the first and the last are named.
_MANY = 4


def arguments(names: Sequence[str], written: Sequence[str]) -> str:
    """The variables in brackets, where one of several is in no function: it may still have noise."""
    seen = all(any(name in text for text in written) for name in names)
    return "" if seen or len(names) == 1 else f"({', '.join(names)})"


def together(letter: str, of: str, written: Sequence[str], notation: Notation) -> list[str]:
    """f_1 = f_2 = ..., in the order of the first client of each."""
    if len(written) == 1:
        return [f"{letter}{of} = {written[0]}"]
    clients = {text: [i for i, other in enumerate(written, start=1) if other == text] for text in written}
    found = []
    for text, who in clients.items():
        names = [notation.name(f"{letter}_{i}") + of for i in who]
        if len(who) > _MANY and who[-1] - who[0] == len(who) - 1:
            names[1:-1] = [notation.dots]
        found.append(" = ".join([*names, text]))
    return found


def functions(letter: str, names: Sequence[str], written: Sequence[str], notation: Notation) -> list[str]:
    """The functions ``written`` of the clients, with their variables where these have to be named."""
    return together(letter, arguments(names, written), written, notation)


def quadratic(H: Array, g: Array, names: Sequence[str], notation: Notation) -> str:
    """w'Hw/2 - g'w up to a constant, in complete squares where nothing couples a variable."""
    terms: list[tuple[Fraction, str]] = []
    for a, name in enumerate(names):
        curvature, slope = Fraction(float(H[a, a])), Fraction(float(g[a]))
        alone = not np.delete(H[a], a).any()
        plain = [(curvature / 2, f"{name}^2")] * (curvature != 0) + [(-slope, name)] * (slope != 0)
        centre = slope / curvature if curvature else None
        if alone and centre and is_short(centre):
            sign = "-" if centre > 0 else "+"
            terms.append((curvature / 2, f"({name} {sign} {notation.fraction(abs(centre))})^2"))
        else:
            terms += plain
    for a, b in itertools.combinations(range(len(names)), 2):
        if H[a, b]:
            terms.append((Fraction(float(H[a, b])), f"{names[a]} {names[b]}"))
    return notation.sum(terms)
