"""Expressions of certificates as terms of Coq: names that are none of its own, polynomials, and what is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from ratecheck import recheck
from ratecheck.auditing.export.claim_data import multiplied

# What every file begins with: the rules of the checker as lemmas, and tactics for signs and equations.
PREAMBLE = Path(__file__).with_name("lemmas.v")

# The words of the language, of tactics and of what proofs below use from the library: a number has none of these names.
_KEYWORDS = """
    Axiom Axioms CoFixpoint CoInductive Class Coercion Conjecture Context Corollary Defined Definition Example Fact
    Fixpoint Hypotheses Hypothesis IF Import Inductive Instance Lemma Let Ltac Module Notation Parameter Parameters
    Program Proof Prop Proposition Qed Record Remark SProp Scheme Section Set Structure Theorem Type Variable Variables
    as at by cofix do else end exists exists2 fix for forall fun if in is lazy lazymatch let match mod multimatch of
    repeat return solve then try using where with INR Rpower Rmax Rmin exp ln PI nil Rdiv Rle_refl
    Rle_trans Rlt_le_trans Rle_ge Rmin_glb Rmin_glb_lt Rsqr_pos_lt N D Y Y0 Y1 Z S O R o apply assert assumption
    cbn change clear constr destruct eqn eapply exact exfalso fail field first fresh goal idtac induction intro intros
    lra lia nonzero pose proof remember replace rewrite ring seen split subst symmetry transitivity unfold
"""
# From which on a number is written in hexadecimal digits.
_LONG = 10**30
_FUNCTIONS = {"exp": "exp", "log": "ln", "power": "Rpower"}


class NotWrittenError(Exception):
    """The reason for which a certificate is no lemma."""


def taken_names() -> set[str]:
    """Names that mean something to Coq, to the file or to the proofs in it."""
    own = r"^(?:Lemma|Definition|Fixpoint|Ltac|Variable|Hypothesis) (\w+)"
    return {*_KEYWORDS.split(), *re.findall(own, PREAMBLE.read_text("utf-8"), re.MULTILINE)}


def fresh(name: str, taken: set[str]) -> str:
    """A name that nothing has yet."""
    name = name if re.match(r"[A-Za-z]", name) else f"v{name}"
    found, number = name, 0
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    taken.add(found)
    return found


@dataclass(frozen=True)
class Variable:
    """The identifier of a number, the power of it, and whether even powers are written as squares."""

    name: str
    power: int = 1
    signed: bool = False

    @property
    def text(self) -> str:
        """The number as a factor."""
        return self.name if self.power == 1 else f"({self.name}^{self.power})"


def joined(parts: Sequence[str], sign: str) -> str:
    """Parts joined by a sign, in brackets where there are several."""
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


def number_text(c: Fraction) -> str:
    """A fraction as a factor."""
    text = _whole(abs(c.numerator)) + f" / {_whole(c.denominator)}" * (c.denominator != 1)
    text = text if c.denominator == 1 else f"({text})"
    return f"(- {text})" if c < 0 else text


def _whole(n: int) -> str:
    """A whole number; Coq takes seconds to read hundreds of decimal digits."""
    return str(n) if n < _LONG else hex(n)


def power_text(variable: Variable, e: Fraction) -> str:
    """A power of a number as a factor; raises `NotWrittenError` for one that is not whole."""
    whole = e * variable.power
    if whole.denominator != 1:
        raise NotWrittenError("a root of a variable that is replaced")
    k = abs(int(whole))
    one = variable.name if k == 1 else f"({variable.name}^{k})"
    if variable.signed and k % 2 == 0:
        half = variable.name if k == 2 else f"({variable.name}^{k // 2})"
        one = f"({half} * {half})"
    return f"(/ {one})" if whole < 0 else one


class CoqTerms:
    """The names of a claim and its expressions in the notation of Coq."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data, self.taken = _told_apart(data), taken_names()
        self.claim, _ = recheck.stated(self.data)
        self.functions: dict[tuple[str, int], str] = {}
        self.vectors = {v: self.called(v) for v in data["vectors"]}
        self.variables: dict[Any, Variable] = {}
        for x, kind in data["variables"].items():
            self.variables[x,] = Variable(self.called(x), signed=kind == "real")
        for u in data["vectors"]:
            for v in data["vectors"]:
                if u <= v:
                    text = f"(inner {self.vectors[u]} {self.vectors[v]})"
                    self.variables[u, v] = Variable(text, signed=u != v)
        # Texts of roots and the like by what the checker calls them.
        self.named: dict[str, str] = {}

    def new(self, name: str) -> str:
        """A name that nothing has yet."""
        return fresh(name, self.taken)

    def called(self, name: str) -> str:
        """The identifier of a name of the claim."""
        return self.new(re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_"))

    def term(self, node: Any, outer: int = 0) -> str:
        """An expression as it is written; ``outer`` says how strongly what is around it binds, see `recheck.shown`."""
        text, own = self._term(node)
        return f"({text})" if own < outer else text

    def _term(self, node: Any) -> tuple[str, int]:
        if isinstance(node, str):
            return (self.variables[node,].text if node in self.claim.declared else number_text(recheck.number(node))), 5
        known = self.named.get(recheck.shown(node))
        rules: dict[str, Callable[..., tuple[str, int]]] = {
            "+": self._sum, "*": self._product_text, "/": self._quotient_text, "^": self._raised,
            "dot": self._inner_text, "max": self._extreme, "min": self._extreme,
        }  # fmt: skip
        if known is not None:
            return known, 5
        rule: Callable[..., tuple[str, int]] = rules.get(node[0], self._applied)
        return rule(*node)

    def _product_text(self, _: str, *parts: Any) -> tuple[str, int]:
        if parts[0] == "-1" and len(parts) > 1:
            return f"- {self.term(multiplied(parts[1:]), 2)}", 1
        return " * ".join(self.term(each, 3 if turn else 2) for turn, each in enumerate(parts)), 2

    def _quotient_text(self, _: str, above: Any, below: Any) -> tuple[str, int]:
        return f"{self.term(above, 2)} / {self.term(below, 3)}", 2

    def _inner_text(self, _: str, first: Any, second: Any) -> tuple[str, int]:
        return f"inner {self.vector(first, 3)} {self.vector(second, 3)}", 4

    def _extreme(self, operation: str, first: Any, *rest: Any) -> tuple[str, int]:
        if not rest:
            return self._term(first)
        return f"R{operation} {self.term(first, 5)} {self.term([operation, *rest], 5)}", 4

    def _applied(self, operation: str, *parts: Any) -> tuple[str, int]:
        if operation == "constant":
            return {"pi": ("PI", 5), "e": ("exp 1", 4)}[parts[0]]
        if operation == "function":
            operation, parts = self._function(parts[0], len(parts) - 1), parts[1:]
        return " ".join([_FUNCTIONS.get(operation, operation), *(self.term(each, 5) for each in parts)]), 4

    def _sum(self, _: str, first: Any, *rest: Any) -> tuple[str, int]:
        found = self.term(first, 1)
        for each in rest:
            positive = _opposite(each)
            found += f" + {self.term(each, 2)}" if positive is None else f" - {self.term(positive, 2)}"
        return found, 1

    def _raised(self, _: str, base: Any, exponent: str) -> tuple[str, int]:
        e = Fraction(exponent)
        if e.denominator > 1:
            known = self.named.get(recheck.shown(["^", base, f"1/{e.denominator}"]))
            text, own = (f"root {e.denominator} {self.term(base, 5)}", 4) if known is None else (known, 5)
        else:
            text, own = self._term(base)
        k = abs(e.numerator)
        if k != 1:
            text, own = f"{text if own > 3 else f'({text})'} ^ {k}", 3
        return (f"/ {text if own > 2 else f'({text})'}", 2) if e < 0 else (text, own)

    def _function(self, name: str, arity: int) -> str:
        if (name, arity) not in self.functions:
            self.functions[name, arity] = self.called(name)
        return self.functions[name, arity]

    def vector(self, node: Any, outer: int = 0) -> str:
        """A vector as it is written."""
        if isinstance(node, str):
            return self.vectors[node]
        operation, *parts = node
        if operation == "*":
            text, own = f"{self.term(parts[0], 2)} [*] {self.vector(parts[1], 3)}", 2
        else:
            text, own = self.vector(parts[0], 1), 1
            for each in parts[1:]:
                positive = each[2] if isinstance(each, list) and each[:2] == ["*", "-1"] else None
                text += f" [+] {self.vector(each, 2)}" if positive is None else f" [-] {self.vector(positive, 2)}"
        return f"({text})" if own < outer else text


def _told_apart(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """A claim in which what is one number for the checker, such as sqrt(1 + (x + y)), is written in one way."""
    first: dict[str, Any] = {}

    def one_way(node: Any) -> Any:
        if isinstance(node, str):
            return node
        operation, *parts = node
        if operation == "^":
            base, order = one_way(parts[0]), Fraction(parts[1]).denominator
            if order > 1:
                (base,) = first.setdefault(recheck.shown(["^", base, f"1/{order}"]), [base])
            return ["^", base, parts[1]]
        found = [operation, *map(one_way, parts)]
        return found if operation in ("+", "*", "/", "dot") else first.setdefault(recheck.shown(found), found)

    def comparison(each: Mapping[str, Any]) -> dict[str, Any]:
        return {**each, "left": one_way(each["left"]), "right": one_way(each["right"])}

    return {**comparison(data), "hypotheses": [comparison(each) for each in data["hypotheses"]]}


def _opposite(node: Any) -> Any:
    """The expression after its minus sign; None for one without."""
    if isinstance(node, str):
        return node[1:] if re.fullmatch(r"-[0-9/]+", node) else None
    first = node[1] if node[0] == "*" and len(node) > 2 else ""
    if isinstance(first, str) and re.fullmatch(r"-[0-9/]+", first):
        return multiplied(node[2:] if first == "-1" else [first[1:], *node[2:]])
    if node[0] == "/" and (above := _opposite(node[1])) is not None:
        return ["/", above, node[2]]
    return None
