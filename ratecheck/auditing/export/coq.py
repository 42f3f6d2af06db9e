"""Certificates as lemmas of Coq, on real numbers and vectors of any real inner product space; see docs/audit.md.

A lemma states the claim with both sides as the data have them. Its proof follows the rules of `ratecheck.recheck`, node
by node: what Coq is told to believe is the statement alone. A number under roots is a power of its root in the proof.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import Any

from ratecheck import recheck
from ratecheck.auditing.export.certificates import used
from ratecheck.auditing.export.coq_terms import (
    PREAMBLE,
    CoqTerms,
    NotWrittenError,
    Variable,
    fresh,
    joined,
    number_text,
    power_text,
    taken_names,
)

END = "End InnerProductSpace.\n"

# A number as `number_text` writes it.
_FRACTION = re.compile(r"\(\d\w* / \d\w*\)")
_RELATIONS = {"<=": "le", ">=": "ge", "<": "lt", ">": "gt", "==": "eq"}


def coq_text(data: Mapping[str, Any]) -> str:
    """A whole file: what a file of certificates has, as lemmas; those that are none are named with the reason."""
    lemmas, taken = [PREAMBLE.read_text("utf-8")], taken_names()
    for each in data["steps"]:
        name = fresh(re.sub(r"\W+", "_", each["id"], flags=re.ASCII), taken)
        try:
            lemmas.append(lemma(name, each))
        except NotWrittenError as error:
            lemmas.append(f"(* {_comment(each['id'])} is not written: {error} *)\n")
    return "\n".join([*lemmas, END])


def lemma(name: str, data: Mapping[str, Any]) -> str:
    """A certificate as one lemma with its proof; raises `NotWrittenError` where it has no such form."""
    # The writer reads each side more often than the checker does.
    recheck.LEFT[0] = 10 * recheck.WORK
    return "\n".join(_Lemma(name, data).lines()) + "\n"


def _comment(text: str) -> str:
    return text.replace("(*", "( *").replace("*)", "* )").replace('"', "'")


@dataclass(frozen=True)
class _ProofScope:
    """The scope of a proof: the state of the checker, what numbers and facts are called, and how deep it is."""

    state: Any
    variables: Mapping[Any, Variable]
    known: Mapping[str, str]
    indent: str = "  "

    def poly(self, poly: Any) -> str:
        """A polynomial of the checker as a term."""
        terms = []
        for monomial, c in poly.items():
            parts = [power_text(self.variables[key], e) for key, e in monomial]
            if c != 1 or not parts:
                parts.insert(0, number_text(c))
            terms.append(" * ".join(parts))
        return joined(terms, " + ") or "0"

    def inner(self) -> _ProofScope:
        return replace(self, indent=self.indent + "  ")


@dataclass(frozen=True)
class _Compared:
    """A comparison as it is written, the polynomials that the checker makes of it, and what these are multiplied by."""

    left: str
    relation: str
    right: str
    goals: Sequence[tuple[Any, bool]]
    factor: str
    rewritten: str

    @property
    def text(self) -> str:
        return f"{self.left} {self.relation.replace('==', '=')} {self.right}"

    def difference(self, turn: int) -> str:
        upward = self.relation in (">=", ">") or (self.relation == "==" and turn == 0)
        first, second = (self.left, self.right) if upward else (self.right, self.left)
        return f"(({first}) - ({second}))"

    def equal(self, *texts: str) -> str:
        """The tactic for an equation between what is written and a polynomial."""
        return f"{self.rewritten}{_equal(self.left, self.right, self.factor, *texts)}"


def _equal(*texts: str) -> str:
    return "divided" if any("/" in _FRACTION.sub("", each) for each in texts) else "ring"


@dataclass(frozen=True)
class _Summand:
    """A term of a sum, times ``scale``."""

    scale: Any
    factor: Any
    squares: Sequence[Any]
    norm: Sequence[tuple[str, Any]]
    hypotheses: Sequence[str]
    proof: Any

    def parts(self, common: Any, scope: _ProofScope) -> list[str]:
        """The factors of the summand, as Coq writes them."""
        whole = recheck.times(self.scale if self.proof else self.factor, common)
        parts = [scope.poly(each) for each in ([whole, self.factor] if self.proof else [whole])]
        parts += [f"({square} * {square})" for square in map(scope.poly, self.squares)]
        if self.norm:
            parts.append(f"(norm ({' :: '.join(f'({scope.poly(c)}, {v})' for v, c in self.norm)} :: nil))")
        return [*parts, *(scope.poly(scope.state[1][name][0]) for name in self.hypotheses)]


class _Lemma(CoqTerms):
    """A lemma while it is written."""

    def __init__(self, name: str, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self.name = name
        # Equations by what they are about: inner products, and those of a combination with any vector.
        self.expansions: dict[str, str] = {}
        self.combinations: dict[str, tuple[dict[str, list[str]], str]] = {}
        self.nodes = list(_inside(data))

    def lines(self) -> Iterator[str]:
        """The lemma with its proof."""
        data = self.data
        for comment in recheck.text(data).splitlines():
            yield f"(* {_comment(comment.strip())} *)"
        wholes: dict[str, str] = {}
        premises = [*self._signs(wholes), *self._defined()]
        hypotheses = (f"{self.term(h['left'])} {_sign(h)} {self.term(h['right'])}" for h in data["hypotheses"])
        premises += [(self.new("h"), text) for text in hypotheses]
        claim = f"{self.term(data['left'])} {_sign(data)} {self.term(data['right'])}"
        numbers = [self.variables[x,].name for x in data["variables"]]
        over = [(numbers, "R"), (list(self.vectors.values()), "V")]
        over += [([called], " -> ".join(["R"] * (arity + 1))) for (_, arity), called in self.functions.items()]
        bound = [f"({' '.join(names)} : {sort})" for names, sort in over if names]
        yield f"Lemma {self.name} :" + (f" forall {' '.join(bound)}," if bound else "")
        yield from (f"  {text} ->" for _, text in premises)
        yield f"  {claim}."
        yield "Proof."
        names = [*(name for names, _ in over for name in names), *(name for name, _ in premises)]
        yield f"  intros {' '.join(names)}." if names else "  idtac."
        given = [name for name, _ in premises[len(premises) - len(data["hypotheses"]) :]]
        yield from self._proved(wholes, given)
        yield "Qed."

    def _signs(self, wholes: dict[str, str]) -> Iterator[tuple[str, str]]:
        """Premises by name; those that say that a number is whole are kept by number."""
        for x, sort in self.data["variables"].items():
            name = self.variables[x,].name
            if sort in ("nonnegative", "positive"):
                yield self.new(f"s_{name}"), f"0 {'<' if sort == 'positive' else '<='} {name}"
            elif sort == "whole":
                wholes[x] = self.new(f"w_{name}")
                yield wholes[x], f"whole {name}"

    def _defined(self) -> Iterator[tuple[str, str]]:
        """Claims that every divisor is not 0 and every root has a value, where signs do not show it."""
        seen = set()
        for node in self.nodes:
            under = _under_root(node)
            texts = [f"{self.term(each)} <> 0" for each in _divisors(node) if self._unsure(each)]
            if under is not None and not self.claim.sign(self.claim.quotient(under)):
                texts.append(f"0 <= {self.term(under)}")
            if under is not None and Fraction(node[2]) < 0 and self.claim.sign(self.claim.quotient(under)) < 2:
                raise NotWrittenError("a root of what may be 0 as a divisor")
            if node[0] == "power" and self.claim.sign(self.claim.quotient(node[1])) < 2:
                raise NotWrittenError("a power of what may be 0")
            for text in texts:
                if text not in seen:
                    yield self.new("d"), text
                seen.add(text)

    def _unsure(self, divisor: Any) -> bool:
        return any(recheck.sign(dict(q), self.claim.signs) < 2 for q in self._factors(divisor))

    def _factors(self, divisor: Any) -> Sequence[Any]:
        """A divisor as the checker has it: powers of polynomials."""
        poly, _ = self.claim.quotient(divisor)
        if len(poly) > 1:
            return [recheck.frozen(poly)]
        return [recheck.frozen(recheck.one(*key)) for monomial in poly for key, _ in monomial]

    # --- from what is written to polynomials ---

    def _proved(self, wholes: Mapping[str, str], given: Sequence[str]) -> Iterator[str]:
        data, needed = self.data, set(used(self.data["proofs"]))
        known, called = self.claim.facts, dict[str, str]()
        for x, name in wholes.items():
            least = f"(pose proof (whole_least {self.variables[x,].name} {name}); lra)"
            yield f"  assert ({self.new(f'p_{name}')} : 0 < {self.variables[x,].name}) by {least}."
        yield from self._roots_of_numbers()
        defining: list[tuple[str, str, _Compared]] = []
        done: set[Any] = set()
        for node in self.nodes:
            yield from self._expand(node)
            yield from self._nonzero(node, done)
            yield from self._name(node, defining)
        scope = self._scope(known, called)
        for x, name in wholes.items():
            if x in needed:
                called[x] = self.new("k")
                least = f"(pose proof (whole_least {self.variables[x,].text} {name}); lra)"
                yield f"  assert ({called[x]} : 0 <= {scope.poly(known[x][0])}) by {least}."
        facts = [(name, each, fact) for name, fact, each in defining]
        for turn, (name, each) in enumerate(zip(given, data["hypotheses"], strict=True), 1):
            facts.append((str(turn), self._compared(each), name))
        for name, compared, fact in facts:
            for turn, key in enumerate((name, f"-{name}")[: len(compared.goals)]):
                if key in needed:
                    called[key] = self.new("k")
                    yield from self._hypothesis(called[key], compared, turn, fact, scope)
        yield from self._goals(scope)

    def _scope(self, known: Any, called: Mapping[str, str]) -> _ProofScope:
        return _ProofScope((self.claim.signs, known, {}, False), self.variables, called)

    def _roots_of_numbers(self) -> Iterator[str]:
        """A number of which there are roots becomes the power of a new one."""
        for x, kind in self.data["variables"].items():
            orders = {e.denominator for e in self._exponents(x)} - {1}
            if kind == "real" or not orders:
                continue
            old, order = self.variables[x,].name, lcm(*orders)
            strict = "_strict" * (kind != "nonnegative")
            new, sign, equation = self.new(f"{old}_root"), self.new("s"), self.new("e")
            yield f"  destruct (has_root{strict} {order} {old}) as ({new} & {sign} & {equation}); [lia | assumption |]."
            yield f"  subst {old}."
            self.variables[x,] = Variable(new, order)
            for one in sorted(orders):
                k, equation = order // one, self.new("e")
                value = f"({new}^{k})" if k > 1 else new
                yield f"  assert ({equation} : root {one} ({new}^{order}) = {value})"
                yield f"    by (transitivity ({new}^{k});"
                yield f"      [apply (root_of_power {one} {k} {new}); [lia | lia | seen] | ring])."
                yield f"  rewrite ?{equation} in *; clear {equation}."
                self.named[recheck.shown(["^", x, f"1/{one}"])] = value

    def _exponents(self, x: str) -> Iterator[Fraction]:
        """All exponents of a number in the claim and its proof."""
        for node in self.nodes:
            if node[0] == "^" and node[1] == x:
                yield Fraction(node[2])
        for poly, _ in (*self.claim.facts.values(), *recheck.stated(self.data)[1]):
            yield from (e for monomial in poly for key, e in monomial if key == (x,))
        yield from _exponents_of_proof(x, self.data["proofs"])

    def _name(self, node: Any, defining: list[tuple[str, str, _Compared]]) -> Iterator[str]:
        """A root, a maximum or a function becomes a number; what defines it is kept in ``defining``."""
        own = ["^", node[1], f"1/{Fraction(node[2]).denominator}"] if _under_root(node) is not None else node
        name = recheck.shown(own)
        if name in self.named or name not in self.claim.signs or name in self.claim.declared:
            return
        text, fact, operation = self.term(own), self.new("f"), own[0]
        new, sort, facts = self.new("y"), self.claim.signs[name], []
        for each in {"^": own[1:2], "max": own[1:], "min": own[1:]}.get(operation, []):
            yield from self._part_sign(each)
        if operation == "^":
            order = int(own[2].partition("/")[2])
            yield f"  assert ({fact} : {text} ^ {order} = {self.term(own[1])})"
            yield "    by (apply power_of_root; [lia | seen])."
            facts = [(name, fact, [["^", own, str(order)], "==", own[1]])]
        elif operation in ("max", "min"):
            relation, how = (">=", "Rle_ge, below_maximum") if operation == "max" else ("<=", "above_minimum")
            how = "apply Rle_ge; below_maximum" if operation == "max" else how
            for turn, each in enumerate(own[1:]):
                fact = self.new("f")
                yield f"  assert ({fact} : {text} {relation} {self.term(each)}) by ({how})."
                facts.append((f"{name}{turn}", fact, [own, relation, each]))
        if sort != "real":
            yield f"  assert ({self.new('s')} : 0 {'<' if sort == 'positive' else '<='} {text})."
            yield f"  {{ {self._sign_of_value(own, sort)}. }}"
        equation = self.new(f"E_{new}")
        yield f"  remember ({text}) as {new} eqn:{equation} in *; clear {equation}."
        self.named[name] = new
        self.variables[name,] = Variable(new, signed=sort == "real")
        for key, fact, (left, relation, right) in facts:
            defining.append((key, fact, self._compared({"left": left, "relation": relation, "right": right})))

    def _part_sign(self, node: Any) -> Iterator[str]:
        """The sign of what a root or a maximum is taken of, where the checker sees it."""
        if sign := self.claim.sign(self.claim.quotient(node)):
            text, strict = self.term(node), sign > 1
            compared = self._compared({"left": node, "relation": ">" if strict else ">=", "right": "0"})
            poly = self._scope({}, {}).poly(compared.goals[0][0])
            yield f"  assert ({self.new('s')} : 0 {'<' if strict else '<='} {text})."
            yield f"  {{ first [seen | apply (unscaled{_strictly(strict)} ({text}) {poly} {compared.factor});"
            yield f"    [seen | {compared.equal(poly)} | seen]]. }}"

    def _sign_of_value(self, node: Any, sort: str) -> str:
        if node[0] == "max":
            best = max(node[1:], key=lambda each: self.claim.sign(self.claim.quotient(each)))
            how = "Rlt_le_trans" if sort == "positive" else "Rle_trans"
            return f"apply ({how} _ {self.term(best)}); [seen | below_maximum]"
        if node[0] == "min":
            return f"repeat apply Rmin_glb{'_lt' * (sort == 'positive')}; seen"
        return "seen"

    def _nonzero(self, node: Any, done: set[Any]) -> Iterator[str]:
        """Claims that the checker's divisors are not 0, and positive where they cannot be negative."""
        for divisor in _divided(node):
            poly, below = self.claim.quotient(divisor)
            for q in self._factors(divisor):
                sign, own = recheck.sign(dict(q), self.claim.signs), self._base(q)
                if q in done or (sign > 1 and len(q) == 1):
                    continue
                done.add(q)
                name, positive = self.new("d"), self.new("p")
                if sign > 1:
                    yield f"  assert ({name} : {own} <> 0) by (apply not_zero; seen)."
                    continue
                yield f"  assert ({name} : {own} <> 0)."
                yield from self._not_zero(divisor, poly, below, q)
                if sign:
                    yield f"  assert ({positive} : 0 < {own}) by (apply positive; [seen | exact {name}])."
                else:
                    yield f"  assert ({positive} : 0 < {own} * {own}) by (exact (Rsqr_pos_lt _ {name}))."

    def _not_zero(self, divisor: Any, poly: Any, below: Any, q: Any) -> Iterator[str]:
        text, under, above = self.term(divisor), self._product(below.items()), self._base(q)
        if len(q) == 1:  # a number that is a factor of the divisor
            ((((key, _),), _),) = q
            ((monomial, c),) = poly.items()
            rest = self._scope({}, {}).poly({tuple((k, e) for k, e in monomial if k != key): c})
            above = f"{power_text(self.variables[key], dict(monomial)[key])} * {rest}"
        yield f"  {{ intro Z; assert (Y : {text} <> 0) by nonzero; apply Y."
        yield f"    transitivity (({above}) / {under}); [{self._expanding(divisor)}divided |]."
        yield "    rewrite ?Z; unfold Rdiv; ring. }"

    def _expand(self, node: Any) -> Iterator[str]:
        """An inner product of combinations as a sum of inner products of vectors."""
        name = recheck.shown(node)
        if node[0] != "dot" or name in self.expansions:
            return
        if all(isinstance(each, str) for each in node[1:]) and node[1] <= node[2]:
            return
        for each in node[1:]:
            yield from self._linear(each)
        (first, a), (second, b) = (self._combination(each) for each in node[1:])
        terms: list[str] = []
        turned: dict[str, None] = {}
        for u, c in first.items():
            for v, d in second.items():
                small, large = sorted((u, v))
                terms.append(" * ".join([*c, *d, self.variables[small, large].name]))
                if small < large:
                    turned[f"(inner_symmetric {self.vectors[large]} {self.vectors[small]})"] = None
        equation = self.new("e")
        rewritten = [f"?{a}"] * bool(a) + [f"?(inner_symmetric _ {self.vector(node[2], 5)}), ?{b}"] * bool(b)
        rewritten += [f"?{each}" for each in turned]
        yield f"  assert ({equation} : {self.term(node)} = {' + '.join(terms)})"
        yield f"    by ({''.join(f'rewrite {each}; ' for each in rewritten)}ring)."
        self.expansions[name] = equation

    def _linear(self, node: Any) -> Iterator[str]:
        """The inner product of a combination with any vector."""
        name = recheck.shown(node)
        if isinstance(node, str) or name in self.combinations:
            return
        factors: dict[str, list[str]] = {}
        for parts, v in _parts(node):
            factors.setdefault(v, []).append(" * ".join(self.term(each, 3) for each in parts) or "1")
        found = {v: [f"({' + '.join(each)})"] for v, each in factors.items()}
        equation = self.new("l")
        terms = " + ".join(f"{c[0]} * inner {self.vectors[v]} o" for v, c in found.items())
        yield f"  assert ({equation} : forall o : V, inner {self.vector(node, 3)} o = {terms})"
        yield "    by (intro o; expanded; ring)."
        self.combinations[name] = found, equation

    def _combination(self, node: Any) -> tuple[dict[str, list[str]], str]:
        """Vectors with their factors, and the equation between both forms."""
        return ({node: []}, "") if isinstance(node, str) else self.combinations[recheck.shown(node)]

    def _expanding(self, *sides: Any) -> str:
        """The tactic that expands the inner products of some expressions, outer ones first."""
        names = dict.fromkeys(recheck.shown(node) for side in sides for node in _inside_expression(side))
        return "".join(f"rewrite ?{self.expansions[name]}; " for name in reversed(names) if name in self.expansions)

    def _base(self, q: Any) -> str:
        """The base q by which the checker divides; the name of a single number."""
        if len(q) > 1:
            return self._scope({}, {}).poly(dict(q))
        ((((key, _),), _),) = q
        return self.variables[key].name

    def _product(self, powers: Any, number: int = 1) -> str:
        """Powers of divisors; of one that may be negative those of its square."""
        parts = [str(number)] if number != 1 else []
        for q, e in powers:
            base = self._base(q)
            if e % 2 == 0 and not recheck.sign(dict(q), self.claim.signs):
                base, power = f"({base} * {base})", e // 2
            else:
                power = e * (self.variables[q[0][0][0][0]].power if len(q) == 1 else 1)
            parts += [base if power == 1 else f"({base}^{power})"] if e else []
        return joined(parts, " * ") or "1"

    def _compared(self, data: Mapping[str, Any]) -> _Compared:
        left, right = (self.claim.quotient(data[side]) for side in ("left", "right"))
        goals = self.claim.goals(left, data["relation"], right)
        poly, below = self.claim.total(left, recheck.product((recheck.MINUS, {}), right))
        powers = []
        for q, e in below.items():  # as in `Claim.goals`
            k = e
            if len(q) == 1:
                ((((key, _),), _),) = q
                drop = min(min((dict(m).get(key, Fraction(0)) for m in poly), default=Fraction(0)), e)
                poly, k = recheck.times(poly, {((key, -drop),): Fraction(1)} if drop else recheck.ONE), e - drop
            if k % 2 and not recheck.sign(dict(q), self.claim.signs):
                poly, k = recheck.times(poly, dict(q)), k + 1
            powers.append((q, k))
        number = lcm(*(c.denominator for c in poly.values()))
        factor = self._product(powers, number)
        rewritten = self._expanding(data["left"], data["right"])
        return _Compared(self.term(data["left"]), data["relation"], self.term(data["right"]), goals, factor, rewritten)

    def _hypothesis(self, name: str, compared: _Compared, turn: int, given: str, scope: _ProofScope) -> Iterator[str]:
        """A hypothesis as a polynomial: denominators are cleared as by the checker."""
        poly, strict = compared.goals[turn]
        text, difference = scope.poly(poly), compared.difference(turn)
        lemma = f"from_{_RELATIONS[compared.relation]}" + "_turned" * (compared.relation == "==" and turn)
        yield f"  assert ({name} : 0 {'<' if strict else '<='} {text})."
        yield f"  {{ apply (scaled{_strictly(strict)} {difference} {text} {compared.factor});"
        yield f"    [seen | {compared.equal(text)} | apply {lemma}; exact {given}]. }}"

    def _goals(self, scope: _ProofScope) -> Iterator[str]:
        """The claim from the proofs of its inequalities."""
        compared, proofs = self._compared(self.data), iter(self.data["proofs"])
        if compared.relation == "==" and not any(poly for poly, _ in compared.goals):
            yield f"  {compared.equal()}."
            return
        yield f"  apply to_{_RELATIONS[compared.relation]}."
        for turn, (poly, strict) in enumerate(compared.goals):
            text = scope.poly(poly)
            yield f"  {{ apply (unscaled{_strictly(strict)} {compared.difference(turn)} {text} {compared.factor});"
            yield f"    [seen | {compared.equal(text)} |]."
            inner = replace(scope.inner(), state=(scope.state[0], scope.state[1], poly, strict))
            yield from self._proof(next(proofs), inner) if poly or strict else ["    apply Rle_refl."]
            yield "  }"

    # --- proofs ---

    def _summand(self, term: Mapping[str, Any], signs: Any) -> _Summand:
        """A term without negative exponents in its square and norm, and in its factor but for one with a proof."""
        factor, scale = recheck.read(term["factor"], signs, self.claim.vectors), recheck.ONE
        squares = [recheck.read(term["square"], signs, self.claim.vectors)] if "square" in term else []
        form = [recheck.read(c, signs, self.claim.vectors) for c, _ in term.get("norm", [])]
        for polys in (squares, form):
            below = _denominator(*polys)
            polys[:] = [recheck.times(each, below) for each in polys]
            scale = recheck.times(scale, *[_inverse(below)] * 2)
        if "proof" not in term:
            factor, scale = recheck.times(factor, scale), recheck.ONE
        norm = sorted(((v, c) for (_, v), c in zip(term.get("norm", []), form, strict=True)), key=lambda each: each[0])
        norm = [(self.vectors[v], c) for v, c in norm]
        return _Summand(scale, factor, squares, norm, term.get("hypotheses", ()), term.get("proof"))

    def _proof(self, node: Mapping[str, Any], scope: _ProofScope) -> Iterator[str]:
        rule = {
            "terms": self._terms, "substitution": self._substitution, "cases": self._cases, "void": self._void,
        }[node["by"]]  # fmt: skip
        yield from rule(node, scope)

    def _terms(self, node: Mapping[str, Any], scope: _ProofScope) -> Iterator[str]:
        (signs, known, goal, strict), pad = scope.state, scope.indent
        multiplier = recheck.read(node.get("multiplier", [["1", {}]]), signs, self.claim.vectors)
        summands = [self._summand(term, signs) for term in node["terms"]]
        # `ring` knows no negative exponents.
        common = _denominator(multiplier, *(each.scale if each.proof else each.factor for each in summands))
        sure: list[str] = []
        others: list[str] = []
        for each in summands:
            parts = each.parts(common, scope)
            if each.proof:
                yield f"{pad}assert ({self.new('f')} : 0 <= {scope.poly(each.factor)}).\n{pad}{{"
                yield from self._proof(each.proof, replace(scope.inner(), state=(signs, known, each.factor, False)))
                yield f"{pad}}}"
            some = not (each.squares or each.norm or each.proof) and recheck.sign(each.factor, signs) > 1
            some = some and all(known[name][1] for name in each.hypotheses)
            (sure if some else others).append(" * ".join(parts))
        total, text = " + ".join([*sure, *others]) or "0", scope.poly(goal)
        times = scope.poly(recheck.times(multiplier, common))
        how = "cbn [norm cross]; " * ("(norm " in total) + _equal(total, text, times)
        yield f"{pad}apply (unscaled{_strictly(strict)} {text}"
        yield f"{pad}  ({total}) {times}); [seen | {how} | seen]."

    def _void(self, node: Mapping[str, Any], scope: _ProofScope) -> Iterator[str]:
        signs, known, *_ = scope.state
        name, pad = node["hypothesis"], scope.indent
        poly, strict = known[name]
        against = recheck.times(recheck.MINUS, poly)
        yield f"{pad}exfalso; apply (void{_strictly(strict)} {scope.poly(poly)} {scope.poly(against)});"
        yield f"{pad}  [{_equal(scope.poly(poly))} | exact {scope.known[name]} |]."
        yield from self._proof(node["proof"], replace(scope, state=(signs, known, against, not strict)))

    def _substitution(self, node: Mapping[str, Any], scope: _ProofScope) -> Iterator[str]:
        x, name, pad = node["variable"], node["hypothesis"], scope.indent
        poly, strict = scope.state[1][name]
        slope = {tuple((n, k) for n, k in m if n != (x,)): c for m, c in poly.items() if dict(m).get((x,)) == 1}
        rest = {m: c for m, c in poly.items() if (x,) not in dict(m)}
        minus = recheck.MINUS
        lower, relative = node["kind"].startswith("least"), node["kind"].endswith("relative")
        a, b = (recheck.times(minus, rest), slope) if lower else (recheck.times(minus, slope), rest)
        first, second = scope.poly(a), scope.poly(b)
        how = ("least" if lower else "most") + "_relative" * relative + _strictly(strict)
        own, new = scope.variables[x,], Variable(self.new(scope.variables[x,].name))
        sign, positive, equation = (self.new(each) for each in ("s", "d", "e"))
        yield f"{pad}destruct ({how} ({own.text}) {scope.poly(poly)} {first} {second})"
        yield f"{pad}  as ({new.name} & {sign} & {positive} & {equation});"
        seen = ["seen"] * (1 + relative + (not lower))
        yield f"{pad}  [{' | '.join(seen)} | {_equal(scope.poly(poly))} | exact {scope.known[name]} |]."
        bound = f"({first} + {first if relative else second} * {new.name})"
        value = _Value(bound, second, equation) if lower else _Value(second, bound, equation)
        yield from self._replaced(node["then"], scope, x, recheck.substitute(scope.state, node), new, value)

    def _cases(self, node: Mapping[str, Any], scope: _ProofScope) -> Iterator[str]:
        x, pad, sign = node["variable"], scope.indent, scope.state[0][node["variable"]]
        variable = scope.variables[x,]
        at = variable.text if sign == "whole" else variable.name
        first, second = recheck.cases(scope.state, x)
        equation, other, turned = self.new("e"), self.new("s"), self.new("e")
        given = ""
        if sign != "real":
            given = self.new(f"{equation}_given")
            yield f"{pad}assert ({given} : {f'whole {at}' if sign == 'whole' else f'0 <= {at}'}) by seen."
        yield f"{pad}destruct ({sign}_cases {at} {given}) as [{equation} | {other}]."
        new = Variable(self.new(variable.name))
        value = {"nonnegative": "0", "whole": "1", "real": f"(- {new.name})"}[sign]
        yield f"{pad}{{"
        inner = scope.inner()
        if sign == "real":
            yield f"{inner.indent}remember (- {at}) as {new.name} eqn:{self.new(f'{equation}_name')}."
            yield f"{inner.indent}assert ({turned} : {at} * 1 = {value}) by (subst; ring)."
        else:
            yield f"{inner.indent}assert ({turned} : {variable.text} * 1 = {value}) by (rewrite {equation}; ring)."
        yield from self._replaced(node["cases"][0], inner, x, first, new, _Value(value, "1", turned))
        yield f"{pad}}}"
        called = dict(scope.known)
        if sign == "whole":
            called[x] = self.new("k")
            yield f"{pad}assert ({called[x]} : 0 <= {scope.poly(second[1][x][0])}) by (clear - {other}; lra)."
        yield from self._proof(node["cases"][1], replace(scope, state=second, known=called))

    def _replaced(
        self, node: Mapping[str, Any], scope: _ProofScope, x: str, state: Any, new: Variable, value: _Value
    ) -> Iterator[str]:
        """The state with the value of x, for the proof of what remains; denominators are cleared as by the checker."""
        _, known, goal, strict = scope.state
        pad, after = scope.indent, replace(scope, state=state, variables={**scope.variables, (x,): new})
        called = {}
        for name in dict.fromkeys(used(node)):
            poly, some = known[name]
            called[name] = self.new("k")
            text = after.poly(state[1][name][0])
            yield f"{pad}assert ({called[name]} : 0 {'<' if some else '<='} {text})."
            yield f"{pad}{{ apply (scaled{_strictly(some)} {scope.poly(poly)} {text} {value.factor(poly, x)});"
            yield f"{pad}  [{value.positive(poly, x)} | {value.put(poly, x, scope)} | exact {scope.known[name]}]. }}"
        yield f"{pad}apply (unscaled{_strictly(strict)} {scope.poly(goal)} {after.poly(state[2])}"
        yield f"{pad}  {value.factor(goal, x)}); [{value.positive(goal, x)} | {value.put(goal, x, scope)} |]."
        yield from self._proof(node, replace(after, known=called))


@dataclass(frozen=True)
class _Value:
    """The value of a variable x: x*``below`` = ``above`` by the hypothesis ``known``, where ``below`` is positive."""

    above: str
    below: str
    known: str

    def factor(self, poly: Any, x: str) -> str:
        """The factor that clears the denominators of a polynomial in x."""
        low, high = _powers(poly, x)
        return f"({' * '.join(['1', *_times(self.above, -low), *_times(self.below, high)])})"

    def positive(self, poly: Any, x: str) -> str:
        """Proof that the factor is positive: ``below`` is, and ``above`` where it counts, for x is then."""
        if _powers(poly, x)[0] == 0:
            return "seen"
        return f"assert (Y : 0 < {self.above}) by (rewrite <- {self.known}; seen); seen"

    def put(self, poly: Any, x: str, scope: _ProofScope) -> str:
        """Proof that the new polynomial is the old one times the factor: for any N and D, then for their values."""
        low, high = _powers(poly, x)
        terms = []
        for monomial, c in poly.items():
            e = dict(monomial).get((x,), Fraction(0))
            rest = scope.poly({tuple((n, k) for n, k in monomial if n != (x,)): c})
            terms.append((rest, e - low, high - e))

        def written(above: str, below: str) -> str:
            return " + ".join(" * ".join([r, *_times(above, a), *_times(below, b)]) for r, a, b in terms) or "0"

        factor = " * ".join(["1", *_times("N", -low), *_times("D", high)])
        each = f"{scope.variables[x,].text} * D = N -> D <> 0 -> {written('N', 'D')} = {scope.poly(poly)} * ({factor})"
        put = written(self.above, self.below)
        return (
            f"transitivity ({put}); [{_equal(put)} |]; assert (Y : forall N D : R, {each}); "
            f"[intros N D Y0 Y1; subst N; {_equal(each)} |]; apply (Y {self.above} {self.below} {self.known}); nonzero"
        )


def _strictly(strict: bool) -> str:
    return "_strict" * strict


def _times(text: str, e: Fraction) -> list[str]:
    if e.denominator != 1:
        raise NotWrittenError("a root of a variable that is replaced")
    return [] if e == 0 else [text if e == 1 else f"{text}^{e}"]


def _powers(poly: Any, x: str) -> tuple[Fraction, Fraction]:
    powers = [dict(m).get((x,), Fraction(0)) for m in poly]
    return min([Fraction(0), *powers]), max([Fraction(0), *powers])


def _denominator(*polys: Any) -> Any:
    """The least monomial that makes exponents nonnegative, as a polynomial."""
    powers: dict[Any, Fraction] = {}
    for key, e in ((key, e) for poly in polys for monomial in poly for key, e in monomial if e < 0):
        powers[key] = max(powers.get(key, Fraction(0)), -e)
    return {tuple(sorted(powers.items())): Fraction(1)}


def _inverse(monomial: Any) -> Any:
    (powers,) = monomial
    return {tuple((key, -e) for key, e in powers): Fraction(1)}


def _sign(data: Mapping[str, Any]) -> str:
    return str(data["relation"]).replace("==", "=")


def _inside(data: Mapping[str, Any]) -> Iterator[Any]:
    """All expressions that have parts, those inside others first."""
    for each in (*data["hypotheses"], data):
        for side in ("left", "right"):
            yield from _inside_expression(each[side])


def _inside_expression(node: Any) -> Iterator[Any]:
    if isinstance(node, list):
        for part in node[1:]:
            yield from _inside_expression(part)
        yield node


def _divided(node: Any) -> Sequence[Any]:
    """The divisors of an expression."""
    if node[0] == "^" and Fraction(node[2]) < 0:
        return [node[1]]
    return [node[2]] if node[0] == "/" else []


def _parts(node: Any) -> Iterator[tuple[Sequence[Any], str]]:
    """The vectors of a combination with the factors that stand before them."""
    if isinstance(node, str):
        yield [], node
    elif node[0] == "*":
        for factors, v in _parts(node[2]):
            yield [node[1], *factors], v
    else:
        for each in node[1:]:
            yield from _parts(each)


def _divisors(node: Any) -> Iterator[Any]:
    """The factors of what an expression divides by, as they are written."""
    for each in _divided(node):
        yield from _divisor_factors(each)


def _divisor_factors(node: Any) -> Iterator[Any]:
    if isinstance(node, list) and node[0] == "*":
        for each in node[1:]:
            yield from _divisor_factors(each)
    elif isinstance(node, list) and node[0] == "^" and re.fullmatch("[1-9][0-9]*", node[2]):
        yield from _divisor_factors(node[1])
    else:
        yield node


def _under_root(node: Any) -> Any:
    return node[1] if node[0] == "^" and Fraction(node[2]).denominator > 1 else None


def _exponents_of_proof(x: str, node: Any) -> Iterator[Fraction]:
    if isinstance(node, list):
        if len(node) in (2, 3) and isinstance(node[1], dict):  # a term of a polynomial
            yield from (Fraction(e) for y, e in node[1].items() if y == x)
        else:
            for each in node:
                yield from _exponents_of_proof(x, each)
    elif isinstance(node, dict):
        for each in node.values():
            yield from _exponents_of_proof(x, each)
