"""Certificates as data: what `ratecheck.recheck` accepts without anything else of ratecheck; see docs/audit.md.

The claim and its hypotheses become polynomials, a root or a maximum a variable of its own with what defines it among
the hypotheses. A proof is looked for on these polynomials, and nothing is returned that the checker does not accept.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp

from bounds.ledger.step import Check, Gram, Identity, Scalar, Step
from bounds.ledger.vectors import factors, product_symbol
from ratecheck import recheck
from ratecheck.algebra.positivity.chain import chain
from ratecheck.algebra.positivity.handelman import Combination, combine
from ratecheck.algebra.positivity.polynomial import System
from ratecheck.algebra.positivity.substitution import HypothesisKind, Pivot
from ratecheck.algebra.search import Search
from ratecheck.algebra.time_limit import OutOfTime, limit
from ratecheck.algebra.work_limit import OutOfWorkError, at_most
from ratecheck.auditing.export.claim_data import Names, NotExpressibleError, claim_data
from ratecheck.auditing.finding import StepResult, StepVerdict
from ratecheck.auditing.gram import GramProof, prove

SCHEMA = 2
# What the search for a proof may take, in columns of linear programmes: some 20 seconds. The clock ends what is not
# counted, at several times that.
WORK = 200_000
SECONDS = 120.0
_SIGN_SPLITS = 3
_DEPTH = 4
_TWO = 2
# A search may take more work than the check of what it finds.
_UNBOUNDED = 10**15

ONE = sp.Integer(1)


def exported(step: Step, found: StepResult) -> dict[str, Any]:
    """The certificate of a step that is proved, or the reason why there is none, as data to keep."""
    if found.verdict is StepVerdict.PROVED and found.certified:
        return answered(step)
    reason = "proved on z3's word" if found.verdict is StepVerdict.PROVED else ""
    return {"id": step.id, "certificate": None, "reason": reason}


def answered(step: Step) -> dict[str, Any]:
    """The certificate of a step, or the reason why there is none, as data to keep."""
    try:
        return {"id": step.id, "certificate": certificate(step, step.check), "reason": ""}
    except NotExpressibleError as error:
        return {"id": step.id, "certificate": None, "reason": str(error)}


def file_data(answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The data of a file of certificates: the certificates, and the proved steps without one, with the reason."""
    return {
        "schema": SCHEMA,
        "steps": [each["certificate"] for each in answers if each["certificate"]],
        "without_certificate": [{"id": each["id"], "reason": each["reason"]} for each in answers if each["reason"]],
    }


def certificate(step: Step, check: Check) -> dict[str, Any]:
    """The certificate of a claim that is proved; raises `NotExpressibleError` where none is found that is accepted."""
    form = check.algebraic
    if form is None:
        raise NotExpressibleError("checked on instances")
    try:
        with limit(SECONDS), at_most(WORK):
            recheck.LEFT[0] = _UNBOUNDED
            names = Names()
            data = claim_data(step, form, names)
            found = {**data, "proofs": _Claim(form, data, names).proofs()}
            recheck.step(found)
            return found
    except OutOfTime:
        raise NotExpressibleError(f"none was found in {SECONDS:g} seconds") from None
    except OutOfWorkError:
        raise NotExpressibleError("none was found with the work that a search may take") from None
    except (ArithmeticError, ValueError) as error:
        raise NotExpressibleError(f"not accepted by recheck.py: {error}") from None


# --- Claims ---


class _Claim:
    """A claim as the checker has it, beside the SymPy expressions that it comes from."""

    def __init__(self, check: Identity | Scalar | Gram, data: Mapping[str, Any], names: Names) -> None:
        self.check, self.names = check, names
        self.claim, self.goals = recheck.stated(data)

    def proofs(self) -> list[dict[str, Any]]:
        """A proof of each inequality that the claim is; raises `NotExpressibleError` where none is found."""
        operator = self.check.operator
        operators = {"==": (">=", "<=")}.get(operator, (operator,))
        return [self._proof(goal, each) for goal, each in zip(self.goals, operators, strict=True) if any(goal)]

    def _proof(self, goal: tuple[Any, bool], operator: str) -> dict[str, Any]:
        state, node = (self.claim.signs, self.claim.facts, *goal), None
        if isinstance(self.check, Gram):
            gram = prove(dataclasses.replace(self.check, operator=operator))
            node = None if gram is None else _squares(state, gram, self)
        node = node or find(state)
        if node is None:
            raise NotExpressibleError("none was found in this form")
        return node

    def written(self, poly: Any) -> sp.Expr:
        """The SymPy expression of a polynomial of the checker."""
        return sp.Add(*(sp.Rational(c.numerator, c.denominator) * self._monomial(m) for m, c in poly.items()))

    def _monomial(self, monomial: Any) -> sp.Expr:
        bases = (product_symbol(*x) if len(x) > 1 else self.names.named[x[0]] for x, _ in monomial)
        powers = (sp.Rational(e.numerator, e.denominator) for _, e in monomial)
        return sp.Mul(*(base**e for base, e in zip(bases, powers, strict=True)))

    def quotient(self, expr: sp.Expr) -> Any:
        """A SymPy expression as the checker has it: a polynomial and what it is divided by, to which powers."""
        return self.claim.quotient(Names().tree(expr))

    def polynomial(self, expr: sp.Expr) -> Any:
        """A polynomial as the checker has it; raises `NotExpressibleError` for a quotient."""
        poly, below = self.quotient(sp.expand(expr))
        if below:
            raise NotExpressibleError("a form that is no quotient of polynomials")
        return poly


def used(node: Any) -> Iterator[str]:
    """The names of the hypotheses that a proof mentions."""
    if isinstance(node, list):
        for each in node:
            yield from used(each)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in ("hypothesis", "hypotheses"):
                yield from [value] if isinstance(value, str) else value
            elif key in ("terms", "proof", "then", "cases"):
                yield from used(value)


# --- Proofs ---


def find(state: Any, depth: int = _DEPTH) -> dict[str, Any] | None:
    """A proof of the goal of a state of `ratecheck.recheck`, if one is found: what is quick comes first."""
    signs, known, goal, strict = state
    if recheck.sign(goal, signs) > strict:
        return {"by": "terms", "terms": [{"factor": [each]} for each in _data(goal)]}
    void = next(filter(None, (_void(signs, name, *pair) for name, pair in known.items())), None)
    if void is not None or depth == 0:
        return void
    system = _System.of(state)
    found = system.combined(pairs=False)
    if found is None and len(goal) <= _TWO:
        found = system.squared() or system.split(depth)
    found = found or system.combined()
    if found is not None:
        return found
    numbers = [key[0] for key in _mentioned(state) if len(key) == 1]
    signed = [x for x in numbers if signs[x] == "real"]
    if len(numbers) < len(_mentioned(state)) or len(signed) > _SIGN_SPLITS:
        return None
    if signed:
        return _cases(state, signed[0], depth)
    return (
        system.squared(pairs=True)
        or system.substituted(depth)
        or system.parts(depth)
        or system.chained()
        or system.multiplied()
        or next(filter(None, (_cases(state, x, depth - 1) for x in numbers if signs[x] == "whole")), None)
    )


def _void(signs: Any, name: str, poly: Any, strict: bool) -> dict[str, Any] | None:
    """A proof that a hypothesis cannot hold, where the signs of its terms show it; else None."""
    against = {m: -c for m, c in poly.items()}
    if poly and recheck.sign(against, signs) > (not strict):
        terms = [{"factor": [each]} for each in _data(against)]
        return {"by": "void", "hypothesis": name, "proof": {"by": "terms", "terms": terms}}
    return None


def _mentioned(state: Any) -> list[tuple[str, ...]]:
    _, known, goal, _ = state
    return sorted({x for p in (goal, *(p for p, _ in known.values())) for m in p for x, _ in m})


def _data(poly: Any) -> list[Any]:
    """A polynomial as the file has it."""
    terms: list[list[Any]] = []
    for monomial, c in poly.items():
        pairs = [list(key) for key, e in monomial if len(key) > 1 for _ in range(int(e))]
        numbers = {key[0]: str(e) for key, e in monomial if len(key) == 1}
        terms.append([str(c), numbers, *([pairs] if pairs else [])])
    return terms


def _cases(state: Any, x: str, depth: int) -> dict[str, Any] | None:
    """A proof in each of two cases of a variable."""
    try:
        first, second = recheck.cases(state, x)
    except ArithmeticError:
        return None
    proofs = []
    for case in (first, second):
        proofs.append(find(case, depth))
        if proofs[-1] is None:
            return None
    return {"by": "cases", "variable": x, "cases": proofs}


@dataclasses.dataclass(frozen=True)
class _System:
    """A state as a `System`: a variable under roots stands for its smallest power, ``units``."""

    state: Any
    system: System
    names: tuple[str, ...]
    units: Mapping[tuple[str, ...], Fraction]

    @classmethod
    def of(cls, state: Any) -> _System:
        signs, known, goal, strict = state
        polys = [goal, *(p for p, _ in known.values())]
        units: dict[tuple[str, ...], Fraction] = {}
        for poly in polys:
            for monomial in poly:
                for key, e in monomial:
                    units[key] = Fraction(1, max(units.get(key, Fraction(1)).denominator, e.denominator))
        symbols = {key: _symbol(key, recheck.kind(signs, key)) for key in units}

        def written(poly: Any) -> sp.Expr:
            return sp.Add(
                *(
                    sp.Rational(c.numerator, c.denominator) * sp.Mul(*(symbols[x] ** int(e / units[x]) for x, e in m))
                    for m, c in poly.items()
                )
            )

        hypotheses = tuple(written(p) for p, _ in known.values())
        positive = tuple(some for _, some in known.values())
        return cls(state, System(written(goal), strict, hypotheses, positive), tuple(known), units)

    def _data(self, expr: sp.Expr) -> list[Any]:
        poly: dict[Any, Fraction] = {}
        for term in sp.Add.make_args(sp.expand(expr)):
            c, monomial = term.as_coeff_Mul()
            powers = monomial.as_powers_dict() if monomial != 1 else {}
            keys = sorted((_key(s), int(e)) for s, e in powers.items())
            poly[tuple((x, e * self.units[x]) for x, e in keys)] = Fraction(int(c.p), int(c.q))
        return _data(poly)

    def combined(self, *, pairs: bool = True, multiplier: sp.Expr = ONE) -> dict[str, Any] | None:
        """A sum of products of hypotheses."""
        found = combine(self.system, pairs=pairs, multiplier=multiplier)
        if found is None:
            return None
        return _accepted(self.state, self._terms(found))

    def _terms(self, found: Combination) -> dict[str, Any]:
        terms = []
        for summand in found.summands:
            term: dict[str, Any] = {"factor": self._data(summand.coefficient * summand.monomial)}
            if summand.root != 1:
                term["square"] = self._data(summand.root)
            if summand.hypotheses:
                term["hypotheses"] = [self.names[i] for i in summand.hypotheses]
            terms.append(term)
        more = {} if found.multiplier == 1 else {"multiplier": self._data(found.multiplier)}
        return {"by": "terms", "terms": terms, **more}

    def multiplied(self) -> dict[str, Any] | None:
        """A sum for the goal times a positive variable or its square."""
        symbols = sorted((s for s in self.system.goal.free_symbols if s.is_positive), key=str)
        tried = (self.combined(multiplier=m) for m in (*symbols, *(s**2 for s in symbols)))
        return next(filter(None, tried), None)

    def squared(self, *, pairs: bool = False) -> dict[str, Any] | None:
        """A sum for the goal a - b times a + b, where there are roots."""
        signs, known, goal, strict = self.state
        if strict or not (self._rooted() or any(unit < 1 for unit in self.units.values())):
            return None
        over: dict[Any, Fraction] = {}  # what the squares of roots are multiplied with, in their definitions
        for x in {key for m in goal for key, _ in m if key[0] in known}:
            for m in known[x[0]][0]:
                if dict(m).get(x) == _TWO:
                    over |= {y: max(e, over.get(y, e)) for y, e in m if y != x}
        multiplier = recheck.times({m: abs(c) for m, c in goal.items()}, {tuple(sorted(over.items())): Fraction(1)})
        if recheck.sign(multiplier, signs) < 2:
            return None
        found = _System.of((signs, known, recheck.times(goal, multiplier), False)).combined(pairs=pairs)
        if found is None or "multiplier" in found:
            return None
        return {**found, "multiplier": _data(multiplier)}

    def _rooted(self) -> bool:
        return any(x.startswith("sqrt(") or "^(1/" in x for x in self.state[0])

    def split(self, depth: int) -> dict[str, Any] | None:
        """A difference of two roots, of which either may be 0: a proof where one is, and where it is not."""
        signs, _, goal, strict = self.state
        if strict or len(goal) > _TWO or not self._rooted():
            return None
        zeros = sorted({x[0] for m in goal for x, _ in m if recheck.kind(signs, x) == "nonnegative"})
        return _cases(self.state, zeros[0], depth) if zeros else None

    def parts(self, depth: int) -> dict[str, Any] | None:
        """A proof for what stands before each monomial in the variables that no hypothesis restricts."""
        signs, known, goal, strict = self.state
        bound = {n for p, _ in known.values() for m in p for n, _ in m}
        groups: dict[Any, Any] = {}
        for m, c in goal.items():
            groups.setdefault(tuple(pair for pair in m if pair[0] not in bound), {})[m] = c
        if strict or len(groups) < 2:
            return None
        terms = []
        for monomial, part in groups.items():
            if recheck.sign(part, signs):
                terms.append({"factor": _data(part)})
                continue
            own = {tuple(pair for pair in m if pair not in monomial): c for m, c in part.items()}
            node = find((signs, known, own, False), depth - 1)
            if node is None:
                return None
            terms.append({"factor": _data(part), "proof": _times(node, monomial)})
        return {"by": "terms", "terms": terms}

    def substituted(self, depth: int) -> dict[str, Any] | None:
        """Substitutions that use up hypotheses, after which no term is negative."""
        way = next(Search(self.system).run(), None)
        if way is None:
            return None
        for relative in (False, True):
            found = self._follow(self.state, way.pivots, relative, depth)
            if found is not None:
                return found
        return None

    def chained(self) -> dict[str, Any] | None:
        """Lower bounds substituted, then a sum."""
        found = chain(self.system)
        if found is None:
            return None
        current, nodes = self.state, []
        for each in found.puts:
            node = {"by": "substitution", "variable": each.symbol.name, "kind": "least"}
            node["hypothesis"] = self.names[each.hypothesis]
            try:
                current = recheck.substitute(current, node)
            except ArithmeticError:
                return None
            nodes.append(node)
        last = _System.of(current)
        end = last.combined(pairs=False) or last.combined()
        for node in reversed(nodes):
            end = None if end is None else {**node, "then": end}
        return end

    def _follow(self, state: Any, pivots: Sequence[Pivot], relative: bool, depth: int) -> dict[str, Any] | None:
        signs, known, goal, strict = state
        if not pivots:
            if recheck.sign(goal, signs) > strict:
                return {"by": "terms", "terms": [{"factor": [each]} for each in _data(goal)]}
            return None
        pivot, *rest = pivots
        (x,), name = _key(pivot.symbol), self.names[pivot.hypothesis]
        if pivot.kind is HypothesisKind.ZERO:
            return None
        kind = "least" if pivot.kind is HypothesisKind.AT_LEAST else "most"
        node = {"by": "substitution", "variable": x, "hypothesis": name, "kind": kind + " relative" * relative}
        slope = [tuple(pair for pair in m if pair[0] != (x,)) for m in known[name][0] if (x,) in dict(m)]
        free = [m for m in known[name][0] if (x,) not in dict(m)]
        needed = [[(((x,), Fraction(1)),)]] if kind == "most" else []
        needed += [slope] if kind == "least" or relative else []
        needed += [free] if kind == "most" or relative else []
        for monomials in needed:
            zeros = [[y[0] for y, _ in m if len(y) == 1 and signs[y[0]] == "nonnegative"] for m in monomials]
            least = min(zeros, key=len, default=[])
            if least:
                return self._at_zero(state, least[0], pivots, relative, depth)
        try:
            then = self._follow(recheck.substitute(state, node), rest, relative, depth)
        except ArithmeticError:
            return None
        return None if then is None else {**node, "then": then}

    def _at_zero(
        self, state: Any, y: str, pivots: Sequence[Pivot], relative: bool, depth: int
    ) -> dict[str, Any] | None:
        """The case in which a variable is 0, and the other one."""
        try:
            first, second = recheck.cases(state, y)
        except ArithmeticError:
            return None
        zero = find(first, depth - 1)
        other = None if zero is None else self._follow(second, pivots, relative, depth)
        return None if other is None else {"by": "cases", "variable": y, "cases": [zero, other]}


def _symbol(key: tuple[str, ...], kind: str) -> sp.Symbol:
    if len(key) == 2:
        return product_symbol(*key)
    assumed = {"real": {"real": True}, "nonnegative": {"nonnegative": True}}
    return sp.Symbol(key[0], **assumed.get(kind, {"positive": True}))


def _key(symbol: sp.Symbol) -> tuple[str, ...]:
    return factors(symbol) or (symbol.name,)


def _accepted(state: Any, node: dict[str, Any]) -> dict[str, Any] | None:
    vectors = {v for key in _mentioned(state) if len(key) > 1 for v in key}
    try:
        recheck.check(state, node, vectors)
    except ArithmeticError:
        return None
    return node


def _times(node: Any, monomial: Any) -> Any:
    """A proof for the goal times a monomial in variables of which it says nothing."""
    if isinstance(node, list):
        return [_times(each, monomial) for each in node]
    if node["by"] == "terms":
        return {**node, "terms": [_term_times(term, monomial) for term in node["terms"]]}
    return {**node, **{key: _times(node[key], monomial) for key in ("then", "cases") if key in node}}


def _term_times(term: dict[str, Any], monomial: Any) -> dict[str, Any]:
    (more,) = _data({monomial: Fraction(1)})
    factor = []
    for c, numbers, *pairs in term["factor"]:
        powers = {**numbers, **{x: str(Fraction(numbers.get(x, 0)) + Fraction(e)) for x, e in more[1].items()}}
        both = [*(pairs[0] if pairs else []), *(more[2] if len(more) > 2 else [])]
        factor.append([c, powers, *([both] if both else [])])
    proof = {"proof": _times(term["proof"], monomial)} if "proof" in term else {}
    return {**term, "factor": factor, **proof}


def _squares(state: Any, proof: GramProof, claim: _Claim) -> dict[str, Any] | None:
    """The multipliers and squares of a claim about vectors, over one denominator."""
    quotients = [
        (sp.fraction(sp.cancel(sp.together(weight))), form, name)
        for weight, form, name in _weighed(state, proof, claim)
    ]
    common = ONE
    for (_, below), _, _ in quotients:
        common = sp.lcm(common, below)
    if recheck.sign(claim.polynomial(common), state[0]) < 2:
        common = -common
    terms = []
    for (above, below), form, name in quotients:
        norm = {"norm": [[_data(claim.polynomial(c)), v] for v, c in form.items()]} if form else {}
        found = _weight(state, claim.polynomial(sp.cancel(above * common / below)), name, norm)
        if found is None:
            return None
        terms += found
    return _accepted(state, {"by": "terms", "terms": terms, "multiplier": _data(claim.polynomial(common))})


def _weighed(state: Any, proof: GramProof, claim: _Claim) -> Iterator[tuple[sp.Expr, dict[str, sp.Expr], str]]:
    """Coefficients with what they stand before: the vector of a square, or a hypothesis by its name."""
    _, known, goal, _ = state
    scale = _scale(goal, proof.goal, claim)
    for number, (multiplier, hypothesis) in enumerate(zip(proof.multipliers, proof.hypotheses, strict=True), 1):
        if multiplier != 0:
            own = _scale(known[str(number)][0], hypothesis, claim)
            yield multiplier * scale / own, {}, str(number)
    if proof.constant != 0:
        yield proof.constant * scale, {}, ""
    for pivot, row in zip(proof.squares.pivots, proof.squares.factors, strict=True):
        below = ONE
        for factor in row:
            below = sp.lcm(below, sp.fraction(sp.together(factor))[1])
        form = {name: sp.cancel(factor * below) for name, factor in zip(proof.names, row, strict=True) if factor != 0}
        yield pivot * scale / below**2, form, ""


def _weight(state: Any, factor: Any, name: str, norm: dict[str, Any]) -> list[dict[str, Any]] | None:
    """A term, or two where an equality is multiplied by something of either sign; None where no sign is shown."""
    signs, known, _, _ = state
    more = {**norm, "hypotheses": [name]} if name else norm
    if recheck.sign(factor, signs):
        return [{"factor": _data(factor), **more}]
    if f"-{name}" in known:
        halves = [({m: c * turn for m, c in factor.items() if c * turn > 0}, turn) for turn in (1, -1)]
        return [{"factor": _data(p), "hypotheses": [name if turn > 0 else f"-{name}"]} for p, turn in halves if p]
    scalar = {other: pair for other, pair in known.items() if not any(len(x) > 1 for m in pair[0] for x, _ in m)}
    node = find((signs, scalar, factor, False))
    return None if node is None else [{"factor": _data(factor), **more, "proof": node}]


def _scale(poly: Any, expr: sp.Expr, claim: _Claim) -> sp.Expr:
    """The checker's polynomial over the expression that it stands for: the denominators that were cleared."""
    above, below = claim.quotient(sp.together(expr))
    divisor = sp.Mul(*(claim.written(dict(q)) ** sp.Rational(e.numerator, e.denominator) for q, e in below.items()))
    return sp.cancel(claim.written(poly) * divisor / claim.written(above)) if expr != 0 else ONE
