"""A proved multiple of a right side, tried on runs at the same numbers: by the statement as `verify` reads it.

A proof rests on one reading of a statement and its method; whatever is wrong with that reading is no mistake that exact
arithmetic finds. So what is proved is compared with runs of small problems at the same numbers, by the engines that
`verify` uses and with constants that are certified. Nothing here is read from the proof but its numbers and its factor.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy as sp

from bounds.assumption import BOUNDED
from bounds.numbers import apart
from bounds.statement import Assumption, Claim, Statement
from bounds.symbols import PREVIOUS, Role, measured_in
from ratecheck.certification.certified_constants import ALONE, NOISE
from ratecheck.certification.uncertified import of_operators
from ratecheck.errors import InputError
from ratecheck.families.statements import bounds_dissimilarity, is_bilevel
from ratecheck.families.who import mixes
from ratecheck.outcome import Outcome
from ratecheck.participation import Graph, Participation
from ratecheck.problems import Certificate, Problem
from ratecheck.proving.trials.problems import (
    Scales,
    drawn,
    hills,
    in_turns,
    larger,
    pieces,
    quadratics,
    turns,
    unlike_clients,
)
from ratecheck.settings.applicability import certifiable, method_of
from ratecheck.settings.convexity import assumes_convexity
from ratecheck.settings.on_trace import on_trace
from ratecheck.settings.piecewise import has_pieces
from ratecheck.settings.setting import Options, resolve
from ratecheck.verification.instance import Instance
from ratecheck.verification.verdict import Verdict

# Runs that are not random are followed in floats; what exceeds there is followed exactly.
_QUICK = Options(replicates=2, traces=1, vacuity=False, rigorous=False)
_SURE = replace(_QUICK, engine="exact", rigorous=True)
# Decimals that a proof takes as they are written are floats in a run, and a bound may be attained.
_HAIR = Fraction(1, 10**9)
# Rounds of all runs together, and those of runs that are tried beside those of a proof for any number.
_WORK, _LONG, _SHORT = 1000, 20, (1, 2, 7)
# Instances that are tried of a proof, and where it is one of many or has to be quick; those of a length and of others.
_MOST, FEW = 16, 5
_FIRST, _OTHERS = 10, 2
# By how little a constant that is scaled stays below the number that it may have.
_BELOW = 1 - 1e-9
# Curvatures, relative to 1 / step, where no smoothness is assumed.
_STEEP = 10.0
# Constants that an assumption has where no formula does, and without which nothing is known of a round.
_SCALES = frozenset({"L", "sigma", "sigma_u", "sigma_v", "mixing_share"})
_SMOOTH = {Assumption.SMOOTHNESS, Assumption.COCOERCIVE_OPERATOR, Assumption.LIPSCHITZ_OPERATOR}
# What says that functions are curved at least so much.
_CURVED = frozenset(
    {"strong_convexity", "clients_strong_convexity", "polyak_lojasiewicz", "quadratic_growth", "inner_convexity"}
)


@dataclass(frozen=True, kw_only=True)
class Trials:
    """What runs at the numbers of a proof show: of ``tried`` instances so many are ``compared``.

    ``against`` is one that exceeds what is proved, with the ``verdict`` on that; ``refuting`` is the verdict on the
    statement itself where the instance violates that as well.
    """

    tried: int = 0
    compared: int = 0
    against: Instance | None = None
    verdict: Verdict | None = None
    refuting: Verdict | None = None


def trials(
    statement: Statement, proved: Statement, values: Mapping[str, float], most: int = _MOST, *, every_T: bool = False
) -> Trials:
    """Runs at ``values``, of other lengths too where a proof is one for ``every_T``, until one exceeds what is proved.

    ``proved`` is the statement with what is proved on its right sides, as `multiplied` makes it; ``most`` instances
    are tried.
    """
    tried = compared = 0
    rounds = 0
    for length, problem, pattern, given in itertools.islice(_instances(statement, values, every_T=every_T), most):
        if tried and (rounds := rounds + length) > _WORK:
            break
        tried += 1
        try:
            instance = Instance(proved, _fitted(statement, problem, pattern, given), pattern, given)
            own = replace(instance, statement=statement)
            verdict = instance.verdict(_QUICK)
            compared += bool(verdict.comparisons)
            if not _exceeds(verdict) or not _exceeds(verdict := instance.verdict(_SURE)):
                continue
            refuting = own.verdict(_SURE)
        except InputError:
            continue
        return Trials(
            tried=tried,
            compared=compared,
            against=own,
            verdict=verdict,
            refuting=refuting if _exceeds(refuting) else None,
        )
    return Trials(tried=tried, compared=compared)


def said_against(found: Trials) -> str:
    """What is said of a proof that a run contradicts."""
    assert found.verdict is not None
    assert found.verdict.worst is not None
    left, right = apart(found.verdict.worst.left, found.verdict.worst.right)
    return (
        f"a proof was found, and a run at these numbers exceeds what it would prove, {left} > {right}: one of them is "
        "wrong, so that nothing is proved"
    )


def multiplied(statement: Statement, factors: Sequence[Fraction]) -> Statement:
    """The statement with a factor for each claim of what is not measured on the right, and a hair more.

    Of what is negative a smaller multiple is the weaker claim, so that the claims themselves stand beside it.
    """
    claims = zip(statement.claims, factors, strict=True)
    both = [(claim, each) for claim, factor in claims for each in dict.fromkeys((factor, max(factor, Fraction(1))))]
    return replace(statement, claims=tuple(_multiplied(statement, *each) for each in both))


def _exceeds(verdict: Verdict) -> bool:
    """Whether a left side is larger than the right one by more than what the rounding of given numbers does."""
    if verdict.outcome is not Outcome.VIOLATED or verdict.supposes or verdict.worst is None:
        return False
    worst = verdict.worst
    size = max(abs(worst.left), abs(worst.right), worst.size)
    return worst.left - worst.right > float(_HAIR) * size


def _multiplied(statement: Statement, claim: Claim, factor: Fraction) -> Claim:
    running = measured_in(claim.bound, statement.vocabulary)
    measured = {x: sp.Integer(0) for x in claim.bound.free_symbols if x.name.removesuffix(PREVIOUS) in running}
    more = sp.Rational(*(factor * (1 + _HAIR)).as_integer_ratio()) - 1
    return replace(claim, terms={name: term + more * term.xreplace(measured) for name, term in claim.terms.items()})


# --- Instances ---


def _instances(
    statement: Statement, values: Mapping[str, float], *, every_T: bool
) -> Iterator[tuple[int, Problem, Participation | None, dict[str, float]]]:
    """Rounds, problems with who takes part, and what is given, before they are scaled."""
    method, run = method_of(statement), statement.vocabulary.run
    if method is None or is_bilevel(statement):
        return
    given, T = _given(statement, values), run.get("rounds", "T")
    n, K, rounds = (int(values.get(run.get(role, ""), 1)) for role in ("clients", "local_steps", "rounds"))
    lengths = dict.fromkeys([min(rounds, _LONG), *_SHORT, rounds]) if every_T else [rounds]
    pattern = _pattern(statement, given, n)
    for turn, length in enumerate(each for each in lengths if each <= rounds):
        problems = _problems(statement, _scales(statement, values, given, n, K * length))
        for problem in itertools.islice(problems, _OTHERS if turn else _FIRST):
            yield length, problem, pattern, {**given, **({T: float(length)} if T in given else {})}


def _given(statement: Statement, values: Mapping[str, float]) -> dict[str, float]:
    """The numbers that `verify` takes: without those that the statement sets itself or does not speak of."""
    facts, assumed = statement.vocabulary.facts, certifiable(statement)
    spoken = {facts.get(name) for name in statement.parameters}
    ours = {*statement.parameters, *statement.vocabulary.run.values(), *getattr(method_of(statement), "step_sizes", ())}
    ours |= {name for name, fact in assumed.items() if fact in _SCALES - spoken}
    ruled = {rule.symbol.name for rule in statement.step_rules if not rule.at_least}
    return {
        name: values[name] for name in (ours & {*values}) - {*statement.settings, *ruled, *statement.vocabulary.derived}
    }


def _known(statement: Statement, given: Mapping[str, float]) -> dict[str, float]:
    """The given numbers by the facts that they are."""
    facts = statement.vocabulary.facts
    return {facts[name]: value for name, value in given.items() if name in facts}


def _scales(
    statement: Statement, values: Mapping[str, float], given: Mapping[str, float], n: int, steps: int
) -> Scales:
    """Curvatures and lengths of problems at these numbers."""
    vocabulary, known = statement.vocabulary, _known(statement, given)
    sizes = [
        value
        for name, value in values.items()
        if name in vocabulary
        and vocabulary[name].role is Role.STEP_SIZE
        and (vocabulary[name].f_degree, vocabulary[name].x_degree) == (-1, 2)
    ]
    step = max(sizes, default=1 / known.get("L", 1.0))
    assumed, method = {*statement.assumptions}, method_of(statement)
    high = known["L"] if "L" in known and _SMOOTH & assumed else _STEEP / step
    return Scales(
        n=n,
        d_v=int(method is not None and method.personal),
        low=max((known[fact] for fact in _CURVED & known.keys()), default=0.0),
        high=high,
        long=step * steps,
        bent=not assumes_convexity(statement),
        alike=bounds_dissimilarity(statement),
        cocoercive=Assumption.COCOERCIVE_OPERATOR in assumed,
    )


def _problems(statement: Statement, scales: Scales) -> Iterator[Problem]:
    if of_operators(statement.assumptions):
        return turns(scales)
    bounded = bool(BOUNDED & {*statement.assumptions})
    bent = not scales.d_v and has_pieces(statement)
    kinds = [] if bounded else [quadratics, unlike_clients]
    kinds += [hills, pieces] if bent else []
    kinds += [] if bounded else [drawn]
    return in_turns(*(each(scales) for each in kinds))


def _pattern(statement: Statement, given: Mapping[str, float], n: int) -> Participation | None:
    """A graph on which clients mix as little as they may; None for the participation that the statement assumes."""
    if not mixes(statement) or n == 1:
        return None
    known = _known(statement, given)
    mixed = Graph.named("complete", n, min(known.get("mixing_share", 1.0), 1.0))
    # What is left of a difference of clients is what the number admits, but for its rounding.
    return mixed.moved(1 - known.get("mixing_rate", 0.0) * _BELOW)


def _fitted(
    statement: Statement, problem: Problem, pattern: Participation | None, given: Mapping[str, float]
) -> Problem:
    """The problem in other units of x, such that its constants are as large as the given ones admit.

    Raises `InputError` where there are none.
    """
    facts = certifiable(statement)
    bare = {name: x for name, x in given.items() if name not in facts or facts[name] in {*NOISE, *ALONE}}

    def constants(here: Problem) -> dict[str, float]:
        setting = resolve(statement.at(bare), here, pattern, bare, _QUICK)
        found = on_trace(setting, setting.traces()[0]).constants
        return {name: c.value for name, c in found.items() if c.certificate is not Certificate.ABSENT}

    own, doubled = constants(problem), constants(larger(problem, 2.0))
    scale = math.inf
    for name in own.keys() & doubled.keys() & given.keys():
        if own[name] > 0 and (power := round(math.log2(doubled[name] / own[name]))) > 0:
            scale = min(scale, (given[name] / own[name]) ** (1 / power))
    return larger(problem, 1.0 if math.isinf(scale) else scale * _BELOW)
