"""Exponents of the orders that SimFBO prints, (9), (10), (55) and (57), beside those of the worst case found.

The left side is exact: on quadratics with additive noise all of a run is affine, so that its average over T rounds is
computed by repeated squaring. Step sizes have the order that (38) prescribes,

    gamma_x = c_gamma sqrt(P/(tau_bar T)),  gamma_y = c_gamma_y gamma_x,  gamma_v = c_gamma_v gamma_x,
    eta_x = eta_y = eta_v = c_eta/(tau_bar sqrt(T)),

with the ratios that the statement requires and one c_gamma and c_eta for a whole range of a parameter: the largest for
which the conditions of the theorem with constants, (39), printed and repaired, hold throughout (c_eta a hundredth of it
where drift is not what is measured). Nothing is drawn: there is no seed. All clients take as many local steps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

import bounds
from bounds.statement import Statement, number
from ratecheck.engines.setup import LARGEST_RUN, prepare
from ratecheck.engines.types.averages import average
from ratecheck.errors import InputError, did_you_mean
from ratecheck.exponents.families.bilevel import CONSTANTS, BilevelCase, Cause, family
from ratecheck.exponents.order_exponent import OrderExponent, compare, not_reached
from ratecheck.participation import Uniform

PARAMETERS = ("P", "n", "tau_bar", "T")
# What makes a term needed. The proof puts the initial gap, (53), into the second term.
REGIMES: Mapping[str, tuple[Cause, ...]] = {
    "partial participation": (Cause.SAMPLING,),
    "full synchronisation": (Cause.NOISE, Cause.START),
    "participation": (Cause.SAMPLING, Cause.NOISE, Cause.START),
    "local updates": (Cause.DRIFT,),
}
_T = LARGEST_RUN
_POINTS = 5
# Without drift the local steps only bend the other laws: then they are this much shorter than the longest admissible.
_SHORT = 0.01


@dataclass(frozen=True)
class Steps:
    """The constants c_gamma and c_eta of the prescribed orders."""

    gamma: float
    eta: float


@dataclass(frozen=True)
class MeasuredOrder:
    """The largest left side of a family, its rounding error, and the instance that has it."""

    left: float
    error: float
    instance: BilevelCase


def predicted(statement: Statement, term: str, values: Mapping[str, float]) -> float:
    """The printed term, its constant left out, at ``values`` of n, P, T and tau_bar and the constants of the family."""
    expr = _term(statement, term)
    completed, _ = statement.bare.complete({**CONSTANTS, **values, **_ratios(statement, values)})
    return number(expr, completed)


def measured(
    statement: Statement,
    term: str,
    values: Mapping[str, float],
    *,
    regimes: Sequence[Cause] | None = None,
    steps: Steps | None = None,
) -> MeasuredOrder:
    """The largest left side over the instances that make the term needed, or over those of other ``regimes``.

    ``values`` has n, P, T and tau_bar. Without ``steps`` they are the largest admissible ones of the prescribed order.
    Raises `InputError` for a statement or a term without a family.

    Example: ``measured(bounds.get("simfbo/theorem-1-order"), "full synchronisation",
    {"n": 8, "P": 8, "tau_bar": 4, "T": 1e8}).left``
    """
    _term(statement, term)
    regimes = regimes or REGIMES[term]
    steps = steps or admissible(statement, regimes, (values,))
    instances = [instance for regime in regimes for instance in _family(regime, values, steps)]
    found = [_left(statement, instance, values, steps) for instance in instances]
    return max(found, key=lambda each: each.left)


def exponent(
    statement: Statement, term: str, parameter: str, *, regimes: Sequence[Cause] | None = None
) -> OrderExponent:
    """The exponents of the printed term and of the worst case in P, n, tau_bar or T, over a range chosen here.

    The worst case is that of the regimes that make the term needed, unless others are given. T spans 1.6 decades,
    tau_bar three (1.8 where drift is needed), P and n from one to two.
    Raises `InputError` for another statement, term or parameter.

    Example: ``exponent(bounds.get("simfbo/theorem-1-order"), "local updates", "tau_bar").text``
    """
    _term(statement, term)
    if parameter not in parameters(statement):
        raise InputError(f"{statement.key} says nothing about {parameter!r}: {', '.join(parameters(statement))}")
    regimes = tuple(regimes or REGIMES[term])
    if Cause.DRIFT in regimes and not _counts_steps(statement):
        return not_reached(
            parameter,
            "drift needs clients that differ; with P < n, which tau_bar = n/(n - P) takes, sampling them costs more",
        )
    points = _range(statement, regimes[0], parameter)
    steps = admissible(statement, regimes, points)
    found = [measured(statement, term, point, regimes=regimes, steps=steps) for point in points]
    terms = [predicted(statement, term, point) for point in points]
    lefts, errors = (np.array([getattr(each, name) for each in found]) for name in ("left", "error"))
    last = found[-1].instance
    return compare(parameter, [point[parameter] for point in points], terms, lefts, errors, f"worst at the end: {last}")


def parameters(statement: Statement) -> tuple[str, ...]:
    """The parameters of an order: n alone stands for the clients where all take part."""
    named = {s.name for s in statement.claims[0].bound.free_symbols}
    skipped = {"P"} if _full(statement) else set()
    return tuple(each for each in PARAMETERS if each in named and each not in skipped)


def covers(statement: Statement) -> bool:
    """Whether every term of an order has a family here."""
    return statement.order_only and statement.algorithm in ("simfbo", "shrofbo") and _terms(statement) <= REGIMES.keys()


def admissible(statement: Statement, regimes: Sequence[Cause], points: Sequence[Mapping[str, float]]) -> Steps:
    """The largest constants with which all conditions of the theorem behind the order hold at every point."""
    gamma = eta = math.inf
    drift = 1.0 if Cause.DRIFT in regimes else _SHORT
    for point in points:
        tau_bar, T = point["tau_bar"], point["T"]
        caps = _caps(statement, point)
        gamma = min(gamma, caps["gamma_x"] * math.sqrt(tau_bar * T / point["P"]))
        eta = min(eta, drift * tau_bar * math.sqrt(T) * min(caps[name] for name in ("eta_x", "eta_y", "eta_v")))
    return Steps(gamma, eta)


def _caps(statement: Statement, values: Mapping[str, float]) -> dict[str, float]:
    """The largest step sizes that the conditions of the theorem, printed and repaired, admit."""
    known = {**CONSTANTS, **values, **_ratios(statement, values), "rho_bar": values["tau_bar"]}
    caps = dict.fromkeys(("gamma_x", "eta_x", "eta_y", "eta_v"), math.inf)
    for theorem in _theorems(statement):
        for condition in theorem.conditions:
            name = str(condition.left)
            if name in caps and condition.operator == "<=":
                caps[name] = min(caps[name], number(condition.right, known))
    return caps


def _theorems(statement: Statement) -> tuple[Statement, ...]:
    """The theorem with constants that an order abbreviates, as printed and repaired."""
    while statement.order_only:
        statement = bounds.get(statement.follows_from[0])
    return statement, bounds.get(f"{statement.key}-repaired")


def _ratios(statement: Statement, values: Mapping[str, float]) -> dict[str, float]:
    """c_gamma_y and c_gamma_v: the smallest that the statement allows."""
    return {rule.symbol.name: number(rule.value, {**CONSTANTS, **values}) for rule in statement.step_rules}


def _family(regime: Cause, values: Mapping[str, float], steps: Steps) -> tuple[BilevelCase, ...]:
    """The instances, the flattest being that which the sum of all steps just moves."""
    return family(regime, 1 / (steps.gamma * math.sqrt(values["P"] * values["tau_bar"] * values["T"])))


def _left(statement: Statement, instance: BilevelCase, values: Mapping[str, float], steps: Steps) -> MeasuredOrder:
    """The left side on one instance."""
    n, P, K, T = (round(values[name]) for name in ("n", "P", "tau_bar", "T"))
    problem, ratios = instance.problem(n), _ratios(statement, values)
    gamma, eta = steps.gamma * math.sqrt(P / (K * T)), steps.eta / (K * math.sqrt(T))
    x, y, v = instance.begin(problem)
    assert statement.algorithm is not None
    setup = prepare(
        statement.algorithm,
        problem,
        Uniform(n, P),
        K=K,
        T=T,
        x0=x,
        y0=y,
        v0=v,
        noise=instance.noises,
        step_sizes={
            "gamma_x": gamma,
            "gamma_y": ratios["c_gamma_y"] * gamma,
            "gamma_v": ratios["c_gamma_v"] * gamma,
            **dict.fromkeys(("eta_x", "eta_y", "eta_v"), eta),
        },
    )
    mean = average(setup)
    weights = {symbol.name: number(w, values) for symbol, w in statement.claims[0].metric.weights.items()}
    left, error = (sum(w * numbers[name] for name, w in weights.items()) for numbers in (mean.records, mean.errors))
    return MeasuredOrder(left, error, instance)


def _range(statement: Statement, regime: Cause, parameter: str) -> tuple[dict[str, float], ...]:
    """The points of a parameter, the others being such that the term can be told from the start of the run."""
    drift = regime is Cause.DRIFT
    everyone = drift or _full(statement)
    # (tau_bar - 1)/tau_bar, which drift has as a factor, has to be near 1.
    few, most = (64, 4096) if drift else (1, 1024)
    tau = few if drift else 4
    if parameter == "T":
        n, P = (8, 8) if everyone else (16, 2)
        places = [(n, P, tau, T) for T in np.geomspace(_T / 40, _T, _POINTS)]
    elif parameter == "tau_bar":
        n, P = (4, 4) if everyone else (16, 2)
        places = [(n, P, tau, _T) for tau in np.geomspace(few, most, _POINTS)]
    elif everyone:
        places = [(n, n, tau, _T) for n in (16, 32, 64, 128)]
    elif parameter == "P":
        places = [(128, P, tau, _T) for P in (1, 4, 16, 64, 96)]
    else:
        sizes, P = ((18, 24, 32, 64, 128), 16) if _counts_steps(statement) else ((3, 4, 32, 128), 2)
        places = [(n, P, tau, _T) for n in sizes]
    if not _counts_steps(statement):
        places = [(n, P, round(n / (n - P)), T) for n, P, _, T in places]
    return tuple({"n": n, "P": P, "tau_bar": round(tau), "T": round(T)} for n, P, tau, T in places)


def _counts_steps(statement: Statement) -> bool:
    """Whether tau_bar occurs; (57) is at tau_bar = n/(n - P)."""
    return "tau_bar" in {s.name for s in statement.claims[0].bound.free_symbols}


def _full(statement: Statement) -> bool:
    """Whether no term is about sampling: the order is that of P = n."""
    return not any(Cause.SAMPLING in REGIMES[term] for term in _terms(statement))


def _terms(statement: Statement) -> set[str]:
    return set(statement.claims[0].terms)


def _term(statement: Statement, term: str) -> sp.Expr:
    if not covers(statement):
        raise InputError(
            f"{statement.key}: exponents are measured of the orders of simfbo/theorem-1 and theorem-2 only"
        )
    terms = statement.claims[0].terms
    if term not in terms:
        raise InputError(f"{statement.key} has no term {term!r}; {did_you_mean(term, terms)}")
    return terms[term]
