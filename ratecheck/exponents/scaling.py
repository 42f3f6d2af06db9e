"""Does a statement's left side scale as its bound says: a verdict per exponent.

A bound is an upper bound. Towards the end of the range where the statement claims its rate (many rounds, local steps,
clients, participants, long delays, small step sizes), the left side may fall behind the bound, which is then not
tight; where it gains on the bound over the whole range, the two meet somewhere if both laws go on. A matching slope is
evidence, never proof.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bounds.statement import Statement
from ratecheck.aliases import Progress
from ratecheck.errors import InputError
from ratecheck.exponents import parameters as varied
from ratecheck.exponents.straight_range import beyond, straightest
from ratecheck.exponents.sweep import DEFAULTS, Sweep, SweepSurvey, check_measurable, longer, survey, usable
from ratecheck.problems import Problem
from ratecheck.settings.setting import Options
from ratecheck.statistics.exponent_fit import fit
from ratecheck.verification.verdict import Comparison
from ratecheck.verification.verify import verify

# Exponents that differ by no more than this are the same.
TOLERANCE = 0.05
# Rates of the field have exponents up to 2: twice that, either way, is a blow-up or a collapse and not a rate.
STEEPEST = 4.0
# An interval wider than this leaves the exponent open.
WIDEST = 1.0
# How far beyond the range a look is affordable, and how far beyond the meeting point it is taken.
_REACHES = {varied.ROUNDS: 30.0, varied.LOCAL_STEPS: 100.0, varied.STEP_SIZE: 100.0}
_BEYOND = 2.0

# The parameters that are varied by default; clients cost the most and are varied only on request.
ROLES = (varied.LOCAL_STEPS, varied.PARTICIPANTS, varied.ROUNDS, varied.DELAY, varied.STEP_SIZE)


# The text for a range that was not searched.
AROUND = "around the setting"


class Agreement(enum.Enum):
    """The comparison of a measured exponent with the bound's; the values are printed."""

    CONSISTENT = "CONSISTENT"
    INCONSISTENT = "INCONSISTENT"
    NOT_ASYMPTOTIC = "NOT_ASYMPTOTIC"
    SENSELESS = "SENSELESS"


@dataclass(frozen=True)
class Exponent:
    """One parameter's exponents and what follows.

    ``dominant`` are the largest terms of the bound at the lower and at the upper end of the range. ``tight`` is whether
    the exponents agree within `TOLERANCE` and the interval, None unless the answer is CONSISTENT. ``meet`` is the value
    at which the two laws, if they go on, are equal; None where they go apart. ``further`` is a value beyond the range
    at which it can be seen whether they do; None where nothing is to be seen or cannot be. ``chosen`` is why the range
    is this one.
    """

    sweep: Sweep
    agreement: Agreement
    reason: str
    dominant: tuple[str, str]
    tight: bool | None = None
    meet: float | None = None
    further: float | None = None
    chosen: str = AROUND


@dataclass(frozen=True)
class Scaling:
    """The exponents of one statement on one problem, and the survey that they come from.

    A statement that is known only up to a constant has no survey, but a ``reason`` for which it has none.
    """

    statement: Statement
    survey: SweepSurvey | None
    exponents: tuple[Exponent, ...]
    reason: str = ""

    @property
    def agreement(self) -> Agreement | None:
        """INCONSISTENT where anything is, CONSISTENT where everything is, else None."""
        found = {each.agreement for each in self.exponents}
        if Agreement.INCONSISTENT in found:
            return Agreement.INCONSISTENT
        return Agreement.CONSISTENT if found == {Agreement.CONSISTENT} else None


def scaling(
    statement: Statement,
    problem: Problem,
    given: Mapping[str, float],
    options: Options = DEFAULTS,
    *,
    over: Sequence[str] | None = None,
    name: str = "",
    progress: Progress | None = None,
) -> Scaling:
    """Measure the exponents of a statement's left side and compare them with those of its bound.

    ``over`` are names as `varied.parameter` takes them; by default local steps, participants, rounds, delay and step
    size, as far as the statement has them. Each range is that around the setting; where that is no asymptotic one,
    another is looked for (`straight_range`). Raises `InputError` as `survey` does.
    """
    check_measurable(statement)
    if over is None:
        over = [each.symbol for each in varied.parameters(statement, ROLES)]
    found = survey(statement, problem, given, options, vary=over, curves=False, name=name, progress=progress)
    limits = {varied.PARTICIPANTS: float(problem.n)}
    if rounds := varied.symbol_of(statement, varied.ROUNDS):
        limits[varied.DELAY] = found.verdict.values[rounds]
    exponents = []
    for sweep in found.sweeps:
        limit = limits.get(sweep.role, math.inf)
        exponent = classify(sweep, limit)
        if exponent.agreement is Agreement.NOT_ASYMPTOTIC and found.verdict.engine == "exact":
            exponent = _elsewhere(statement, problem, given, options, found, exponent, limit)
        if exponent.agreement is Agreement.INCONSISTENT and exponent.further is not None:
            at = varied.point(statement, problem, given, found.verdict, sweep.parameter, exponent.further)
            exponent = confirm(exponent, _look(statement, at, options))
        exponents.append(exponent)
    return Scaling(statement, found, tuple(exponents))


def of_order(statement: Statement) -> Scaling:
    """The result for a statement that is known only up to a constant, of which nothing is measured."""
    reason = f"{statement.key} is known only up to a constant: on one problem it has no value to compare with"
    return Scaling(statement, None, (), f"{reason}; 'ratecheck rates' of it compares exponents alone")


def _elsewhere(
    statement: Statement,
    problem: Problem,
    given: Mapping[str, float],
    options: Options,
    found: SweepSurvey,
    first: Exponent,
    limit: float,
) -> Exponent:
    """The verdict over a range of at least a decade on which both sides are straight; over all, if there is none."""
    sweep, verdict = first.sweep, found.verdict
    chosen = straightest(sweep, _straight)
    further = beyond(sweep, verdict.values.get(statement.vocabulary.run.get(varied.ROUNDS, ""), 1.0))
    while chosen is None and (value := next(further, None)) is not None:
        at = varied.point(statement, problem, given, verdict, sweep.parameter, value)
        try:
            seen = verify(
                statement, at.problem, at.given, replace(options, engine="exact"), participation=at.participation
            )
        except InputError:
            break
        if usable(seen, value) is not None:
            break
        sweep = longer(sweep, value, seen.comparisons[0], vacuous=bool(seen.vacuous))
        chosen = straightest(sweep, _straight)
    low, high = (f"{sweep.parameter} = {sweep.values[end]:.4g}" for end in (0, -1))
    if chosen is None:
        exponent = classify(sweep, limit)
        if exponent.agreement is not Agreement.NOT_ASYMPTOTIC:
            return exponent
        nowhere = f"from {low} to {high} there is no decade over which both sides follow one power and the bound says"
        return replace(exponent, reason=f"{exponent.reason}; {nowhere} something", chosen="all that was looked at")
    why = f"the farthest of a decade or more, between {low} and {high}, over which both sides follow one power"
    return replace(classify(chosen, limit), chosen=why)


def _straight(sweep: Sweep) -> bool:
    """Whether a rate can be read off: both sides follow one power, and the bound's own rate has set in."""
    dominant = _dominant(sweep)
    return not (_senseless(sweep) or _bent(sweep, dominant) or _early(sweep, dominant))


def _look(statement: Statement, at: varied.SweepPoint, options: Options) -> Comparison | None:
    """Both sides at a point; None where the engines cannot go there."""
    try:
        verdict = verify(statement, at.problem, at.given, options, participation=at.participation)
    except InputError:
        return None
    return verdict.comparisons[0] if verdict.comparisons else None


def classify(sweep: Sweep, limit: float = math.inf) -> Exponent:
    """The verdict on one sweep; ``limit`` is the largest value that the parameter can have.

    In this order: INCONSISTENT where the left side exceeds the bound at a point; SENSELESS where the fit is no rate;
    NOT_ASYMPTOTIC where the left side or the bound follows no single power over the range; where the left side gains on
    the bound beyond interval and tolerance, NOT_ASYMPTOTIC if the bound is vacuous at a point, its leading term does
    not decide its exponent, or the two meet beyond the limit, else INCONSISTENT; CONSISTENT.
    """
    dominant = _dominant(sweep)
    x, name = sweep.values, sweep.parameter
    exceeded = sweep.measured - sweep.error > sweep.bound
    if exceeded.any():
        where = int(np.argmax(exceeded))
        reason = f"the left side exceeds the bound at {name}={x[where]:.4g}"
        return Exponent(sweep, Agreement.INCONSISTENT, reason, dominant, meet=float(x[where]))
    if senseless := _senseless(sweep):
        return Exponent(sweep, Agreement.SENSELESS, senseless, dominant)
    if bent := _bent(sweep, dominant):
        return Exponent(sweep, Agreement.NOT_ASYMPTOTIC, bent, dominant)
    # Rates are claimed towards small step sizes and towards large values of everything else.
    sign = -1.0 if sweep.role == varied.STEP_SIZE else 1.0
    least, most = sorted((sign * (sweep.fit.low - sweep.law.exponent), sign * (sweep.fit.high - sweep.law.exponent)))
    meet = _meet(sweep, sign)
    if least > TOLERANCE:
        if early := _early(sweep, dominant) or _beyond(sweep, meet, limit):
            return Exponent(sweep, Agreement.NOT_ASYMPTOTIC, early, dominant, meet=meet)
        grows = f"the left side gains on the bound towards {'small' if sign < 0 else 'large'} {name}"
        reach = f"; if both go on, they meet at {name} = {meet:.2g}" if meet is not None else ""
        return Exponent(
            sweep, Agreement.INCONSISTENT, grows + reach, dominant, meet=meet, further=_further(sweep, meet)
        )
    tight = most >= -TOLERANCE
    reason = "the exponents agree" if tight else "the left side falls behind the bound, which is not tight"
    return Exponent(sweep, Agreement.CONSISTENT, reason, dominant, tight=tight, meet=meet)


def confirm(exponent: Exponent, found: Comparison | None) -> Exponent:
    """An accusation after a look at the value ``further``, where both sides are ``found`` (None: no comparison).

    Beyond the meeting point it is confirmed where the bound is exceeded, before it where the left side has gained at
    least half of what the fits say; otherwise it is dropped.
    """
    sweep = exponent.sweep
    if found is None or exponent.further is None or found.left <= 0 or found.right <= 0:
        return exponent
    here = f"at {sweep.parameter} = {exponent.further:.3g}"
    if found.left - found.error > found.right:
        return replace(exponent, reason=f"{exponent.reason}; {here} the left side exceeds the bound")
    end = 0 if sweep.role == varied.STEP_SIZE else -1
    gained = math.log(found.left / found.right) - math.log(sweep.measured[end] / sweep.bound[end])
    said = (sweep.fit.exponent - sweep.law.exponent) * math.log(exponent.further / sweep.values[end])
    assert exponent.meet is not None
    short = exponent.further > exponent.meet if sweep.role == varied.STEP_SIZE else exponent.further < exponent.meet
    if short and gained >= said / 2:
        return replace(exponent, reason=f"{exponent.reason}; {here} the gain goes on")
    reason = f"the left side gains on the bound within the range, but {here} it is {found.left / found.right:.2g} of it"
    return replace(exponent, agreement=Agreement.NOT_ASYMPTOTIC, reason=reason)


def _further(sweep: Sweep, meet: float | None) -> float | None:
    """A value somewhat beyond the meeting point, or as near to it as is affordable."""
    reach = _REACHES.get(sweep.role)
    if meet is None or reach is None:
        return None
    if sweep.role == varied.STEP_SIZE:
        return max(meet / _BEYOND, float(sweep.values[0]) / reach)
    return float(round(min(_BEYOND * meet, reach * float(sweep.values[-1]))))


def _beyond(sweep: Sweep, meet: float | None, limit: float) -> str | None:
    """Why two laws that meet cannot contradict one another."""
    if meet is None or meet <= limit:
        return None
    gains = "the left side gains on the bound, but they meet at"
    return f"{gains} {sweep.parameter} = {meet:.2g} only, beyond the largest possible value {limit:g}"


def _dominant(sweep: Sweep) -> tuple[str, str]:
    """The largest term at the lower and at the upper end."""
    low, high = (max(sweep.terms, key=lambda label: float(sweep.terms[label][end])) for end in (0, -1))
    return low, high


def _senseless(sweep: Sweep) -> str | None:
    """Why the fit is no rate at all."""
    measured, law = sweep.fit, sweep.law
    if diverged := [reason for reason in sweep.left_out if " diverged" in reason]:
        return f"the run blows up within the range: {diverged[0]}"
    for what, exponent in (("left side", measured.exponent), ("bound", law.exponent)):
        if not abs(exponent) <= STEEPEST:
            return f"exponent {exponent:.3g} of the {what} is beyond +-{STEEPEST:g}, which no rate has"
    if not measured.high - measured.low <= WIDEST:
        width = measured.high - measured.low
        few = f"{len(sweep.values)} points leave" if math.isinf(width) else f"an interval of width {width:.2g} leaves"
        return f"{few} the exponent open"
    return None


def _bent(sweep: Sweep, dominant: tuple[str, str]) -> str | None:
    """Why there is no single power over the range."""
    if sweep.fit.bent:
        low, high = sweep.fit.ends
        return f"the left side bends: exponent {low:.2f} in the lower half, {high:.2f} in the upper"
    low_term, high_term = (sweep.terms[label] for label in dominant)
    positive = bool((low_term > 0).all() and (high_term > 0).all())
    if dominant[0] != dominant[1]:
        # Two terms with the same power change places without a change of law.
        powers = [fit(sweep.values, term).exponent for term in (low_term, high_term)] if positive else [0.0, math.inf]
        if abs(powers[0] - powers[1]) > TOLERANCE:
            return f'the bound passes from its term "{dominant[0]}" to "{dominant[1]}"'
    if sweep.law.bent:
        low, high = sweep.law.ends
        return f"the bound bends: exponent {low:.2f} in the lower half, {high:.2f} in the upper"
    return None


def _early(sweep: Sweep, dominant: tuple[str, str]) -> str | None:
    """Why a left side that gains on the bound is no accusation: the bound's own rate has not set in."""
    if sweep.vacuous.any():
        places = ", ".join(f"{value:.4g}" for value in sweep.values[sweep.vacuous])
        return f"the bound is no better than smoothness alone at {sweep.parameter}={places}"
    leading = fit(sweep.values, sweep.terms[dominant[1]]).exponent
    if abs(sweep.law.exponent - leading) > TOLERANCE:
        mixed = f"its exponent is {sweep.law.exponent:.2f}, that of its term"
        return f'the bound is a mixture: {mixed} "{dominant[1]}" is {leading:.2f}'
    return None


def _meet(sweep: Sweep, sign: float) -> float | None:
    """The x at which the fitted laws c*x^p are equal, beyond the range on the side where the rate is claimed."""
    faster = sweep.fit.exponent - sweep.law.exponent
    if sign * faster <= 0:
        return None
    logarithm = (sweep.law.log_scale - sweep.fit.log_scale) / faster
    return math.exp(logarithm) if abs(logarithm) < 700 else None
