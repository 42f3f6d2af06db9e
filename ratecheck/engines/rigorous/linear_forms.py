"""An algorithm's own functions on linear forms with exact coefficients: its variables, its oracle and a local step.

A variable is a matrix whose rows are the coefficients of its coordinates on what stands before a round or a step; the
last column is the constant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ratecheck.algebra.enclosure import Enclosure, Number, UndecidedError
from ratecheck.algebra.linear_algebra import Entries, definite, inverse, product
from ratecheck.algorithms import Method
from ratecheck.algorithms.model.algorithm import Algorithm, Group, LinearMaps, Variables
from ratecheck.algorithms.model.asking import MethodError, exactly


def exact_parameters(
    method: Method,
    n: int,
    K: int,
    step_sizes: Mapping[str, Number | Sequence[Number]],
    *,
    rows: int | None = None,
    weights: Sequence[Fraction] | None = None,
) -> tuple[Mapping[str, Number], ...]:
    """The numbers that an algorithm's functions receive as ``p``, client by client, without m and delay.

    Of the first ``rows`` clients alone, where that is given. ``weights`` are those of the clients in the objective,
    1/n each by default. Raises `UndecidedError` where they differ by round, or are
    not all that there is to one, as of a method that is not linear.
    """
    if not method.algorithm.linear:
        raise UndecidedError(f"{method.spoken} is not linear, and is not followed rigorously")
    if method.algorithm.varying:
        raise UndecidedError(f"{method.spoken} has other coefficients in every round, and is not followed rigorously")
    if method.algorithm.beyond:
        raise UndecidedError(f"{method.spoken} {method.algorithm.beyond}, and is not followed rigorously")
    # Defaults are functions of n, exact on an exact n.
    given = {name: default(Fraction(n)) for name, default in method.algorithm.optional.items()}  # type: ignore[arg-type]
    sizes = {**given, **method.fixed, **step_sizes}
    common: dict[str, Number] = {"n": n, "K": K, "weight": 1, "p": Fraction(1, n), "norm": K, "mean_norm": K}
    parameters = []
    for i in range(n if rows is None else rows):
        own = {name: value[i] if isinstance(value, Sequence) else value for name, value in sizes.items()}
        share = {} if weights is None else {"p": weights[i]}
        parameters.append({name: Enclosure.of(value).plain for name, value in {**own, **common, **share}.items()})
    return tuple(parameters)


def in_round(parameters: Mapping[str, Number], participants: int = 1, delay: int = 1) -> dict[str, Any]:
    """The parameters of a client in one round, with its m and delay."""
    return {**parameters, "m": Fraction(max(participants, 1)), "delay": Fraction(delay)}


def exact_answer(function: Callable[..., Any], *arguments: Any) -> Any:
    """The value of a function of an algorithm at exact numbers; `UndecidedError` where it takes only floats."""
    try:
        return exactly(function, *arguments)
    except MethodError as error:
        # With floats it has passed.
        raise UndecidedError(str(error)) from None


class LinearForms:
    """The forms of an algorithm on n quadratics with ``H`` (n, d, d) and ``g`` (n, d), all exact.

    The first ``shared`` coordinates are those of the method's first block, u or x; ``given`` has what the algorithm's
    functions receive as ``p``, per client, without m and delay. Where H_i x - g_i is no gradient, H_i need not be
    symmetric and there are no values: ``potential`` is false then.
    """

    potential = True

    def __init__(
        self, algorithm: Algorithm, H: Sequence[Entries], g: Entries, shared: int,
        given: Sequence[Mapping[str, Number]],
    ) -> None:  # fmt: skip
        self.algorithm, self.H, self.g, self.given = algorithm, H, g, given
        self.n, self.d = g.shape
        self.sizes = dict(zip(algorithm.blocks, (shared, self.d - shared), strict=False))
        self.server, self.client, self.local = (
            self.length(group) for group in (algorithm.server, algorithm.client, algorithm.local)
        )
        self.size = self.server + self.n * self.client + 1

    def length(self, group: Group) -> int:
        """The number of entries of the variables of a group."""
        return sum(self.sizes[block] for block in group.values())

    def forms(self, group: Group, offset: int, width: int) -> Variables:
        """The variables of a group as linear forms: units from column ``offset`` on."""
        forms = {}
        for name, block in group.items():
            forms[name] = units(self.sizes[block], offset, width)
            offset += self.sizes[block]
        return forms

    def rows(self, forms: Variables, group: Group, width: int) -> Entries:
        """The forms of a group as one matrix."""
        parts = [np.asarray(forms[name], dtype=object).reshape(self.sizes[b], width) for name, b in group.items()]
        return np.concatenate([zeros(0, width), *parts])

    def split(self, rows: Entries) -> Variables:
        """Rows of all coordinates by block."""
        split, at = {}, 0
        for block, size in self.sizes.items():
            split[block] = rows[at : at + size]
            at += size
        return split

    @cached_property
    def _proximal(self) -> list[Entries]:
        """(H_i + lambda I)^-1."""
        lambda_ = Enclosure.of(self.given[0]["lambda_"])
        if not lambda_.exact:
            raise UndecidedError("an inner problem whose lambda is not rational")
        shifted = [H + lambda_.low * units(self.d, 0, self.d) for H in self.H]
        if not all(definite(matrix) for matrix in shifted):
            raise UndecidedError("an inner problem that is not strongly convex")
        return [inverse(matrix) for matrix in shifted]

    def answer(self, oracle: str, i: int, point: Entries) -> Entries:
        """The oracle's answer at a point given by forms whose last column is the constant."""
        linear = self.g[i]
        if oracle == "gradient":
            answer, shift = product(self.H[i], point), -linear
        else:
            scaled = np.asarray(self.given[0]["lambda_"] * point, dtype=object)
            answer, shift = product(self._proximal[i], scaled), self._proximal[i].dot(linear)
        answer = answer + zeros(*answer.shape)
        answer[:, -1] = answer[:, -1] + shift
        return answer

    def parameters(self, i: int, participants: int = 1, delay: int = 1) -> dict[str, Any]:
        """The numbers that the functions of a client receive in one round."""
        return in_round(self.given[i], participants, delay)

    def begun(self, p: Mapping[str, Any]) -> Entries:
        """(local, 1) before the first local step as rows on (server, client, 1)."""
        a, width = self.algorithm, self.server + self.client + 1
        server, client = self.forms(a.server, 0, width), self.forms(a.client, self.server, width)
        local = self.rows(exact_answer(a.begin, server, client, p), a.local, width)
        return np.concatenate([local, units(1, width - 1, width)])

    def local_step(self, i: int, p: Mapping[str, Any]) -> tuple[Entries, Entries]:
        """One local step as a matrix on (local, 1), and what the oracle's noise loads on its result."""
        a, width = self.algorithm, self.local + self.d + 1
        local = self.forms(a.local, 0, width)
        # The oracle is evaluated at the first local variable of each block; a block without one has no coordinates.
        first = {block: name for name, block in reversed([*a.local.items()])}
        point = np.concatenate([local[first[b]] if b in first else zeros(0, width) for b in a.blocks])
        answer = self.answer(a.oracle, i, point) + units(self.d, self.local, width)
        after = self.rows(exact_answer(a.step, local, self.split(answer), p), a.local, width)
        after = np.concatenate([after, units(1, width - 1, width)])
        kept = [*range(self.local), width - 1]
        return after[:, kept], after[:, self.local : -1]

    def recorded_point(self, server: Variables, client: Variables, width: int) -> Entries:
        """The point at which quantities are recorded."""
        parts = []
        for (group, slot), block in zip(LinearMaps(self.algorithm).point(), self.algorithm.blocks, strict=True):
            names = self.algorithm.server if group == "server" else self.algorithm.client
            if slot < 0:
                parts.append(zeros(self.sizes[block], width))
            else:
                name = [name for name, where in names.items() if where == block][slot]
                parts.append((server if group == "server" else client)[name])
        return np.concatenate(parts)


def units(size: int, offset: int, width: int) -> Entries:
    """Unit rows, the first with its one in column ``offset``."""
    rows = zeros(size, width)
    rows[np.arange(size), offset + np.arange(size)] = 1
    return rows


def zeros(rows: int, columns: int) -> Entries:
    """A matrix of whole zeros."""
    return np.full((rows, columns), 0, dtype=object)
