"""Exponents of the rates in the papers' tables, row by row, beside what the method does on one common family.

A table prints no step sizes of other work. Its methods run here with those of the paper's own row that it is compared
with, or of the statement with constants. Only the product gamma matters where clients share their curvature; the outer
step size is sqrt(m), or 1 where the method has none. So the same method on the same problems is beside all rows about
it: LOOSE says that a row is at these step sizes, EXCEEDED would be no accusation, as they are not the row's own. A
method that is not in `ratecheck.algorithms` is not measured.

The family: f_i(u) = h u^2/2 - s_i b u with s_i = +-1 and L = F_0 = 1, h on a grid; personal variables, where a method
has them, are of one curvature and start solved. Clients share their curvature, which a bound b of the
dissimilarity requires: such clients have no drift. All is exact, so that there is no seed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

import bounds
from bounds.ledger import rate_table
from bounds.ledger.rate_table import RateTable
from bounds.statement import Statement, number
from ratecheck.algorithms import METHODS
from ratecheck.engines.setup import prepare
from ratecheck.engines.types.averages import average
from ratecheck.errors import InputError
from ratecheck.exponents.families.bilevel import Cause
from ratecheck.exponents.order_exponent import OrderExponent, compare
from ratecheck.participation import Uniform
from ratecheck.problems import Quadratic

NOT_MEASURED = "not measured: algorithm not in ratecheck"
# Statements that have only an order, with those whose step sizes they are known for.
_EXPLICIT = {"pfl/scaffold": "pfl/scaffold-explicit", "pfl/scaffold-prior": "pfl/scaffold-explicit"}
# What makes a term of a table needed, and what of a run then matters.
_REGIMES: Mapping[str, tuple[Cause, ...]] = {
    "noise and dissimilarity": (Cause.NOISE, Cause.SAMPLING),
    "noise": (Cause.NOISE,),
    "drift": (Cause.START,),
    "gradients": (Cause.START,),
    "1/T": (Cause.START,),
}
_PARAMETERS = {
    Cause.NOISE: ("m", "n", "K", "T"),
    Cause.SAMPLING: ("m", "K", "T", "b"),
    Cause.START: ("m", "n", "K", "T", "b"),
}
_CURVATURES = 4


@dataclass(frozen=True)
class RowExponents:
    """One term of one row: its exponents by parameter in one regime, or why there are none.

    ``label`` is the row's, ``key`` the statement's, ``steps`` the statement whose step sizes the method takes.
    """

    label: str
    key: str
    term: str
    regime: Cause | None = None
    steps: str = ""
    exponents: Mapping[str, OrderExponent] = field(default_factory=dict)
    reason: str = ""


def rows(table: RateTable) -> tuple[RowExponents, ...]:
    """All rows of other work in a table, measured as far as their methods are here."""
    found: list[RowExponents] = []
    for row in table.quoted:
        own = row.versus[0].own.key if row.versus else ""
        found.extend(of_statement(bounds.get(row.key), own, label=row.label))
    for unprinted in table.unprinted:
        found.extend(of_statement(bounds.get(unprinted.key), unprinted.own.key))
    return tuple(found)


def of_statement(statement: Statement, steps: str = "", *, label: str = "") -> tuple[RowExponents, ...]:
    """Every term of an order in every regime that makes it needed, with the step sizes of the statement ``steps``.

    Raises `InputError` for a term without a regime, and where no step sizes are known.

    Example: ``of_statement(bounds.get("pfl/scaffold"))``
    """
    label = label or statement.title
    steps = steps or _EXPLICIT.get(statement.key, "")
    terms = statement.claims[0].terms
    if statement.algorithm not in METHODS:
        return tuple(RowExponents(label, statement.key, term, reason=NOT_MEASURED) for term in terms)
    if not steps or not terms.keys() <= _REGIMES.keys():
        raise InputError(f"{statement.key}: no step sizes are known for it, or no family for one of its terms")
    return tuple(
        RowExponents(label, statement.key, term, regime, steps, _exponents(statement, term, regime, steps))
        for term in terms
        for regime in _REGIMES[term]
    )


def steps_of(statement: Statement) -> str:
    """The key of the paper's own row that a row of other work is printed beside; empty where no table has it."""
    for table in rate_table.tables().values():
        for row in table.quoted:
            if row.key == statement.key and row.versus:
                return row.versus[0].own.key
        for unprinted in table.unprinted:
            if unprinted.key == statement.key:
                return unprinted.own.key
    return ""


def exponent(statement: Statement, term: str, regime: Cause, parameter: str, steps: str) -> OrderExponent:
    """One exponent, over two to four decades of the parameter."""
    points = _range(statement, regime, parameter)
    expr, terms = statement.claims[0].terms[term], []
    for point in points:
        completed, _ = statement.complete(_known(statement, point))
        terms.append(number(expr, completed))
    found = [_worst(statement, regime, point, steps) for point in points]
    lefts, errors = (np.array(column) for column in zip(*((left, error) for left, error, _ in found), strict=True))
    return compare(parameter, [point[parameter] for point in points], terms, lefts, errors, found[-1][2])


def _exponents(statement: Statement, term: str, regime: Cause, steps: str) -> dict[str, OrderExponent]:
    named = {s.name for s in statement.claims[0].bound.free_symbols}
    # Without sampling m is n. That K or b does not occur is a claim, too.
    left_out = {"m"} if _everyone(statement, regime) else {"n"}
    return {
        parameter: exponent(statement, term, regime, parameter, steps)
        for parameter in _PARAMETERS[regime]
        if parameter not in left_out and (parameter in named or parameter in ("K", "b"))
    }


def _everyone(statement: Statement, regime: Cause) -> bool:
    """Whether all take part: where the row says so, and where sampling unlike clients would hide the term."""
    named = {s.name for s in statement.claims[0].bound.free_symbols}
    return statement.settings.get("m") is not None or (regime is Cause.START and "b" in named)


def _range(statement: Statement, regime: Cause, parameter: str) -> tuple[dict[str, float], ...]:
    """The points: 16 clients, or 8 where each has a state, of which some or all take 4 local steps.

    Noise and dissimilarity are so large that they decide the step size, and so small that the run gets somewhere.
    """
    everyone = _everyone(statement, regime)
    few = _remembers(statement)
    large = 10.0 if few else 30.0
    b = {Cause.NOISE: 0.0, Cause.SAMPLING: large, Cause.START: 1.0 if everyone else 0.0}[regime]
    base = {"n": 8.0 if few else 16.0, "m": 2.0 if few else 4.0, "K": 4.0, "b": b}
    # What the states of clients round grows with T, and matters most where nothing is random.
    base["T"] = (1e5 if regime is Cause.START else 1e6) if few else 1e7
    base["sigma_u"] = large if regime is Cause.NOISE else 0.0
    values = {
        "T": tuple(base["T"] * share for share in (0.01, 0.1, 1.0, 10.0)),
        "K": (2.0, 16.0, 128.0, 512.0),
        "m": (1.0, 2.0, 4.0) if few else (1.0, 2.0, 4.0, 8.0),
        "n": (4.0, 6.0, 8.0, 12.0) if few else (4.0, 16.0, 64.0, 128.0),
        "b": (large / 10, large, 3 * large),
    }
    if regime is Cause.SAMPLING and parameter == "m" and not few:
        # Rows differ in whether 1 - m/n has a root: it has to be near 1 for the exponent of m.
        base["n"] = 128.0
    points = [{**base, parameter: value} for value in values[parameter]]
    return tuple({**point, "m": point["n"]} if everyone else point for point in points)


def _remembers(statement: Statement) -> bool:
    """Whether the clients of the method have a state, which makes that of the run large."""
    assert statement.algorithm is not None
    chosen = METHODS[statement.algorithm]
    return bool(chosen.algorithm.client) and (chosen.personal or "u" in chosen.algorithm.client.values())


def _known(statement: Statement, point: Mapping[str, float]) -> dict[str, float]:
    """The point with what the statement needs beside it."""
    rest = {"L": 1.0, "F_0": 1.0, "sigma_v": 0.0, "B_0": point["n"] * (1 + point["b"] ** 2)}
    known = {**rest, **point}
    return {name: value for name, value in known.items() if name in statement.parameters}


def _worst(statement: Statement, regime: Cause, point: Mapping[str, float], steps: str) -> tuple[float, float, str]:
    """The largest left side over the curvatures, with its error and the instance in words."""
    assert statement.algorithm is not None
    chosen = METHODS[statement.algorithm]
    source = bounds.get(steps)
    sizes, _ = source.complete(_known(source, point))
    n, m, K, T = (round(point[name]) for name in ("n", "m", "K", "T"))
    gamma, eta = sizes["gamma"], float(chosen.fixed.get("eta_u", math.sqrt(m)))
    wanted = {"gamma_u": gamma / eta, "gamma_v": gamma / eta, "eta_u": eta, "eta_v": eta}
    flattest = min(1 / (gamma * K * T), 0.1)
    worst = (-math.inf, 0.0, "")
    for h in np.geomspace(flattest, 1.0, _CURVATURES):
        # Either what the regime is about or the start: what a step size is chosen for is both.
        for what in dict.fromkeys((regime, Cause.START)):
            problem = _problem(n, float(h), point["b"], personal=chosen.personal)
            x0 = [math.sqrt(2 / h)] if what is Cause.START else [0.0]
            setup = prepare(
                chosen.name,
                problem,
                Uniform(n, m),
                K=K,
                T=T,
                x0=x0,
                noise={"sigma_u" if chosen.personal else "sigma": point["sigma_u"]} if what is Cause.NOISE else None,
                step_sizes={name: wanted[name] for name in chosen.step_sizes},
            )
            mean = average(setup)
            if mean.metric > worst[0]:
                worst = (mean.metric, mean.rounding, f"curvature {h:.2g}, {what.value}")
    return worst


def _problem(n: int, h: float, b: float, *, personal: bool) -> Quadratic:
    """The family's member of curvature h, with a personal variable of curvature 1 or without."""
    d = 2 if personal else 1
    H, g = np.zeros((n, d, d)), np.zeros((n, d))
    H[:, range(d), range(d)] = [h, 1.0][:d]
    g[:, 0] = b * np.where(np.arange(n) < n // 2, -1.0, 1.0)
    return Quadratic(H, g, 1)
