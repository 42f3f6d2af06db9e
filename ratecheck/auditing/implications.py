"""Does a statement follow from others as the paper says, and with which constants does it follow at best."""

from __future__ import annotations

import dataclasses
import enum
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import sympy as sp

import bounds
from bounds.ledger.implication import Implication, Obligation, ProofObligations, case, chosen_claim
from bounds.ledger.implications import of
from bounds.ledger.step import Scalar, Step
from bounds.statement import Claim, Condition, Relation, Statement
from bounds.symbols import Role
from ratecheck.algebra.positivity.polynomial import System, pairs, systems
from ratecheck.algebra.positivity.smt import refute
from ratecheck.algebra.positivity.substitution import Key, SubstitutionCertificate, key_of
from ratecheck.algebra.search import Search, threshold

# A constant smaller than the sharpest by this share is refuted by a counterexample.
SHARE = sp.Rational(1, 1000)
_DIGITS = 60
# How many certificates are compared for a sharpest constant, unless one is seen to be the best.
_CANDIDATES = 6
_TINY = sp.Rational(1, 10**30)
ONE = sp.Integer(1)


class ImplicationVerdict(enum.Enum):
    """The three possible answers."""

    PROVED = "PROVED"
    FALSE = "FALSE"
    UNKNOWN = "UNKNOWN"


class How(enum.Enum):
    """The method by which an implication is proved."""

    IDENTITY = "identity"
    CERTIFICATE = "certificate"
    SOLVER = "solver only"


@dataclass(frozen=True)
class ImplicationCounterexample:
    """Admissible parameters at which an obligation fails: ``left <operator> right`` is false."""

    obligation: Obligation
    values: Mapping[sp.Symbol, sp.Expr]
    left: sp.Expr
    right: sp.Expr


@dataclass(frozen=True)
class ImpliedConstant:
    """A numeric constant of the conclusion as printed, and the least with which the same argument works.

    ``place`` is the term or condition in which it stands. ``refuted`` is a constant, smaller by `SHARE`, that a
    counterexample rules out; None where none was found, so that ``sharpest`` is only an upper bound. ``sharpest`` is
    None where no constant was proved.
    """

    place: str
    printed: sp.Expr
    sharpest: sp.Expr | None
    refuted: ImplicationCounterexample | None


@dataclass(frozen=True)
class CheckedImplication:
    """The answer for one implication."""

    implication: Implication
    verdict: ImplicationVerdict
    how: How | None = None
    certificates: tuple[SubstitutionCertificate, ...] = ()
    counterexample: ImplicationCounterexample | None = None
    open: tuple[str, ...] = ()
    constants: tuple[ImpliedConstant, ...] = ()


def check(
    implication: Implication,
    conclusion: Statement | None = None,
    *,
    sharpest: bool = True,
    solver: bool = True,
    granted: Sequence[Obligation] = (),
    premises: Mapping[str, Statement] = MappingProxyType({}),
) -> CheckedImplication:
    """Decide an implication, for its conclusion or a variant of it; find the sharpest constants where wanted.

    Obligations that are ``granted`` are not decided again. Without ``solver`` no word of z3's counts as a proof.
    ``premises`` are variants of the statements that it uses, by key.
    """
    statement = conclusion or bounds.get(implication.conclusion)
    problem = case(implication, statement, premises)
    certificates: list[SubstitutionCertificate] = []
    hints: list[Key] = []
    how, unknown = How.IDENTITY, []
    for obligation in problem.obligations:
        for system in systems(obligation.goal, problem.hypotheses) if obligation not in granted else ():
            proof = _prove(system, hints, solver=solver)
            if proof is None:
                found = counterexample(problem, obligation, system)
                if found is not None:
                    verdict = ImplicationVerdict.FALSE
                    return CheckedImplication(implication, verdict, None, tuple(certificates), found)
                unknown.append(obligation.name)
            elif isinstance(proof, How):
                how = proof
            else:
                certificates += proof
                how = How.CERTIFICATE if how is How.IDENTITY and proof else how
    if unknown:
        verdict = ImplicationVerdict.UNKNOWN
        return CheckedImplication(implication, verdict, None, tuple(certificates), open=tuple(unknown))
    # Where no certificate was found there is none to sharpen.
    constants = tuple(_constants(implication, statement, hints, premises)) if sharpest and how is not How.SOLVER else ()
    return CheckedImplication(implication, ImplicationVerdict.PROVED, how, tuple(certificates), constants=constants)


def obligation_steps(
    implication: Implication,
    conclusion: Statement | None = None,
    premises: Mapping[str, Statement] = MappingProxyType({}),
) -> Iterator[Step]:
    """Every inequality that an implication comes down to, as a step ``KEY:N:M`` of a ledger.

    It is the M-th of the N-th implication that concludes the statement KEY; see `check` for ``premises``.
    """
    statement = conclusion or bounds.get(implication.conclusion)
    problem, number = case(implication, statement, premises), of(implication.conclusion).index(implication) + 1
    for place, obligation in enumerate(problem.obligations, 1):
        goal = obligation.goal
        yield Step(
            id=f"{implication.conclusion}:{number}:{place}",
            location=implication.location,
            claim=obligation.name,
            of=implication.conclusion,
            check=Scalar(left=goal.left, operator=goal.operator, right=goal.right, hypotheses=problem.hypotheses),
        )


def _prove(system: System, hints: list[Key], *, solver: bool) -> list[SubstitutionCertificate] | How | None:
    """Certificates for the parts of a goal (none are needed for an identity), z3's word, or nothing."""
    search = Search(system)
    if not search.goal.numerator and not system.strict:
        return []
    certificates = []
    for _, part in search.parts():
        # Bounds and conditions are continuous in constants that may be 0.
        certificate = next(part.run(hints=hints), None)
        if certificate is None or not certificate.check(interior=True):
            break
        certificates.append(certificate)
        key = key_of(certificate.pivots)
        if key in hints:
            hints.remove(key)
        hints.insert(0, key)
    else:
        return certificates
    return How.SOLVER if solver and refute(system) is True else None


# --- Counterexamples ---


def counterexample(
    problem: ProofObligations, obligation: Obligation, system: System, monomial: sp.Expr = ONE
) -> ImplicationCounterexample | None:
    """Admissible parameters at which the obligation fails, confirmed in 60 digits; None where none was found.

    The system's goal may be the part of the obligation's that stands before a ``monomial``.
    """
    for values in _candidates(system, monomial) if problem.complete else ():
        found = confirmed(problem, obligation, values)
        if found is not None:
            return found
    return None


class _Values(dict[sp.Symbol, sp.Expr]):
    """Values of symbols; those that the part of a goal leaves out are as small as they may be."""

    def __missing__(self, symbol: sp.Symbol) -> sp.Expr:
        if symbol.is_integer:
            return ONE
        return _TINY if symbol.is_positive else sp.Integer(0)

    def at(self, expr: sp.Expr) -> sp.Expr:
        """An expression at these values."""
        return sp.sympify(expr).xreplace({symbol: self[symbol] for symbol in sp.sympify(expr).free_symbols})


def _candidates(system: System, monomial: sp.Expr) -> Iterator[_Values]:
    """Values of the original symbols at which the goal may be negative."""
    for point in Search(system).negative_points():
        values = _Values(dict.fromkeys(monomial.free_symbols, ONE))
        values |= {symbol: sp.Rational(value.numerator, value.denominator) for symbol, value in point.items()}
        values |= {old: values.at(new) for old, new in system.restored.items()}
        yield values


def confirmed(
    problem: ProofObligations, obligation: Obligation, values: Mapping[sp.Symbol, sp.Expr]
) -> ImplicationCounterexample | None:
    """The counterexample, if whole numbers are whole, every hypothesis holds, and the obligation does not."""
    conditions = [obligation.goal, *problem.hypotheses]
    symbols = set().union(*(side.free_symbols for c in conditions for side in (c.left, c.right)))
    values = {symbol: values[symbol] for symbol in symbols}
    for symbol, value in values.items():
        if not value.is_real or (symbol.is_integer and not value.is_integer):
            return None
        if value < 0 or (symbol.is_positive and value == 0):
            return None
    if not all(_holds(condition, values) for condition in problem.hypotheses):
        return None
    if _holds(obligation.goal, values) is not False:
        return None
    goal = obligation.goal
    left, right = (sp.sympify(side).evalf(15, subs=dict(values)) for side in (goal.left, goal.right))
    return ImplicationCounterexample(
        obligation, dict(sorted(values.items(), key=lambda item: item[0].name)), left, right
    )


def _holds(condition: Condition, values: Mapping[sp.Symbol, sp.Expr]) -> bool | None:
    """Plain evaluation with 60 digits; what is equal to 50 counts as equal, and what has no value is inconclusive."""
    for pair in pairs(condition):
        # Putting the values in first would have SymPy factorise large numbers under roots.
        small, large = (sp.sympify(side).evalf(_DIGITS, subs=dict(values)) for side in (pair.small, pair.large))
        if not (small.is_real and large.is_real):
            return None
        slack = (abs(small) + abs(large)) * sp.Float(10) ** (10 - _DIGITS)
        if (large - small <= slack) if pair.strict else (large - small < -slack):
            return False
    return True


# --- Sharpest constants ---


def _constants(
    implication: Implication, statement: Statement, hints: Sequence[Key], premises: Mapping[str, Statement]
) -> Iterator[ImpliedConstant]:
    """Each numeric factor of the conclusion's right side, and of its upper limits on step sizes."""
    parameter = sp.Dummy("c", positive=True)
    for place, printed, variant in variants(implication, statement, parameter):
        yield sharpest_constant(implication, variant, place, printed, parameter, hints, premises)


@dataclass(frozen=True)
class ConstantPlace:
    """The place of a numeric constant in a statement, which is weaker with a larger constant.

    It is the factor of a term of ``claim``, or, ``is_cap``, what divides a condition's upper limit on a step size.
    """

    claim: str
    name: str
    is_cap: bool
    printed: sp.Expr

    def put(self, statement: Statement, value: sp.Expr) -> Statement:
        """The statement with this constant; without the term where it is 0."""
        if self.is_cap:
            old = next(each for each in statement.conditions if each.name == self.name)
            limit = dataclasses.replace(old, right=old.right / _coefficient(old.right) / value)
            conditions = tuple(limit if each is old else each for each in statement.conditions)
            return dataclasses.replace(statement, conditions=conditions)
        claim = chosen_claim(statement, self.claim)
        term = claim.terms[self.name]
        terms = {**claim.terms, self.name: term / _factor(term) * value}
        changed = dataclasses.replace(claim, terms={name: each for name, each in terms.items() if each != 0})
        claims = tuple(changed if each is claim else each for each in statement.claims)
        return dataclasses.replace(statement, claims=claims)


def places_of_terms(claim: Claim) -> Iterator[ConstantPlace]:
    """The factors of a claim's terms; none where it bounds an order."""
    for name, term in claim.terms.items() if claim.relation is not Relation.ORDER else ():
        if (factor := _factor(term)) > 0:
            yield ConstantPlace(claim.name, name, is_cap=False, printed=factor)


def places_of_caps(statement: Statement) -> Iterator[ConstantPlace]:
    """The numbers that divide upper limits on step sizes."""
    for condition in statement.conditions:
        factor = _coefficient(condition.right)
        role = statement.vocabulary[condition.left.name].role if condition.left.is_Symbol else None
        if role is Role.STEP_SIZE and condition.operator == "<=" and factor > 0:
            yield ConstantPlace("", condition.name, is_cap=True, printed=1 / factor)


def _factor(term: sp.Expr) -> sp.Expr:
    """The number before a term, which may be a sum."""
    return term.primitive()[0] if term.is_Add else _coefficient(term)


def _coefficient(expr: sp.Expr) -> sp.Expr:
    return sp.sympify(expr).as_coeff_Mul()[0]


def variants(
    implication: Implication, statement: Statement, parameter: sp.Symbol
) -> Iterator[tuple[str, sp.Expr, Statement]]:
    """The conclusion with one of its constants replaced by the parameter; larger is weaker."""
    claim = chosen_claim(statement, implication.claim)
    if claim.relation is Relation.ORDER:
        return
    using = implication.using
    caps = (each for each in places_of_caps(statement) if using is None or each.name in using)
    for place in (*places_of_terms(claim), *caps):
        yield place.name, place.printed, place.put(statement, parameter)


def sharpest_constant(
    implication: Implication,
    variant: Statement,
    place: str,
    printed: sp.Expr,
    parameter: sp.Symbol,
    hints: Sequence[Key] = (),
    premises: Mapping[str, Statement] = MappingProxyType({}),
) -> ImpliedConstant:
    """The least ``parameter`` with which the variant of the conclusion follows, and what refutes a smaller one."""
    problem = case(implication, variant, premises)
    sharpest, deciding = sp.Integer(0), None
    everywhere = any(_has(condition, parameter) for condition in problem.hypotheses)
    for obligation in problem.obligations:
        if not everywhere and not _has(obligation.goal, parameter):
            continue
        for system in systems(obligation.goal, problem.hypotheses):
            for monomial, part in Search(system, parameter).parts():
                least = _least(part, printed, hints, sharpest) if parameter in part.symbols else sp.Integer(0)
                if least > sharpest:
                    sharpest, deciding = least, (obligation, part.system, monomial)
    if deciding is None or sharpest == sp.oo:
        return ImpliedConstant(place, printed, None if deciding else sharpest, None)
    smaller = {parameter: _rational(sharpest * (1 - SHARE))}
    obligation, system, monomial = deciding
    refuted = Obligation(name=obligation.name, goal=obligation.goal.put(smaller))
    hypotheses = tuple(each.put(smaller) for each in problem.hypotheses)
    at = dataclasses.replace(problem, hypotheses=hypotheses, obligations=(refuted,))
    return ImpliedConstant(place, printed, sharpest, counterexample(at, refuted, system.put(smaller), monomial))


def _least(part: Search, printed: sp.Expr, hints: Sequence[Key], known: sp.Expr) -> sp.Expr:
    """The least parameter for which a part of a goal has a certificate; anything up to ``known`` is small enough."""
    least = sp.oo
    candidates = part.run(Fraction(int(printed.p), int(printed.q)), hints)
    for certificate in itertools.islice(candidates, _CANDIDATES):
        least = min(least, threshold(certificate, part.parameter))
        if least <= known:
            break
        smaller = part.system.put({part.parameter: _rational(least * (1 - SHARE))})
        if least < sp.oo and next(Search(smaller).negative_points(), None):
            break
    return least


def _has(condition: Condition, symbol: sp.Symbol) -> bool:
    return symbol in condition.left.free_symbols | condition.right.free_symbols


def _rational(value: sp.Expr) -> sp.Expr:
    return value if value.is_Rational or value == sp.oo else sp.Rational(str(sp.N(value, 15)))
