"""Certificates as lemmas of Coq, on the real numbers of its standard library; see docs/certificates.md.

A proof follows the rules of `ratecheck.recheck`, node by node: what Coq is told to believe is the statement alone. A
variable under roots is written as a power of its root, a vector as one of its coordinates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import Any

from ratecheck import recheck
from ratecheck.auditing.certificates import used

# What every file begins with: the rules of the checker as lemmas, and tactics for signs and equations.
PREAMBLE = Path(__file__).with_name("lemmas.v")

# Words of the language, and names that proofs below use for themselves.
_TAKEN = frozenset({
    "R", "S", "O", "N", "D", "Y", "Z", "whole", "as", "at", "cofix", "else", "end", "exists", "exists2", "fix", "for",
    "forall", "fun", "if", "in", "let", "match", "mod", "return", "Set", "Prop", "Type", "then", "using", "where",
    "with", "by", "IF", "INR", "scaled", "scaled_strict", "unscaled", "unscaled_strict", "positive", "not_zero",
    "by_value", "void", "void_strict", "least", "least_strict", "least_relative", "least_relative_strict", "most",
    "most_strict", "most_relative", "most_relative_strict", "nonnegative_cases", "real_cases", "whole_cases",
    "whole_least",
})  # fmt: skip
_RELATIONS = {"<=": "le", ">=": "ge", "<": "lt", ">": "gt", "==": "eq"}


class NotWrittenError(Exception):
    """Why a certificate is no lemma."""


def coq_text(data: Mapping[str, Any]) -> str:
    """A whole file: what a file of certificates has, as lemmas; those that are none are named with the reason."""
    lemmas, taken = [PREAMBLE.read_text("utf-8")], set(_TAKEN)
    for each in data["steps"]:
        name = _fresh(re.sub(r"\W+", "_", each["id"], flags=re.ASCII), taken)
        try:
            lemmas.append(lemma(name, each))
        except NotWrittenError as error:
            lemmas.append(f"(* {_comment(each['id'])} is not written: {error} *)\n")
    return "\n".join(lemmas)


def lemma(name: str, data: Mapping[str, Any]) -> str:
    """A certificate as one lemma with its proof; raises `NotWrittenError` where it needs other than whole powers."""
    return "\n".join(_Lemma(name, data).lines()) + "\n"


def _comment(text: str) -> str:
    return text.replace("(*", "( *").replace("*)", "* )").replace('"', "'")


def _fresh(name: str, taken: set[str]) -> str:
    """A name that nothing has yet."""
    name = name if re.match(r"[A-Za-z]", name) else f"v{name}"
    found, number = name, 0
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    taken.add(found)
    return found


@dataclass(frozen=True)
class _Variable:
    """What a variable is called, which power of that it is, and whether even powers are written as squares."""

    name: str
    power: int = 1
    signed: bool = False

    @property
    def text(self) -> str:
        return self.name if self.power == 1 else f"{self.name}^{self.power}"


@dataclass(frozen=True)
class _Scope:
    """Where a proof is: the state of the checker, what variables and hypotheses are called, and how deep it is."""

    state: Any
    variables: Mapping[str, _Variable]
    known: Mapping[str, str]
    indent: str = "  "

    def poly(self, poly: Any) -> str:
        """A polynomial of the checker as a term."""
        terms = []
        for monomial, c in poly.items():
            parts = [_power(self.variables[n], e) for n, e in monomial]
            if c != 1 or not parts:
                parts.insert(0, _number(c))
            terms.append(" * ".join(parts))
        return _joined(terms, " + ") or "0"

    def inner(self) -> _Scope:
        return replace(self, indent=self.indent + "  ")


def _joined(parts: Sequence[str], sign: str) -> str:
    """In brackets where there are several."""
    if len(parts) == 1 and _atomic(parts[0]):
        return parts[0]
    return f"({sign.join(parts)})" if parts else ""


def _atomic(text: str) -> bool:
    """Whether no operator stands outside of brackets."""
    depth = 0
    for each in text:
        depth += (each == "(") - (each == ")")
        if each == " " and depth == 0:
            return False
    return True


def _number(c: Fraction) -> str:
    text = str(abs(c)) if c.denominator == 1 else f"({abs(c.numerator)} / {c.denominator})"
    return f"(- {text})" if c < 0 else text


def _power(variable: _Variable, e: Fraction) -> str:
    whole = e * variable.power
    if whole.denominator != 1:
        raise NotWrittenError("a root of a variable that is replaced")
    k = abs(int(whole))
    one = variable.name if k == 1 else f"({variable.name}^{k})"
    if variable.signed and k % 2 == 0:
        half = variable.name if k == 2 else f"({variable.name}^{k // 2})"
        one = f"({half} * {half})"
    return f"(/ {one})" if whole < 0 else one


@dataclass
class _Lemma:
    """A lemma while it is written: names that are taken, and the lines so far."""

    name: str
    data: Mapping[str, Any]
    taken: set[str] = field(default_factory=lambda: set(_TAKEN))

    def lines(self) -> Iterator[str]:
        data, signs = self.data, self.data["variables"]
        variables = self._variables()
        yield f"(* {_comment(data['id'])}: {_comment(data['claim'])} *)"
        scope = _Scope((signs, {}, {}, False), variables, {})
        premises, wholes = self._signs(variables)
        sides = [*data["hypotheses"].values(), data]
        premises += [(self._new("d"), f"{each} <> 0") for each in dict.fromkeys(self._divisors(sides, scope))]
        names = {}
        for name, hypothesis in data["hypotheses"].items():
            names[name] = self._new("h")
            premises.append((names[name], self._claim(hypothesis, scope)))
        every = " ".join(each.name for each in variables.values())
        yield f"Lemma {self.name} :" + (f" forall {every} : R," if every else "")
        for name, text in premises:
            says = next((_comment(data["hypotheses"][n]["text"]) for n, h in names.items() if h == name), "")
            yield f"  {text} ->" + (f" (* {says} *)" if says else "")
        yield f"  {self._claim(data, scope)}."
        yield "Proof."
        yield f"  intros {' '.join([every, *(name for name, _ in premises)])}."
        known, called = {}, {}
        for x, given in wholes.items():
            variable, called[x] = variables[x], self._new("k")
            known[x] = ({((x, Fraction(1)),): Fraction(1), (): Fraction(-1)}, False)
            least = f"by (pose proof (whole_least ({variable.text}) {given}); lra)"
            if variable.power == 1:
                yield f"  assert (p_{given} : 0 < {variable.name}) {least}."
            yield f"  assert ({called[x]} : 0 <= {scope.poly(known[x][0])}) {least}."
        for name, hypothesis in data["hypotheses"].items():
            goals = recheck.goals(hypothesis, signs)
            for key, turned, (poly, strict) in zip((name, f"-{name}"), (False, True), goals, strict=False):
                known[key], called[key] = (poly, strict), self._new("k")
                yield from self._cleared(called[key], hypothesis, names[name], (poly, strict), scope, turned=turned)
        yield from self._goals(scope, known, called)
        yield "Qed."

    def _signs(self, variables: Mapping[str, _Variable]) -> tuple[list[tuple[str, str]], dict[str, str]]:
        """Premises by name, and those that say that a variable is a whole number, by variable."""
        premises, wholes = [], {}
        for x, sign in self.data["variables"].items():
            variable = variables[x]
            if sign == "nonnegative":
                premises.append((self._new(f"s_{variable.name}"), f"0 <= {variable.name}"))
            elif sign == "positive" or (sign == "whole" and variable.power > 1):
                premises.append((self._new(f"s_{variable.name}"), f"0 < {variable.name}"))
            if sign == "whole":
                wholes[x] = self._new(f"w_{variable.name}")
                premises.append((wholes[x], f"whole {_argument(variable.text)}"))
        return premises, wholes

    def _variables(self) -> dict[str, _Variable]:
        """The names of variables; one under a root is the power of a variable."""
        found = {}
        for x in self.data["variables"]:
            power = lcm(*(e.denominator for e in _exponents(x, self.data)))
            name = re.sub(r"\W+", "_", x, flags=re.ASCII).strip("_")
            signed = self.data["variables"][x] in ("real", "vector")
            found[x] = _Variable(self._new(name + "_root" * (power > 1)), power, signed)
        return found

    def _new(self, name: str) -> str:
        return _fresh(name, self.taken)

    def _divisors(self, sides: Iterable[Mapping[str, Any]], scope: _Scope) -> Iterator[str]:
        """The factors of denominators whose sign is not seen."""
        signs = scope.state[0]
        for each in sides:
            for _, divisors in (*each["left"], *each["right"]):
                for divisor in divisors:
                    poly = recheck.read(divisor, signs)
                    if recheck.sign(poly, signs) < 2:
                        yield scope.poly(poly)

    def _claim(self, data: Mapping[str, Any], scope: _Scope) -> str:
        left, right = (_side(data[name], scope) for name in ("left", "right"))
        relation = "=" if data["relation"] == "==" else data["relation"]
        return f"{left} {relation} {right}"

    def _goals(self, scope: _Scope, known: Any, called: Mapping[str, str]) -> Iterator[str]:
        """The claim from the proofs of its inequalities."""
        data, signs = self.data, scope.state[0]
        yield f"  apply to_{_RELATIONS[data['relation']]}."
        proofs = iter(data["proofs"])
        for goal, turned in zip(recheck.goals(data, signs), (False, True), strict=False):
            inner = _Scope((signs, known, *goal), scope.variables, called).inner()
            yield "  {"
            yield from self._cleared(None, data, "", goal, scope.inner(), turned=turned)
            yield from self._proof(next(proofs), inner) if goal[0] or goal[1] else ["    apply Rle_refl."]
            yield "  }"

    def _cleared(
        self,
        name: str | None,
        data: Mapping[str, Any],
        given: str,
        goal: tuple[Any, bool],
        scope: _Scope,
        *,
        turned: bool,
    ) -> Iterator[str]:
        """A hypothesis, or without a name the goal, as a polynomial: denominators are cleared as by the checker."""
        (poly, strict), signs, pad = goal, scope.state[0], scope.indent
        above, divisor = _cleared_sum(data, scope)
        left, right = (_side(data[side], scope) for side in ("left", "right"))
        below = recheck.read(data["below"], signs)
        signed = recheck.sign(below, signs) > 0
        upward = data["relation"] in (">=", ">") or (data["relation"] == "==" and not turned)
        difference = f"({left} - {right})" if upward else f"({right} - {left})"
        factor = divisor if signed else f"({divisor} * {divisor})"
        how = ("unscaled" if name is None else "scaled") + _strictly(strict)
        text = scope.poly(poly)
        if name is not None:
            yield f"{pad}assert ({name} : 0 {'<' if strict else '<='} {text})."
        yield f"{pad}{'{ ' * (name is not None)}apply ({how} {difference} {text} {factor})."
        yield f"{pad}- assert (Z : {divisor} <> 0) by nonzero."
        if signed:
            yield f"{pad}  assert (Y : {divisor} = {scope.poly(below)}) by equal."
            yield f"{pad}  apply (by_value _ _ Y); first [seen | apply positive; [seen | rewrite <- Y; exact Z]]."
        else:
            yield f"{pad}  exact (Rsqr_pos_lt _ Z)."
        yield f"{pad}- assert (Y : {left} - {right} = {above} / {divisor}) by equal."
        turn = f"({left} - {right})" if upward else f"- ({left} - {right})"
        yield f"{pad}  transitivity ({turn} * {factor}); [rewrite Y; equal | ring]."
        if name is not None:
            lemma = f"from_{_RELATIONS[data['relation']]}" + "_turned" * (data["relation"] == "==" and turned)
            yield f"{pad}- apply {lemma}; exact {given}. }}"
        else:
            yield f"{pad}-"

    # --- proofs ---

    def _proof(self, node: Mapping[str, Any], scope: _Scope) -> Iterator[str]:
        rule = {
            "terms": self._terms, "substitution": self._substitution, "cases": self._cases, "void": self._void,
        }[node["by"]]  # fmt: skip
        yield from rule(node, scope)

    def _terms(self, node: Mapping[str, Any], scope: _Scope) -> Iterator[str]:
        (signs, known, goal, strict), pad = scope.state, scope.indent
        sure: list[str] = []
        others: list[str] = []
        for term in node["terms"]:
            factor = recheck.read(term["factor"], signs)
            names = term.get("hypotheses", ())
            parts = [scope.poly(factor)]
            if "square" in term:
                square = scope.poly(recheck.read(term["square"], signs))
                parts.append(f"({square} * {square})")
            parts += [scope.poly(known[name][0]) for name in names]
            if "proof" in term:
                yield f"{pad}assert ({self._new('f')} : 0 <= {parts[0]}).\n{pad}{{"
                inner = replace(scope.inner(), state=(signs, known, factor, False))
                yield from self._proof(term["proof"], inner)
                yield f"{pad}}}"
            some = "square" not in term and recheck.sign(factor, signs) > 1 and all(known[name][1] for name in names)
            (sure if some and "proof" not in term else others).append(" * ".join(parts))
        total = " + ".join([*sure, *others]) or "0"
        multiplier = scope.poly(recheck.read(node.get("multiplier", [["1", {}]]), signs))
        yield f"{pad}apply (unscaled{_strictly(strict)} {scope.poly(goal)}"
        yield f"{pad}  ({total}) {multiplier}); [seen | equal | seen]."

    def _void(self, node: Mapping[str, Any], scope: _Scope) -> Iterator[str]:
        signs, known, *_ = scope.state
        name, pad = node["hypothesis"], scope.indent
        poly, strict = known[name]
        against = recheck.times(recheck.MINUS, poly)
        yield f"{pad}exfalso; apply (void{_strictly(strict)} {scope.poly(poly)} {scope.poly(against)});"
        yield f"{pad}  [equal | exact {scope.known[name]} |]."
        yield from self._proof(node["proof"], replace(scope, state=(signs, known, against, not strict)))

    def _substitution(self, node: Mapping[str, Any], scope: _Scope) -> Iterator[str]:
        x, name, pad = node["variable"], node["hypothesis"], scope.indent
        poly, strict = scope.state[1][name]
        slope = {tuple((n, k) for n, k in m if n != x): c for m, c in poly.items() if dict(m).get(x) == 1}
        rest = {m: c for m, c in poly.items() if x not in dict(m)}
        minus = recheck.MINUS
        lower, relative = node["kind"].startswith("least"), node["kind"].endswith("relative")
        a, b = (recheck.times(minus, rest), slope) if lower else (recheck.times(minus, slope), rest)
        first, second = scope.poly(a), scope.poly(b)
        how = ("least" if lower else "most") + "_relative" * relative + _strictly(strict)
        own, new = scope.variables[x], _Variable(self._new(scope.variables[x].name))
        sign, positive, equation = (self._new(each) for each in ("s", "d", "e"))
        yield f"{pad}destruct ({how} ({own.text}) {scope.poly(poly)} {first} {second})"
        yield f"{pad}  as ({new.name} & {sign} & {positive} & {equation});"
        seen = ["seen"] * (1 + relative + (not lower))
        yield f"{pad}  [{' | '.join(seen)} | equal | exact {scope.known[name]} |]."
        bound = f"({first} + {first if relative else second} * {new.name})"
        value = _Value(bound, second, equation) if lower else _Value(second, bound, equation)
        yield from self._replaced(node["then"], scope, x, recheck.substitute(scope.state, node), new, value)

    def _cases(self, node: Mapping[str, Any], scope: _Scope) -> Iterator[str]:
        x, pad, sign = node["variable"], scope.indent, scope.state[0][node["variable"]]
        variable = scope.variables[x]
        at = _argument(variable.text if sign == "whole" else variable.name)
        first, second = recheck.cases(scope.state, x)
        equation, other, turned = self._new("e"), self._new("s"), self._new("e")
        if sign != "real":
            given = f"whole {at}" if sign == "whole" else f"0 <= {at}"
            yield f"{pad}assert ({equation}_given : {given}) by seen."
        yield f"{pad}destruct ({sign}_cases {at}{f' {equation}_given' * (sign != 'real')}) as [{equation} | {other}]."
        new = _Variable(self._new(variable.name))
        value = {"nonnegative": "0", "whole": "1", "real": f"(- {new.name})"}[sign]
        yield f"{pad}{{"
        inner = scope.inner()
        if sign == "real":
            yield f"{inner.indent}remember (- {at}) as {new.name} eqn:{equation}_name."
            yield f"{inner.indent}assert ({turned} : {at} * 1 = {value}) by (subst; ring)."
        else:
            yield f"{inner.indent}assert ({turned} : {variable.text} * 1 = {value}) by (rewrite {equation}; ring)."
        yield from self._replaced(node["cases"][0], inner, x, first, new, _Value(value, "1", turned))
        yield f"{pad}}}"
        called = dict(scope.known)
        if sign == "whole":
            called[x] = self._new("k")
            yield f"{pad}assert ({called[x]} : 0 <= {scope.poly(second[1][x][0])}) by (clear - {other}; lra)."
        yield from self._proof(node["cases"][1], replace(scope, state=second, known=called))

    def _replaced(
        self, node: Mapping[str, Any], scope: _Scope, x: str, state: Any, new: _Variable, value: _Value
    ) -> Iterator[str]:
        """The state with the value of x, for the proof of what remains; denominators are cleared as by the checker."""
        _, known, goal, strict = scope.state
        pad, after = scope.indent, replace(scope, state=state, variables={**scope.variables, x: new})
        called = {}
        for name in dict.fromkeys(used(node)):
            poly, some = known[name]
            called[name] = self._new("k")
            text = after.poly(state[1][name][0])
            yield f"{pad}assert ({called[name]} : 0 {'<' if some else '<='} {text})."
            yield f"{pad}{{ apply (scaled{_strictly(some)} {scope.poly(poly)} {text} {value.factor(poly, x)});"
            yield f"{pad}  [{value.positive(poly, x)} | {value.put(poly, x, scope)} | exact {scope.known[name]}]. }}"
        yield f"{pad}apply (unscaled{_strictly(strict)} {scope.poly(goal)} {after.poly(state[2])}"
        yield f"{pad}  {value.factor(goal, x)}); [{value.positive(goal, x)} | {value.put(goal, x, scope)} |]."
        yield from self._proof(node, replace(after, known=called))


@dataclass(frozen=True)
class _Value:
    """What a variable x is: x*``below`` = ``above`` by the hypothesis ``known``, where ``below`` is positive."""

    above: str
    below: str
    known: str

    def factor(self, poly: Any, x: str) -> str:
        """What clears the denominators of a polynomial in x."""
        low, high = _powers(poly, x)
        return f"({' * '.join(['1', *_times(self.above, -low), *_times(self.below, high)])})"

    def positive(self, poly: Any, x: str) -> str:
        """That the factor is positive: ``below`` is, and ``above`` where it counts, for x is then."""
        if _powers(poly, x)[0] == 0:
            return "seen"
        return f"assert (Y : 0 < {self.above}) by (rewrite <- {self.known}; seen); seen"

    def put(self, poly: Any, x: str, scope: _Scope) -> str:
        """That the new polynomial is the old one times the factor: with any N and D first, then with what they are."""
        low, high = _powers(poly, x)
        terms = []
        for monomial, c in poly.items():
            e = dict(monomial).get(x, Fraction(0))
            rest = scope.poly({tuple((n, k) for n, k in monomial if n != x): c})
            terms.append((rest, e - low, high - e))

        def written(above: str, below: str) -> str:
            return " + ".join(" * ".join([r, *_times(above, a), *_times(below, b)]) for r, a, b in terms) or "0"

        factor = " * ".join(["1", *_times("N", -low), *_times("D", high)])
        each = f"{scope.variables[x].text} * D = N -> D <> 0 -> {written('N', 'D')} = {scope.poly(poly)} * ({factor})"
        return (
            f"transitivity ({written(self.above, self.below)}); [equal |]; assert (Y : forall N D : R, {each}); "
            f"[intros N D Y0 Y1; subst N; equal |]; apply (Y {self.above} {self.below} {self.known}); nonzero"
        )


def _strictly(strict: bool) -> str:
    return "_strict" * strict


def _times(text: str, e: Fraction) -> list[str]:
    if e.denominator != 1:
        raise NotWrittenError("a root of a variable that is replaced")
    return [] if e == 0 else [text if e == 1 else f"{text}^{e}"]


def _powers(poly: Any, x: str) -> tuple[Fraction, Fraction]:
    powers = [dict(m).get(x, Fraction(0)) for m in poly]
    return min([Fraction(0), *powers]), max([Fraction(0), *powers])


def _argument(text: str) -> str:
    return text if text.isidentifier() else f"({text})"


def _exponents(x: str, data: Any) -> Iterator[Fraction]:
    """All exponents of a variable in a certificate."""
    yield Fraction(1)
    for sides in (data, *data["hypotheses"].values()):
        for side in ("left", "right"):
            for product in sides[side]:
                for part in product:
                    for factor in part:
                        yield from (Fraction(m[x]) for _, m in factor if x in m)
    yield from _exponents_of_proof(x, data["proofs"])


def _exponents_of_proof(x: str, node: Any) -> Iterator[Fraction]:
    if isinstance(node, list):
        for each in node:
            yield from _exponents_of_proof(x, each)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in ("factor", "square", "multiplier"):
                yield from (Fraction(m[x]) for _, m in value if x in m)
            else:
                yield from _exponents_of_proof(x, value)


def _side(products: Sequence[Any], scope: _Scope) -> str:
    """A sum of products over products."""
    return _joined([_product(product, scope) for product in products], " + ") or "0"


def _product(product: Any, scope: _Scope) -> str:
    up, down = (_multiplied(part, scope) for part in product)
    return f"({up} / {down})" if product[1] else up


def _multiplied(factors: Sequence[Any], scope: _Scope) -> str:
    signs = scope.state[0]
    return _joined([scope.poly(recheck.read(each, signs)) for each in factors], " * ") or "1"


def _cleared_sum(data: Mapping[str, Any], scope: _Scope) -> tuple[str, str]:
    """The difference of the sides over one denominator, which a divisor that it equals is no part of once more."""
    signs = scope.state[0]
    above, below, text = "0", recheck.ONE, "1"
    for turn, part in [*(("", each) for each in data["left"]), *(("- ", each) for each in data["right"])]:
        up, name = (_multiplied(factors, scope) for factors in part)
        down = recheck.times(*(recheck.read(each, signs) for each in part[1]))
        if down == below:
            above = f"({above} + {turn}{up})"
        else:
            above = f"({above} * {name} + {turn}{up} * {text})"
            below, text = recheck.times(below, down), name if text == "1" else f"({text} * {name})"
    return above, text
