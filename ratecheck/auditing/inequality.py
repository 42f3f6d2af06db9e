"""Scalar claims: a certificate, z3's word, or a rational counterexample.

A search for counterexamples comes first, since it is cheap; then combinations of products of hypotheses
(`combination`), substitutions that use up the hypotheses (`ratecheck.algebra.positivity.substitution`), and both in
turn (`chain`); z3 comes last.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import sympy as sp

from bounds.ledger.step import Scalar
from bounds.numbers import counted
from bounds.roots import shown
from bounds.statement import Condition
from ratecheck.algebra.counterexample import Counterexample, SearchRegion, confirmed, refutes
from ratecheck.algebra.evaluate import point_text, sides_text
from ratecheck.algebra.positivity.chain import Chain, chain
from ratecheck.algebra.positivity.handelman import Combination, combine, polynomial
from ratecheck.algebra.positivity.polynomial import System, powers_named, systems
from ratecheck.algebra.positivity.smt import decide as by_smt
from ratecheck.algebra.positivity.substitution import (
    HypothesisKind,
    Pivot,
    SubstitutionCertificate,
    all_hypotheses,
)
from ratecheck.algebra.search import Search, first_certificate
from ratecheck.algebra.time_limit import OutOfTime, limit
from ratecheck.auditing.decision import FULL, Answer, Decision, Effort, unknown

_SIGN_SPLITS = 3
ZERO = sp.Integer(0)
_UNKNOWN = unknown("neither a certificate nor a counterexample was found")

Part: TypeAlias = SubstitutionCertificate | Combination | Chain


@dataclass(frozen=True)
class InequalityProof:
    """Certificates that together prove a claim."""

    parts: tuple[Part, ...]

    def check(self) -> bool:
        """Whether each of them does its part."""
        return all(part.check() for part in self.parts)


def decide(claim: Scalar, effort: Effort = FULL, region: SearchRegion | None = None) -> Decision:
    """Whether a scalar claim holds wherever its hypotheses do."""
    symbols = claim.left.free_symbols | claim.right.free_symbols
    region = region or SearchRegion(claim.hypotheses, symbols)
    found = searched(claim, effort.generations, region)
    if found is not None:
        return refuted(claim, found)
    # What is easy to prove takes little time; what is not may well be false.
    proved, ended = _in_time(claim, effort.seconds / 4)
    if proved is not None:
        return proved
    found = searched(claim, effort.deep, region)
    if found is not None:
        return refuted(claim, found)
    # A search for a proof that came to its end would end alike.
    proved = None if ended else prove(claim, effort)
    if proved is not None:
        return proved
    return _by_solver(claim, effort) if effort.solver else _UNKNOWN


def searched(claim: Scalar, generations: int, region: SearchRegion | None = None) -> Counterexample | None:
    """A confirmed counterexample, if one is found in so many generations."""
    region = region or SearchRegion(claim.hypotheses, claim.left.free_symbols | claim.right.free_symbols)
    try:
        found = region.counterexample(claim.left, claim.operator, claim.right, generations)
    except (TypeError, NameError, AttributeError):
        # Functions that NumPy does not know.
        return None
    if found is None or not confirmed(found, claim.hypotheses, claim.left, claim.operator, claim.right):
        return None
    return found


def refuted(claim: Scalar, found: Counterexample) -> Decision:
    """The decision that a counterexample makes."""
    at = point_text(found.point) or "every point"
    sides = sides_text(found.left, claim.operator, found.right)
    return Decision(answer=Answer.FALSE, evidence=f"false at {at}: {sides}")


# --- Proofs ---


def prove(claim: Scalar, effort: Effort = FULL) -> Decision | None:
    """A certified proof, if one is found in time."""
    return _in_time(claim, effort.seconds)[0]


def _in_time(claim: Scalar, seconds: float) -> tuple[Decision | None, bool]:
    """A certified proof, if one is found in so many seconds, and whether the search came to its end."""
    try:
        with limit(seconds):
            return _prove(claim), True
    except OutOfTime:
        return None, False


def _prove(claim: Scalar) -> Decision | None:
    if claim.operator == "==" and not vanishes(claim.left - claim.right):
        halves = [_prove(dataclasses.replace(claim, operator=operator)) for operator in ("<=", ">=")]
        return None if None in halves else halves[0]
    for form in _forms(claim):
        proof = _certified(form)
        if proof is not None:
            evidence = describe(proof, _symbols(claim))
            return Decision(answer=Answer.TRUE, certified="certificate", evidence=evidence, used=None)
    return None


def _forms(claim: Scalar) -> Iterator[Scalar]:
    """Claims from each of which this one follows: with bounds substituted, as it is, and with both sides squared."""
    put_in = eliminated(claim)
    for form in (put_in, claim) if put_in != claim else (claim,):
        yield from _squared(form)
        yield form


def _squared(claim: Scalar) -> Iterator[Scalar]:
    """Without what both sides share, each side squared, if there are roots and neither side can be negative."""
    if claim.operator == "==" or not (_has_root(claim.left) or _has_root(claim.right)):
        return
    small, large = (claim.left, claim.right) if claim.operator in ("<=", "<") else (claim.right, claim.left)
    terms = sp.Add.make_args(large - small)
    less = sp.Add(*(-term for term in terms if term.as_coeff_Mul()[0] < 0))
    more = sp.Add(*(term for term in terms if term.as_coeff_Mul()[0] >= 0))
    if _never_negative(less) and _never_negative(more):
        operator = "<" if claim.operator in ("<", ">") else "<="
        left, right = (sp.powdenest(sp.expand(side**2), force=True) for side in (less, more))
        yield dataclasses.replace(claim, left=left, operator=operator, right=right)


def _never_negative(expr: sp.Expr) -> bool:
    """Whether an expression is nonnegative wherever its roots are real."""
    if expr.is_Pow and expr.exp.is_Rational and expr.exp.q == 2:
        return True
    if expr.is_Mul or expr.is_Add:
        return all(map(_never_negative, expr.args))
    return bool(expr.is_nonnegative)


def eliminated(claim: Scalar) -> Scalar:
    """The claim with hypotheses ``x == E`` and ``x <= E`` substituted, these where everything is weakest at x = E.

    The claim follows from it: quantities stand at their worst, and hypotheses are weakened or dropped.
    """
    if claim.operator == "==":
        return claim
    small, large = (claim.left, claim.right) if claim.operator in ("<=", "<") else (claim.right, claim.left)
    goal, hypotheses = large - small, list(claim.hypotheses)
    for _ in claim.hypotheses:
        found = next(_puttable(goal, hypotheses), None)
        if found is None:
            break
        used, put = found
        goal = goal.xreplace(put)
        hypotheses = [h.put(put) for h in hypotheses if h is not used]
        hypotheses += [
            Condition(name=str(symbol), left=value, operator=">=", right=ZERO)
            for symbol, value in put.items()
            if used.operator == "==" and symbol.is_nonnegative and not value.is_nonnegative
        ]
    operator = "<" if claim.operator in ("<", ">") else "<="
    return dataclasses.replace(claim, left=ZERO, operator=operator, right=goal, hypotheses=tuple(hypotheses))


def _puttable(goal: sp.Expr, hypotheses: Sequence[Condition]) -> Iterator[tuple[Condition, dict[sp.Symbol, sp.Expr]]]:
    """Hypotheses that can be substituted, each with the substitution."""
    for hypothesis in reversed(hypotheses):
        others = [h for h in hypotheses if h is not hypothesis]
        for symbol, operator, value in _bare(hypothesis):
            rises = [_monotone(h, symbol, operator) for h in others]
            if operator == "==" or (_falls(goal, symbol, operator) and all(rises)):
                yield hypothesis, {symbol: value}


def _falls(expr: sp.Expr, symbol: sp.Symbol, operator: str) -> bool:
    """Whether an expression is smallest where the symbol is at its bound, and has the symbol at all."""
    slope = sp.diff(expr, symbol)
    if slope == 0 or (slope.has(symbol) and not symbol.is_nonnegative):
        return False
    return bool(slope.is_nonpositive if operator == "<=" else slope.is_nonnegative)


def _monotone(hypothesis: Condition, symbol: sp.Symbol, operator: str) -> bool:
    """Whether a hypothesis still holds with the bound in place of the symbol."""
    if not hypothesis.left.has(symbol) and not hypothesis.right.has(symbol):
        return True
    if hypothesis.operator == "==":
        return False
    direction = 1 if hypothesis.operator in ("<=", "<") else -1
    return _falls(direction * (hypothesis.left - hypothesis.right), symbol, operator)


def _bare(hypothesis: Condition) -> Iterator[tuple[sp.Symbol, str, sp.Expr]]:
    """A hypothesis as a bound on a symbol that stands alone on one side, or times something positive."""
    turned = {"<=": ">=", "<": ">=", ">=": "<=", ">": "<=", "==": "=="}
    weak = {"<=": "<=", "<": "<=", ">=": ">=", ">": ">=", "==": "=="}
    sides = ((hypothesis.left, hypothesis.right, weak), (hypothesis.right, hypothesis.left, turned))
    for side, other, operators in sides:
        for symbol in sorted((f for f in sp.Mul.make_args(side) if f.is_Symbol), key=str):
            rest = side / symbol
            if rest.is_positive and not rest.has(symbol) and not other.has(symbol):
                yield symbol, operators[hypothesis.operator], other / rest
    if hypothesis.operator == "==":
        difference = hypothesis.left - hypothesis.right
        for symbol in sorted(difference.free_symbols, key=str):
            slope = sp.diff(difference, symbol)
            if slope.is_Rational and slope != 0:
                yield symbol, "==", sp.expand(symbol - difference / slope)


def _has_root(expr: sp.Expr) -> bool:
    return any(power.exp.is_Rational and not power.exp.is_Integer for power in expr.atoms(sp.Pow))


def _certified(claim: Scalar) -> InequalityProof | None:
    if claim.operator in ("==", "<=", ">=") and vanishes(claim.left - claim.right):
        return InequalityProof(())
    parts: list[Part] = []
    try:
        cases = split(claim)
    except ValueError:
        return None
    for case in cases:
        part = certify(case)
        if part is None:
            return None
        parts += part
    proof = InequalityProof(tuple(parts))
    return proof if proof.check() else None


def vanishes(difference: sp.Expr) -> bool:
    """Whether an expression is 0, decided by expansion over one denominator."""
    difference = sp.sympify(difference)
    if difference == 0:
        return True
    numerator = sp.fraction(sp.together(difference))[0]
    return sp.expand(numerator) == 0


def split(claim: Scalar) -> list[System]:
    """The polynomial systems that are together equivalent to a claim; raises ValueError for what is not algebraic.

    For a strict claim, a strict hypothesis a > b becomes a >= b + s with a positive symbol s of its own.
    """
    goal = Condition(name="", left=claim.left, operator=claim.operator, right=claim.right)
    hypotheses = claim.hypotheses
    if claim.operator in ("<", ">"):
        hypotheses = tuple(_with_slack(h, number) for number, h in enumerate(hypotheses))
    return [_polynomial(system) for system in systems(goal, hypotheses)]


def _with_slack(hypothesis: Condition, number: int) -> Condition:
    if hypothesis.operator not in ("<", ">"):
        return hypothesis
    slack = sp.Symbol(f"slack_{number + 1}", positive=True)
    if hypothesis.operator == "<":
        return dataclasses.replace(hypothesis, operator="<=", left=hypothesis.left + slack)
    return dataclasses.replace(hypothesis, operator=">=", right=hypothesis.right + slack)


def _polynomial(system: System) -> System:
    """A system without denominators whose sign is not seen."""
    return dataclasses.replace(system, goal=_visible(system.goal), hypotheses=tuple(map(_visible, system.hypotheses)))


def _visible(expr: sp.Expr) -> sp.Expr:
    denominator = sp.expand(sp.fraction(sp.together(expr))[1])
    signs = {term.as_coeff_Mul()[0] > 0 for term in sp.Add.make_args(denominator)}
    return expr if len(signs) == 1 and denominator.is_polynomial() else polynomial(expr)


def certify(system: System) -> list[Part] | None:
    """Certificates that together prove one polynomial system."""
    if not _algebraic(system):
        return None
    symbols = {s for expr in (system.goal, *system.hypotheses) for s in expr.free_symbols}
    signed = sorted((s for s in symbols if not s.is_nonnegative), key=str)
    if not signed:
        return _certify_nonnegative(system)
    whole = combine(system, pairs=False) or combine(system)
    if whole is not None and (whole.strict or not system.strict):
        return [whole]
    if len(signed) > _SIGN_SPLITS:
        return None
    found: list[Part] = []
    for signs in itertools.product((1, -1), repeat=len(signed)):
        put = {s: sign * sp.Symbol(s.name, nonnegative=True) for s, sign in zip(signed, signs, strict=True)}
        case = dataclasses.replace(system.put(put), restored={})
        part = _certify_nonnegative(case)
        if part is None:
            return None
        found += part
    return found


def _algebraic(system: System) -> bool:
    return all(
        sp.fraction(sp.together(expr))[k].is_polynomial(*expr.free_symbols)
        for expr in (system.goal, *system.hypotheses)
        for k in (0, 1)
    )


def _certify_nonnegative(system: System) -> list[Part] | None:
    """Certificates for a system in which no symbol is negative: what is quick comes first."""
    single = _single(system)
    if single is not None:
        return [single]
    if not system.strict:
        parts = _certify_parts(system)
        if parts is not None:
            return parts
    whole = combine(system) or chain(system)
    if whole is not None and (whole.strict or not system.strict):
        return [whole]
    return _substituted(system) or _multiplied(system) or _by_cases(system)


def _single(system: System) -> Part | None:
    """A combination of single hypotheses, or substitutions that use up the hypotheses."""
    quick = combine(system, pairs=False)
    if quick is not None and (quick.strict or not system.strict):
        return quick
    found = first_certificate(system)
    return found if found is not None and accepted(found) else None


def _by_cases(system: System) -> list[Part] | None:
    """A whole number is 1 or at least 2."""
    for symbol in sorted((s for s in system.goal.free_symbols if s.is_integer and s.is_positive), key=str):
        if system.restored:
            return None
        one = {symbol: sp.Integer(1)}
        first = dataclasses.replace(system.put(one), restored={})
        rest = system.under((*system.hypotheses, symbol - 2))
        parts: list[Part] = []
        for case in (first, rest):
            found = _single(case) or combine(case)
            if found is None or (isinstance(found, Combination) and case.strict > found.strict):
                break
            parts.append(found)
        else:
            return parts
    return None


def _multiplied(system: System) -> list[Part] | None:
    """A combination for the goal times a product of positive symbols."""
    symbols = sorted((s for s in system.goal.free_symbols if s.is_positive), key=str)
    hidden = {s for h in system.hypotheses for s in h.free_symbols if s.is_positive} - set(symbols)
    multipliers = [*symbols, *sorted(hidden, key=str)]
    for multiplier in (*multipliers, *(s**2 for s in multipliers)):
        found = combine(system, multiplier=multiplier)
        if found is not None and (found.strict or not system.strict):
            return [found]
    return None


def _certify_parts(system: System) -> list[Part] | None:
    """A certificate for each coefficient of the monomials in unrestricted symbols."""
    parts: list[Part] = []
    searches = [search for _, search in Search(system).parts()]
    if len(searches) < 2:
        return None
    for search in searches:
        found = _single(search.system) or combine(search.system) or chain(search.system)
        if found is None:
            return None
        parts.append(found)
    return parts


def _substituted(system: System) -> list[Part] | None:
    """Domains of whole numbers substituted (K = 1 + K'), then a combination; both steps are re-checked by expansion."""
    whole = {
        s: 1 + sp.Symbol(s.name, nonnegative=True) for s in system.goal.free_symbols if s.is_integer and s.is_positive
    }
    if not whole or system.restored or system.strict:
        return None
    shifted = dataclasses.replace(system.put(whole), restored={})
    found = combine(shifted)
    return None if found is None else [found]


def accepted(certificate: SubstitutionCertificate) -> bool:
    """Whether a certificate checks and, for a strict goal, shows more than nonnegativity."""
    try:
        if not certificate.check():
            return False
    except ZeroDivisionError:
        return False
    if not certificate.system.strict:
        return True
    replaced = {pivot.symbol for pivot in certificate.pivots}
    return _has_positive_term(certificate.goal.numerator.as_expr(), replaced)


def _has_positive_term(expr: sp.Expr, not_positive: set[sp.Symbol]) -> bool:
    terms = sp.Add.make_args(sp.expand(expr))
    return any(term != 0 and all(s.is_positive and s not in not_positive for s in term.free_symbols) for term in terms)


def describe(proof: InequalityProof, symbols: Iterable[sp.Symbol]) -> str:
    """The kind of a certificate, in a line; in the ``symbols`` of the claim, of whose powers a proof may be."""
    puts = [[*map(_put, part.pivots)] for part in proof.parts if isinstance(part, SubstitutionCertificate)]
    sums = [
        part.last if isinstance(part, Chain) else part
        for part in proof.parts
        if not isinstance(part, SubstitutionCertificate)
    ]
    chains = [part for part in proof.parts if isinstance(part, Chain)]
    puts += [[(each.symbol, each.bound + _above(each.symbol)) for each in part.puts] for part in chains]
    symbols = list(symbols)
    put = "; ".join(dict.fromkeys(text for one in puts for text in _put_texts(one, symbols)))
    texts = []
    if not proof.parts:
        return "the sides agree once what is given is substituted"
    if len(sums) < len(proof.parts):
        texts.append(f"every coefficient >= 0 after {put}" if put else "every coefficient >= 0")
    if sums:
        terms = sum(len(part.summands) for part in sums)
        after = f" after {put}" if put and len(sums) == len(proof.parts) else ""
        products = "a product" if terms == 1 else f"{terms} products"
        texts.append(f"nonnegative combination of {products} of hypotheses{after}")
    return f"{' and '.join(texts)} ({counted(len(proof.parts), 'certificate')})"


def _above(symbol: sp.Symbol) -> sp.Symbol:
    """The nonnegative symbol x' of a substitution x = bound + x'."""
    return sp.Symbol(f"{symbol.name}'")


def _put(pivot: Pivot) -> tuple[sp.Symbol, sp.Expr]:
    """The expression that a substitution puts in place of a symbol."""
    new = _above(pivot.symbol)
    slope, rest = pivot.slope.as_expr(), pivot.rest.as_expr()
    if pivot.kind is HypothesisKind.ZERO:
        return pivot.symbol, sp.Integer(0)
    least = pivot.kind is HypothesisKind.AT_LEAST
    bound = sp.factor(-rest / slope if least else -slope / rest)
    # By how much it is more, or by which part of the bound.
    value = bound * (1 + new) if pivot.scaled else bound + new
    return pivot.symbol, value if least else 1 / value


def _put_texts(puts: Sequence[tuple[sp.Symbol, sp.Expr]], symbols: Sequence[sp.Symbol]) -> Iterator[str]:
    """Substitutions one after the other, in the symbols of the claim, for whose powers a proof has names of its own.

    A proof calls what is left above a bound by the old name; here it has one prime more each time, and what is left of
    a power is named after what the power is of.
    """
    met: Counter[str] = Counter()
    for old, value in puts:
        powers = powers_named([each.name for each in (old, *value.free_symbols)], symbols)
        base = {name: next(iter(power.free_symbols)).name for name, power in powers.items()}
        names = {
            each: powers[each.name]
            if each.name in powers and not met[each.name]
            else sp.Symbol(base.get(each.name, each.name) + "'" * met[each.name])
            for each in (old, *value.free_symbols)
        }
        names[_above(old)] = sp.Symbol(base.get(old.name, old.name) + "'" * (met[old.name] + 1))
        yield f"{shown(names[old])} = {shown(value.xreplace(names))}"
        met[old.name] += 1


# --- z3 ---

_UNDECIDED = {
    "sat": "z3 found a point that rational arithmetic does not confirm",
    "killed": "not decided: z3 did not come to an end and was killed",
}


def _by_solver(claim: Scalar, effort: Effort) -> Decision:
    try:
        with limit(4 * effort.solver + 10):
            return _split_and_decided(claim, effort)
    except (OutOfTime, ValueError):
        return _UNKNOWN


def _split_and_decided(claim: Scalar, effort: Effort) -> Decision:
    for system in split(claim):
        if not _algebraic(system):
            return unknown("not algebraic: no certificate, and no counterexample found")
        part = None
        try:
            with limit(effort.seconds / 2):
                part = certify(system)
        except OutOfTime:
            pass
        if part is not None:
            continue
        answer, model = by_smt(system.under(all_hypotheses(system)), effort.solver)
        if answer == "unsat":
            continue
        found = _restored(claim, system, model) if answer == "sat" else None
        if found is not None:
            return refuted(claim, found)
        why = _UNDECIDED.get(answer, "z3 did not decide")
        return unknown(why)
    return Decision(answer=Answer.TRUE, certified="solver", evidence="z3: no counterexample exists")


def _restored(claim: Scalar, system: System, model: Mapping[sp.Symbol, object]) -> Counterexample | None:
    """The model as a counterexample to the claim as it stands, rounded to several precisions."""
    from fractions import Fraction

    symbols = sorted(_symbols(claim), key=str)
    values: dict[sp.Symbol, Fraction] = {}
    put = {s: sp.Rational(v.numerator, v.denominator) for s, v in model.items() if isinstance(v, Fraction)}
    for symbol in symbols:
        value = sp.sympify(system.restored.get(symbol, symbol)).xreplace(put)
        if value.free_symbols or not value.is_number:
            value = sp.Integer(1)
        values[symbol] = (
            Fraction(str(value.evalf(30))) if not value.is_Rational else Fraction(int(value.p), int(value.q))
        )
    for denominator in (10, 1000, 10**6, 10**12, 10**30):
        point = {s: Fraction(round(v)) if s.is_integer else v.limit_denominator(denominator) for s, v in values.items()}
        found = refutes(point, claim.left, claim.operator, claim.right)
        if found is not None and confirmed(found, claim.hypotheses, claim.left, claim.operator, claim.right):
            return found
    return None


def _symbols(claim: Scalar) -> set[sp.Symbol]:
    sides: Sequence[sp.Expr] = [claim.left, claim.right, *(x for h in claim.hypotheses for x in (h.left, h.right))]
    return {s for side in sides for s in side.free_symbols}
