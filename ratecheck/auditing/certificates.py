"""Certificates as data: what `ratecheck.recheck` accepts without anything else of ratecheck; see docs/certificates.md.

The claim and its hypotheses become polynomials, a root or a maximum a variable of its own with what defines it among
the hypotheses. A proof is looked for on these polynomials, and nothing is returned that the checker does not accept.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp

from bounds.ledger.step import Check, Enumerated, Gram, Identity, Scalar, Step
from bounds.ledger.vectors import factors
from bounds.roots import shown
from ratecheck import recheck
from ratecheck.algebra.chain import chain
from ratecheck.algebra.handelman import Combination, combine
from ratecheck.algebra.polynomial import System
from ratecheck.algebra.search import Search
from ratecheck.algebra.substitution import HypothesisKind, Pivot
from ratecheck.algebra.time_limit import OutOfTime, limit
from ratecheck.auditing.finding import StepResult, StepVerdict
from ratecheck.auditing.gram import GramProof, prove

SCHEMA = 1
SECONDS = 20.0
_SEARCH_SECONDS = 1.5
_SIGN_SPLITS = 3
_DEPTH = 4

ONE = sp.Integer(1)
_UNIT = [["1", {}]]


class NotExpressibleError(Exception):
    """Why a claim or its proof does not leave as a certificate."""


def exported(step: Step, found: StepResult) -> dict[str, Any]:
    """The certificate of a step that is proved, or the reason why there is none, as data to keep."""
    answer: dict[str, Any] = {"id": step.id, "certificate": None, "reason": ""}
    if found.verdict is StepVerdict.PROVED:
        try:
            answer["reason"] = "" if found.certified else "proved on z3's word"
            answer["certificate"] = certificate(step, step.check) if found.certified else None
        except NotExpressibleError as error:
            answer["reason"] = str(error)
    return answer


def file_data(answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a file of certificates has: those that there are, and which proved steps are without, and why."""
    return {
        "schema": SCHEMA,
        "steps": [each["certificate"] for each in answers if each["certificate"]],
        "without_certificate": [{"id": each["id"], "reason": each["reason"]} for each in answers if each["reason"]],
    }


def certificate(step: Step, check: Check) -> dict[str, Any]:
    """The certificate of a claim that is proved; raises `NotExpressibleError` where none is found that is accepted."""
    if isinstance(check, Enumerated):
        form = check.algebraic
        if form is None:
            raise NotExpressibleError("checked on instances")
        return certificate(step, form)
    try:
        with limit(SECONDS):
            found = _Claim(step, check).data()
            recheck.step(found)
            return found
    except OutOfTime:
        raise NotExpressibleError(f"none was found in {SECONDS:g} seconds") from None
    except (ArithmeticError, ValueError) as error:
        raise NotExpressibleError(f"not accepted by recheck.py: {error}") from None


# --- Claims ---


class _Claim:
    """A claim in polynomials."""

    def __init__(self, step: Step, check: Identity | Scalar | Gram) -> None:
        self.step, self.check = step, check
        self.operator = "==" if isinstance(check, Identity) else check.operator
        given = () if isinstance(check, Identity) else check.hypotheses
        self.conditions = (*given, *(check.conditions if isinstance(check, Gram) else ()))
        self.texts: dict[str, str] = {}
        self.defined: dict[sp.Expr, sp.Symbol] = {}
        self.symbols: dict[str, sp.Symbol] = {}
        self.hypotheses: dict[str, Any] = {}

    def data(self) -> dict[str, Any]:
        claim = self._condition(self.check.left, self.operator, self.check.right)
        for number, each in enumerate(self.conditions, 1):
            self._add(str(number), each.name, each.left, each.operator, each.right)
        signs = self._signs()
        found = {
            "id": self.step.id,
            "claim": self.step.claim,
            "variables": signs,
            "hypotheses": self.hypotheses,
            **claim,
        }
        known = {x: ({((x, Fraction(1)),): Fraction(1), (): Fraction(-1)}, False) for x in signs if signs[x] == "whole"}
        for name, hypothesis in self.hypotheses.items():
            known |= dict(zip((name, f"-{name}"), recheck.goals(hypothesis, signs), strict=False))
        operators = {"==": (">=", "<=")}.get(self.operator, (self.operator,))
        goals = zip(recheck.goals(claim, signs), operators, strict=True)
        found["proofs"] = [
            self._proof((signs, known, *goal), operator) for goal, operator in goals if goal[0] or goal[1]
        ]
        mentioned = set(used(found["proofs"]))
        found["hypotheses"] = {
            name: each for name, each in self.hypotheses.items() if name in mentioned or f"-{name}" in mentioned
        }
        return found

    def _proof(self, state: Any, operator: str) -> dict[str, Any]:
        node = None
        if isinstance(self.check, Gram):
            gram = prove(dataclasses.replace(self.check, operator=operator))
            node = None if gram is None else _squares(state, gram, self)
        node = node or find(state)
        if node is None:
            raise NotExpressibleError("none was found in this form")
        return node

    def _add(self, name: str, text: str, left: sp.Expr, operator: str, right: sp.Expr) -> None:
        formula = f"{shown(left)} {operator} {shown(right)}"
        # Without a name of its own a condition is called by its formula.
        text = formula if any(f" {sign} " in text for sign in ("<=", ">=", "==", "<", ">")) else f"{text}: {formula}"
        self.hypotheses[name] = {"text": text, **self._condition(left, operator, right)}

    def _condition(self, left: sp.Expr, operator: str, right: sp.Expr) -> dict[str, Any]:
        sides = {"left": self._sum(left), "right": self._sum(right)}
        signs, below = self._signs(), recheck.ONE
        for _, divisors in (*sides["left"], *sides["right"]):
            down = recheck.times(*(recheck.read(each, signs) for each in divisors))
            below = below if down == below else recheck.times(below, down)
        return {**sides, "relation": operator, "below": _data(below)}

    def _sum(self, expr: sp.Expr) -> list[Any]:
        """A sum of products, as numerators' and denominators' factors: what is printed is not expanded."""
        found = []
        for term in sp.Add.make_args(self.plain(sp.sympify(expr))):
            parts: tuple[list[Any], list[Any]] = ([], [])
            for factor in sp.Mul.make_args(term):
                for side, each in zip(parts, sp.fraction(sp.together(factor)), strict=True):
                    base, e = each.as_base_exp()
                    whole = base.is_Add and e.is_Integer
                    side.extend([self.polynomial(base)] * int(e) if whole else [self.polynomial(each)])
            if [] not in parts[0]:
                found.append([[each for each in part if each != _UNIT] for part in parts])
        return found

    def polynomial(self, expr: sp.Expr) -> list[Any]:
        """A polynomial as the file has it."""
        terms = []
        for term in sp.Add.make_args(sp.expand(expr)):
            c, monomial = term.as_coeff_Mul()
            powers = monomial.as_powers_dict() if monomial != 1 else {}
            if not c.is_Rational or not all(base.is_Symbol and e.is_Rational for base, e in powers.items()):
                raise NotExpressibleError("a form that is no quotient of polynomials")
            for symbol in powers:
                if self.symbols.setdefault(symbol.name, symbol) != symbol:
                    raise NotExpressibleError(f"two quantities are called {symbol.name}")
            if c:
                terms.append([str(c), {s.name: str(e) for s, e in powers.items()}])
        return terms

    def _signs(self) -> dict[str, str]:
        return {name: _sign(symbol) for name, symbol in self.symbols.items()}

    def read(self, expr: sp.Expr) -> Any:
        """A polynomial as the checker has it."""
        return recheck.read(self.polynomial(expr), self._signs())

    def plain(self, expr: sp.Expr) -> sp.Expr:
        """With inner products as products of vectors; roots of sums, maxima and functions as variables of their own."""
        if expr.is_Symbol:
            pair = factors(expr)
            return expr if pair is None else sp.Mul(*map(_vector, pair))
        if expr.is_Rational or not isinstance(expr, sp.Expr):
            return expr
        if expr.is_Add or expr.is_Mul or (expr.is_Pow and expr.exp.is_Integer):
            return expr.func(*map(self.plain, expr.args))
        if expr.is_Pow and expr.exp.is_Rational:
            base, e = self.plain(expr.base), expr.exp
            if base.is_Symbol:
                return base**e
            return self._stands_for(base ** sp.Rational(1, e.q)) ** e.p
        return self._stands_for(expr)

    def _stands_for(self, expr: sp.Expr) -> sp.Expr:
        """A variable for an expression, with what is known about it among the hypotheses."""
        if not expr.is_Pow and not isinstance(expr, (sp.Max, sp.Min)) and not expr.is_Function and not expr.is_number:
            raise NotExpressibleError(f"{type(expr).__name__} is not expressed")
        if expr not in self.defined:
            kind = {"positive": True} if expr.is_positive else {"nonnegative": True} if expr.is_Pow else {"real": True}
            symbol = self.defined[expr] = sp.Symbol(f"[{shown(expr)}]", **kind)
            if expr.is_Pow and expr.exp.is_Rational:
                self._add(symbol.name, "what the root is", symbol**expr.exp.q, "==", expr.base)
            elif isinstance(expr, (sp.Max, sp.Min)):
                relation = ">=" if isinstance(expr, sp.Max) else "<="
                for number, each in enumerate(expr.args):
                    self._add(f"{symbol.name}{number}", "what the maximum or minimum is", symbol, relation, each)
        return self.defined[expr]


def _vector(name: str) -> sp.Symbol:
    return sp.Symbol(f"<{name}>", real=True)


def _sign(symbol: sp.Symbol) -> str:
    if symbol.name.startswith("<"):
        return "vector"
    if symbol.is_integer and symbol.is_positive:
        return "whole"
    return "positive" if symbol.is_positive else "nonnegative" if symbol.is_nonnegative else "real"


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
    found = system.combined(pairs=False) or system.combined()
    if found is not None:
        return found
    signed = sorted(x for x in _mentioned(state) if signs[x] == "real")
    if any(signs[x] == "vector" for x in _mentioned(state)) or len(signed) > _SIGN_SPLITS:
        return None
    if signed:
        return _cases(state, signed[0], depth)
    return (
        system.squared()
        or system.substituted(depth)
        or system.parts(depth)
        or system.chained()
        or system.multiplied()
        or next(filter(None, (_cases(state, x, depth - 1) for x in _mentioned(state) if signs[x] == "whole")), None)
    )


def _void(signs: Any, name: str, poly: Any, strict: bool) -> dict[str, Any] | None:
    """That a hypothesis cannot hold, where its terms show it."""
    against = {m: -c for m, c in poly.items()}
    if poly and recheck.sign(against, signs) > (not strict):
        terms = [{"factor": [each]} for each in _data(against)]
        return {"by": "void", "hypothesis": name, "proof": {"by": "terms", "terms": terms}}
    return None


def _mentioned(state: Any) -> list[str]:
    _, known, goal, _ = state
    return sorted({n for p in (goal, *(p for p, _ in known.values())) for m in p for n, _ in m})


def _data(poly: Any) -> list[Any]:
    return [[str(c), {n: str(e) for n, e in m}] for m, c in poly.items()]


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
    units: Mapping[str, Fraction]

    @classmethod
    def of(cls, state: Any) -> _System:
        signs, known, goal, strict = state
        polys = [goal, *(p for p, _ in known.values())]
        units: dict[str, Fraction] = {}
        for poly in polys:
            for monomial in poly:
                for n, e in monomial:
                    units[n] = Fraction(1, max(units.get(n, Fraction(1)).denominator, e.denominator))
        symbols = {n: _symbol(n, signs[n]) for n in units}

        def written(poly: Any) -> sp.Expr:
            return sp.Add(
                *(
                    sp.Rational(c.numerator, c.denominator) * sp.Mul(*(symbols[n] ** int(e / units[n]) for n, e in m))
                    for m, c in poly.items()
                )
            )

        hypotheses = tuple(written(p) for p, _ in known.values())
        positive = tuple(some for _, some in known.values())
        return cls(state, System(written(goal), strict, hypotheses, positive), tuple(known), units)

    def _data(self, expr: sp.Expr) -> list[Any]:
        terms = []
        for term in sp.Add.make_args(sp.expand(expr)):
            c, monomial = term.as_coeff_Mul()
            powers = monomial.as_powers_dict() if monomial != 1 else {}
            terms.append([str(c), {s.name: str(int(e) * self.units[s.name]) for s, e in powers.items()}])
        return terms

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

    def squared(self) -> dict[str, Any] | None:
        """A sum for the goal a - b times a + b, where there are roots."""
        signs, known, goal, strict = self.state
        if strict or not (any(n.startswith("[") for n in signs) or any(unit < 1 for unit in self.units.values())):
            return None
        multiplier = {m: abs(c) for m, c in goal.items()}
        if recheck.sign(multiplier, signs) < 2:
            return None
        found = _System.of((signs, known, recheck.times(goal, multiplier), False)).combined()
        if found is None or "multiplier" in found:
            return None
        return {**found, "multiplier": _data(multiplier)}

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
        try:
            with limit(_SEARCH_SECONDS):
                way = next(Search(self.system).run(), None)
        except OutOfTime:
            return None
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
        x, name = pivot.symbol.name, self.names[pivot.hypothesis]
        if pivot.kind is HypothesisKind.ZERO:
            return None
        kind = "least" if pivot.kind is HypothesisKind.AT_LEAST else "most"
        node = {"by": "substitution", "variable": x, "hypothesis": name, "kind": kind + " relative" * relative}
        slope = [tuple(pair for pair in m if pair[0] != x) for m in known[name][0] if x in dict(m)]
        free = [m for m in known[name][0] if x not in dict(m)]
        needed = [[((x, Fraction(1)),)]] if kind == "most" else []
        needed += [slope] if kind == "least" or relative else []
        needed += [free] if kind == "most" or relative else []
        for monomials in needed:
            zeros = [[n for n, _ in m if signs[n] == "nonnegative"] for m in monomials]
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


def _symbol(name: str, sign: str) -> sp.Symbol:
    kind = {"real": {"real": True}, "vector": {"real": True}, "nonnegative": {"nonnegative": True}}
    return sp.Symbol(name, **kind.get(sign, {"positive": True}))


def _accepted(state: Any, node: dict[str, Any]) -> dict[str, Any] | None:
    try:
        recheck.check(state, node)
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
    factor = [[c, {**m, **{n: str(Fraction(m.get(n, 0)) + e) for n, e in monomial}}] for c, m in term["factor"]]
    more = {"proof": _times(term["proof"], monomial)} if "proof" in term else {}
    return {**term, "factor": factor, **more}


def _squares(state: Any, proof: GramProof, claim: _Claim) -> dict[str, Any] | None:
    """The multipliers and squares of a claim about vectors, over one denominator."""
    quotients = [
        (sp.fraction(sp.cancel(sp.together(weight))), root, name)
        for weight, root, name in _weighed(state, proof, claim)
    ]
    common = ONE
    for (_, below), _, _ in quotients:
        common = sp.lcm(common, below)
    if recheck.sign(claim.read(common), state[0]) < 2:
        common = -common
    terms = []
    for (above, below), root, name in quotients:
        square = {} if root == 1 else {"square": claim.polynomial(root)}
        found = _weight(state, claim.read(sp.cancel(above * common / below)), name, square)
        if found is None:
            return None
        terms += found
    return _accepted(state, {"by": "terms", "terms": terms, "multiplier": claim.polynomial(common)})


def _weighed(state: Any, proof: GramProof, claim: _Claim) -> Iterator[tuple[sp.Expr, sp.Expr, str]]:
    """Coefficients with what they stand before: the root of a square, or a hypothesis by its name."""
    _, known, goal, _ = state
    scale = _scale(goal, claim.plain(proof.goal), claim)
    for number, (multiplier, hypothesis) in enumerate(zip(proof.multipliers, proof.hypotheses, strict=True), 1):
        if multiplier != 0:
            own = _scale(known[str(number)][0], claim.plain(hypothesis), claim)
            yield claim.plain(multiplier) * scale / own, ONE, str(number)
    if proof.constant != 0:
        yield claim.plain(proof.constant) * scale, ONE, ""
    for pivot, row in zip(proof.squares.pivots, proof.squares.factors, strict=True):
        form = sp.Add(*(claim.plain(f) * _vector(n) for f, n in zip(row, proof.names, strict=True)))
        above, below = sp.fraction(sp.together(form))
        yield claim.plain(pivot) * scale / below**2, above, ""


def _weight(state: Any, factor: Any, name: str, square: dict[str, Any]) -> list[dict[str, Any]] | None:
    """A term, or two where an equality is multiplied by something of either sign; None where no sign is shown."""
    signs, known, _, _ = state
    more = {**square, "hypotheses": [name]} if name else square
    if recheck.sign(factor, signs):
        return [{"factor": _data(factor), **more}]
    if f"-{name}" in known:
        halves = [({m: c * turn for m, c in factor.items() if c * turn > 0}, turn) for turn in (1, -1)]
        return [{"factor": _data(p), "hypotheses": [name if turn > 0 else f"-{name}"]} for p, turn in halves if p]
    scalar = {other: pair for other, pair in known.items() if recheck.degrees(pair[0], signs) == {0}}
    node = find((signs, scalar, factor, False))
    return None if node is None else [{"factor": _data(factor), **more, "proof": node}]


def _scale(poly: Any, expr: sp.Expr, claim: _Claim) -> sp.Expr:
    """The polynomial over the expression that it stands for: its denominator."""
    written = sp.Add(
        *(
            sp.Rational(c.numerator, c.denominator)
            * sp.Mul(*(claim.symbols[n] ** sp.Rational(e.numerator, e.denominator) for n, e in m))
            for m, c in poly.items()
        )
    )
    return sp.cancel(written / expr) if expr != 0 else ONE
