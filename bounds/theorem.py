"""The short ways to write a statement: in one sentence, or field by field with formulas as text.

`theorem` returns a `bounds.statement.Statement`, the same as when every field is written out.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar, overload

import sympy as sp

from bounds.analysis import ANALYSIS, CLASSICS
from bounds.consistency import faults
from bounds.errors import InputError, brief, did_you_mean
from bounds.formula import complaint
from bounds.numbers import as_float, assumed_beyond, exact
from bounds.parsing import UnknownSymbolError, expression, sides
from bounds.sentences import latex, sentence
from bounds.statement import (
    OPERATORS,
    Assumption,
    Claim,
    Condition,
    Metric,
    Over,
    Relation,
    Source,
    Statement,
    StepProduct,
    StepRule,
)
from bounds.symbols import COMMON, ROUND, Domain, Quantity, Role, Vocabulary

# What stands before a key that nobody chose; a file's name takes its place where the statement stands in a file.
UNNAMED = "own/"

Formula: TypeAlias = str | float | Fraction | sp.Expr
ConditionLike: TypeAlias = str | Condition | sp.core.relational.Relational
Kind = TypeVar("Kind", bound=Enum)


class FieldError(InputError):
    """One ``field`` of a statement cannot be used; ``unknown`` is the name in it that is no symbol, if that is why."""

    def __init__(self, field: str, place: str, reason: object) -> None:
        super().__init__(f"{place}: {reason}")
        self.field, self.place, self.reason = field, place, reason
        self.unknown = reason.name if isinstance(reason, UnknownSymbolError) else None

    def __reduce__(self) -> tuple[type[InputError], tuple[str]]:
        """In another process the message is enough."""
        return InputError, (str(self),)


# What ``over`` says of a claim about the mean of the iterates. It becomes one about the last round of a method that
# records there (``averaged-NAME``), whose weight of an iterate is the symbol ``iterate_share``.
AVERAGED_ITERATE = "averaged_iterate"
# Powers of the units, at most.
_HIGHEST = 100
_AT_POINT = ("gap", "distance2", "G_u", "B")
_AT_MEAN = "The quantities are those at the mean of the iterates of rounds 0 ... T-1, x^t standing for it."


@dataclass(frozen=True, kw_only=True)
class OwnSymbol:
    """A symbol of one's own: what it is, the fact of a problem or run that it stands for, or the formula it equals."""

    quantity: Quantity
    fact: str | None
    equals: Formula | None


def symbol(
    name: str,
    meaning: str,
    *,
    domain: str | Domain | None = None,
    role: str | Role = Role.CONSTANT,
    degrees: tuple[int, int] = (0, 0),
    fact: str | None = None,
    equals: Formula | None = None,
    default: float | None = None,
    latex: str | None = None,
) -> OwnSymbol:
    """A symbol that `theorem` takes in ``symbols``.

    ``fact`` names what certifies or records it, such as "L" for a constant and "distance2" for a measured quantity;
    ``equals`` is a formula in other symbols instead. Without either a constant is taken as given by ``bound`` and
    ``stepsize``, and `verify` has no certificate for it. ``role`` "free" is a parameter of the analysis, which needs
    none. ``degrees`` are those of `bounds.symbols` in f and x, (0, 0) for a plain number. ``domain`` is positive where
    it is not given; of what a method of one's own measures, any real number.

    Raises `InputError` for a name that is no Python name, and for an unknown domain or role.

    >>> symbol("theta", "any share", role="free", default=0.5).quantity.role.value
    'free parameter of the analysis'
    """
    if not (isinstance(name, str) and name.isidentifier()):
        raise FieldError("name", "name", f"{name!r} is not a name of letters, digits and underscores")
    if not isinstance(meaning, str):
        raise FieldError("meaning", "meaning", f"{brief(meaning)} is not text")
    if not (
        isinstance(degrees, Sequence)
        and len(degrees) == 2
        and all(isinstance(each, int) and abs(each) <= _HIGHEST for each in degrees)
    ):
        raise FieldError("degrees", "degrees", f"{brief(degrees)} is not a pair of small whole numbers such as (1, -2)")
    if not (fact is None or isinstance(fact, str)):
        raise FieldError("fact", "fact", f"{brief(fact)} is not the name of a fact, such as 'L'")
    constant = _member(Role, role, "role") is not Role.MEASURED
    # What is measured may be recorded by a method of one's own.
    if constant and fact is not None and fact not in COMMON.facts.values() and fact not in constant_facts():
        raise FieldError("fact", "fact", f"no fact {fact!r}; known: {', '.join(constant_facts())}")
    number = None
    if default is not None:
        try:
            number = as_float(name, default)
        except InputError as error:
            raise FieldError("default", "default", error) from None
    quantity = Quantity(
        name=name,
        latex=rf"\mathrm{{{name}}}".replace("_", r"\_") if latex is None else latex,
        meaning=meaning,
        domain=_unsaid(role, fact) if domain is None else _member(Domain, domain, "domain"),
        role=_member(Role, role, "role"),
        f_degree=degrees[0],
        x_degree=degrees[1],
        default=number,
    )
    if number is not None:
        try:
            quantity.check(number)
        except InputError as error:
            raise FieldError("default", "default", error) from None
    return OwnSymbol(quantity=quantity, fact=fact, equals=equals)


def _unsaid(role: str | Role, fact: str | None) -> Domain:
    """The domain of a symbol that says none: of what is measured it has to be true, since verdicts rest on it."""
    if _member(Role, role, "role") is not Role.MEASURED:
        return Domain.POSITIVE
    known = {recorded: ANALYSIS[name].domain for name, recorded in ANALYSIS.facts.items() if name in ANALYSIS}
    return known.get(fact or "", Domain.REAL)


@overload
def theorem(
    sentence: str,
    *,
    method: str,
    given: str | Iterable[str] = ...,
    when: str | Iterable[str] = ...,
    title: str | None = ...,
    settings: Mapping[str, Formula] | None = ...,
    trivial: Formula | None = ...,
    with_probability: Formula | None = ...,
    symbols: OwnSymbol | Iterable[OwnSymbol] = ...,
    vocabulary: str | Vocabulary | None = ...,
    key: str | None = ...,
    source: str | Source = ...,
    follows_from: Iterable[str] = ...,
    remark: str = ...,
    repairs: str = ...,
    instance: str = ...,
) -> Statement: ...


@overload
def theorem(
    title: str,
    *,
    algorithm: str | None,
    assumptions: str | Iterable[str | Assumption],
    left: Formula,
    over: str | Over,
    right: Formula | Mapping[str, Formula],
    relation: str | Relation = ...,
    conditions: ConditionLike | Iterable[ConditionLike] | Mapping[str, ConditionLike] = ...,
    settings: Mapping[str, Formula] | None = ...,
    trivial: Formula | None = ...,
    step_rules: Mapping[str, Formula] | Iterable[StepRule] = ...,
    step_products: str | StepProduct | Iterable[str | StepProduct] = ...,
    symbols: OwnSymbol | Iterable[OwnSymbol] = ...,
    vocabulary: str | Vocabulary = ...,
    key: str | None = ...,
    source: str | Source = ...,
    follows_from: Iterable[str] = ...,
    remark: str = ...,
    repairs: str = ...,
    with_probability: Formula | None = ...,
) -> Statement: ...


def theorem(*args: Any, **fields: Any) -> Statement:
    """The statement that a theorem in one sentence says, or one that is written field by field (`in_fields`).

    In one sentence the text has the rounds, the left side and the right side, in the plain vocabulary of
    `bounds.sentences.words`; ``method`` is the method's usual name, ``given`` what is assumed, and ``when`` are the
    conditions:

    >>> descent = theorem("mean grad2 <= 2*F_0/(gamma*T)", method="gd", given="smooth", when="gamma <= 1/L")
    >>> descent.evaluate(F_0=3, gamma=0.5, T=100).value
    0.12

    What the name of a method implies need not be said, such as one client and one step a round. Formulas may be LaTeX.

    Raises `InputError` that names the field and what is admissible there, or why nothing meets the statement.
    """
    return in_sentence(*args, **fields) if {"method", "given", "when"} & {*fields} else in_fields(*args, **fields)


def in_sentence(
    text: str,
    *,
    method: str,
    given: str | Iterable[str] = (),
    when: str | Iterable[str] = (),
    title: str | None = None,
    settings: Mapping[str, Formula] | None = None,
    trivial: Formula | None = None,
    with_probability: Formula | None = None,
    symbols: OwnSymbol | Iterable[OwnSymbol] = (),
    vocabulary: str | Vocabulary | None = None,
    key: str | None = None,
    source: str | Source = "own",
    follows_from: Iterable[str] = (),
    remark: str = "",
    repairs: str = "",
    instance: str = "",
) -> Statement:
    """The statement that a sentence says; see `theorem`. ``instance`` names the problem of a lower bound."""
    if not isinstance(instance, str):
        raise FieldError("instance", "instance", f"{brief(instance)} is not the name of a problem in the file")
    own = tuple(_several(symbols, "symbols"))
    named = None if vocabulary is None else _vocabulary(vocabulary, ())
    if settings is not None and not isinstance(settings, Mapping):
        raise FieldError("settings", "settings", f"{brief(settings)} is no mapping such as {{'K': 1}}")
    said = sentence.fields(
        text, method=method, given=given, when=when, title=title, settings=settings, trivial=trivial, vocabulary=named,
        own=[each for each in own if isinstance(each, OwnSymbol)], instance=instance,
    )  # fmt: skip
    formulas, by_round = said.pop("by_round")
    own += tuple(OwnSymbol(quantity=each, fact=None, equals=None) for each in by_round.values())
    said["step_rules"] |= {each.name: of for of, each in by_round.items()}
    read = Fields(_vocabulary(said["vocabulary"], own))
    for name, each in formulas.items():
        if sentence.valueless(read.formula(each, "when", "when"), read.vocabulary):
            raise FieldError("when", "when", f"{name}_t == {each} has no value in round t = 0; t + 1 counts from 1")
    counted = [read.formula(said["left"], "left", "left"), *read.terms(said["right"]).values()]
    said["over"] = sentence.later(said["over"], counted, read.vocabulary)
    try:
        made = in_fields(
            **said, symbols=own, key=key, source=source, follows_from=follows_from, remark=remark, repairs=repairs,
            with_probability=with_probability,
        )  # fmt: skip
    except FieldError as error:
        called = _IN_SENTENCE.get(error.field, error.field)
        raise FieldError(called, error.place.replace(error.field, called, 1), error.reason) from None
    return replace(made, instance=instance)


def in_fields(
    title: str,
    *,
    algorithm: str | None,
    assumptions: str | Iterable[str | Assumption],
    left: Formula,
    over: str | Over,
    right: Formula | Mapping[str, Formula],
    relation: str | Relation = Relation.AT_MOST,
    with_probability: Formula | None = None,
    conditions: ConditionLike | Iterable[ConditionLike] | Mapping[str, ConditionLike] = (),
    settings: Mapping[str, Formula] | None = None,
    trivial: Formula | None = None,
    step_rules: Mapping[str, Formula] | Iterable[StepRule] = (),
    step_products: str | StepProduct | Iterable[str | StepProduct] = (),
    symbols: OwnSymbol | Iterable[OwnSymbol] = (),
    vocabulary: str | Vocabulary = COMMON,
    key: str | None = None,
    source: str | Source = "own",
    follows_from: Iterable[str] = (),
    remark: str = "",
    repairs: str = "",
) -> Statement:
    """The statement ``left <relation> right`` about a method, under assumptions and conditions, field by field.

    A formula is a number, a SymPy expression, or text in Python's notation (`bounds.parsing.expression`).

    - ``left`` is linear in the quantities that a run records: ``"G_u + m/n*G_v"``. The weights and the printed form
      follow from it. ``over`` says which rounds it is about: "mean_of_rounds", "every_round",
      "every_round_but_first", "last_round", "best_round", "whole_run" or "no_run". With "averaged_iterate" the
      quantities are those at the mean of the T iterates of the server.
    - ``right`` is a formula, or several by name, whose sum it is: answers name them.
    - ``with_probability`` is that with which a run meets the bound, at least, such as ``"1 - delta"``; without it both
      sides are expectations.
    - ``conditions`` are comparisons such as ``"gamma_u <= 1/L"``; in a mapping, by name.
    - ``settings`` are parameters that the theorem fixes: ``{"K": 1, "m": "n"}``.
    - ``trivial`` is what smoothness alone gives for the left side. Without it no answer says whether the bound is
      vacuous.
    - ``step_rules`` prescribe step sizes, ``{"gamma_u": "1/L"}``, or bound them from below, ``{"eta_u": ">= 1"}``;
      ``step_products`` are conventions such as ``"gamma == gamma_u*eta_u"``.
    - ``symbols`` are one's own (`symbol`); ``vocabulary`` is that of a paper by its short name, "textbook" included.
    - ``source`` is text such as "My paper, Theorem 1". A file's name and the statement's name in it are its ``key``.

    Raises `InputError` that names the field and what is admissible there, or why nothing meets the statement
    (`bounds.consistency`).

    >>> descent = in_fields(
    ...     "Gradient descent", algorithm="fedavg", assumptions=["smoothness", "full_participation", "no_personal"],
    ...     left="G_u", over="mean_of_rounds", right={"gap": "2*F_0/(gamma_u*T)"}, conditions=["gamma_u <= 1/L"],
    ...     settings={"K": 1, "m": "n", "sigma_u": 0, "eta_u": 1},
    ... )
    >>> descent.evaluate(F_0=3, gamma_u=0.5, T=100).value
    0.12
    """
    if not isinstance(title, str):
        raise FieldError("title", "title", f"{brief(title)} is not text")
    if not (algorithm is None or isinstance(algorithm, str)):
        raise FieldError("algorithm", "algorithm", f"{brief(algorithm)} is not the name of a method, and not None")
    for field, text in (("remark", remark), ("repairs", repairs), ("key", "" if key is None else key)):
        if not isinstance(text, str):
            raise FieldError(field, field, f"{brief(text)} is not text")
    mean = isinstance(over, str) and re.sub(r"[\s-]+", "_", over.strip()).lower() == AVERAGED_ITERATE
    if mean:
        if not algorithm:
            raise FieldError("over", "over", f"{AVERAGED_ITERATE} is the mean of the iterates of a method: name it")
        algorithm, over = f"averaged-{algorithm}", Over.LAST_ROUND
        symbols = (*_several(symbols, "symbols"), _SHARE)
        remark = f"{remark} {_AT_MEAN}".strip()
    assumed = tuple(_member(Assumption, each, "assumptions") for each in _several(assumptions, "assumptions"))
    read = Fields(_vocabulary(vocabulary, symbols, unequal=Assumption.UNEQUAL_STEPS in assumed))
    rules = read.step_rules(step_rules)
    if mean:
        rounds = read.vocabulary[read.vocabulary.run.get("rounds", "T")].symbol
        share = read.vocabulary[_SHARE.quantity.name].symbol
        rules = (*rules, StepRule(symbol=share, value=1 / rounds, at_least=False))
        # Nobody wrote it.
        read.vocabulary.implied.add(share.name)
    fixed = read.settings({} if settings is None else settings)
    # The default of a step size is what is taken where the caller names none, whatever else would be chosen.
    ruled = {rule.symbol.name for rule in rules} | fixed.keys()
    rules += tuple(
        StepRule(symbol=each.quantity.symbol, value=exact(each.quantity.default), at_least=False, free=True)
        for each in _several(symbols, "symbols")
        if each.quantity.role is Role.STEP_SIZE and each.quantity.default is not None
        and each.quantity.name not in ruled
    )  # fmt: skip
    claim = Claim(
        name="main",
        metric=read.metric(left, _member(Over, over, "over"), trivial),
        relation=_relation(relation),
        terms=read.terms(right),
    )
    claim = read.with_probability(claim, with_probability)
    made = Statement(
        key=key or UNNAMED + (re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "theorem"),
        title=title,
        source=_source(source),
        vocabulary=read.vocabulary,
        algorithm=algorithm,
        assumptions=assumed,
        claims=(claim,),
        conditions=read.conditions(conditions),
        step_rules=rules,
        step_products=tuple(map(read.step_product, _several(step_products, "step_products"))),
        settings=fixed,
        follows_from=tuple(_several(follows_from, "follows_from")),
        remark=remark,
        repairs=repairs,
    )
    for fault in faults(made):
        raise FieldError(fault.field, fault.place, fault.reason)
    if mean:
        _check_at_mean(made)
    return made


def _check_at_mean(statement: Statement) -> None:
    """Raise `FieldError` for a quantity that is not one of a single point."""
    vocabulary, (claim,) = statement.vocabulary, statement.claims
    sides = {"left": claim.metric.expr, "right": claim.bound}
    for field, side in sides.items():
        for name in sorted(each.name for each in side.free_symbols):
            fact = vocabulary.facts.get(name, "")
            if vocabulary[name].role is Role.MEASURED and (name.endswith("_prev") or fact not in _AT_POINT):
                reason = f"{name} is no quantity of one point: with {AVERAGED_ITERATE} gap, dist2, G_u and B are"
                raise FieldError(field, field, reason)


# What fields of the long form are called in a sentence.
_IN_SENTENCE = {"conditions": "when", "step_rules": "when", "assumptions": "given", "algorithm": "method"}
# Python's messages on a wrong call are about the function that is called by its user.
in_sentence.__qualname__ = in_fields.__qualname__ = theorem.__name__


class Fields:
    """Turns what stands in the fields into parts of a statement, in the symbols of one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    def metric(self, left: Formula, over: Over, trivial: Formula | None) -> Metric:
        """The left side with its weights."""
        weights = self._weights(self.formula(left, "left", "left"))
        return Metric(
            latex=self._latex(weights, over),
            weights=weights,
            over=over,
            trivial=None if trivial is None else self.formula(trivial, "trivial", "trivial"),
        )

    def with_probability(self, claim: Claim, given: Formula | None) -> Claim:
        """The claim with the probability with which a run meets it at least, where one is given."""
        if given is None:
            return claim
        field = "with_probability"
        found = self.formula(given, field, field)
        if found.is_number and not 0 < found <= 1:
            raise FieldError(field, field, f"{found} is no probability above 0")
        if claim.relation is not Relation.AT_MOST or claim.metric.over is Over.NO_RUN:
            raise FieldError(field, field, "it is that of runs that meet an upper bound: the relation is <=")
        return replace(claim, probability=found)

    def _weights(self, left: sp.Expr) -> dict[sp.Symbol, sp.Expr]:
        facts = self.vocabulary.facts
        recorded = (each for each in self.vocabulary if each.role is Role.MEASURED and facts.get(each.name) != ROUND)
        measured = {each.name: each.symbol for each in recorded}
        if rounds := sorted(one.name for one in left.free_symbols if facts.get(one.name) == ROUND):
            raise FieldError("left", "left", f"{rounds[0]}, the number of the round, may stand on the right side only")
        found = [symbol for symbol in measured.values() if symbol in left.free_symbols]
        if not found:
            # Those of the vocabulary that come first are those of the theorems.
            listed = ", ".join([*measured][:_SHOWN]) + (", ..." if len(measured) > _SHOWN else "")
            raise FieldError("left", "left", f"{left} has no quantity that a run records; known: {listed}")
        weights = {symbol: sp.diff(left, symbol) for symbol in found}
        rest = sp.expand(left - sp.Add(*(weight * symbol for symbol, weight in weights.items())))
        if any(weight.has(*found) for weight in weights.values()) or (rest != 0 and rest.has(*found)):
            names = ", ".join(symbol.name for symbol in found)
            raise FieldError("left", "left", f"{left} is not linear in {names}: a weighted sum of quantities is wanted")
        if rest != 0:
            raise FieldError("left", "left", f"{rest} multiplies no quantity of a run: move it to the right side")
        return weights

    def _latex(self, weights: Mapping[sp.Symbol, sp.Expr], over: Over) -> str:
        """The left side as a paper prints it."""
        names = {one: self._printed(one.name) for weight in weights.values() for one in weight.free_symbols}
        body = ""
        for one, weight in weights.items():
            negative = not weight.is_Add and weight.could_extract_minus_sign()
            factor = -weight if negative else weight
            printed = "" if factor == 1 else sp.latex(factor, symbol_names=names) + " "
            printed = f"({printed.strip()}) " if factor.is_Add else printed
            sign = (" - " if negative else " + ") if body else "-" if negative else ""
            body += (
                sign + printed + (self.vocabulary[one.name].latex if weights == {one: 1} else self._printed(one.name))
            )
        if over not in (Over.MEAN_OF_ROUNDS, Over.BEST_ROUND):
            return body
        rounds = self.vocabulary[self.vocabulary.run.get("rounds", "T")].latex
        if over is Over.BEST_ROUND:
            return rf"\min_{{t<{rounds}}} {f'({body})' if len(weights) > 1 else body}"
        return rf"\frac1{rounds}\sum_{{t=0}}^{{{rounds}-1}}{f'({body})' if len(weights) > 1 else body}"

    def _printed(self, name: str) -> str:
        latex = self.vocabulary[name].latex
        # A difference is one quantity.
        return f"({latex})" if re.search(r"[+-]", re.sub(r"[_^]\{[^{}]*\}", "", latex)) else latex

    def terms(self, right: Formula | Mapping[str, Formula]) -> dict[str, sp.Expr]:
        """The right side by its parts."""
        parts = right if isinstance(right, Mapping) else {"bound": right}
        if not parts:
            raise FieldError("right", "right", "it is empty: give a formula, or several by name")
        single = not isinstance(right, Mapping)
        return {
            str(label): self.formula(part, "right", "right" if single else f"right[{label!r}]")
            for label, part in parts.items()
        }

    def conditions(self, given: Any) -> tuple[Condition, ...]:
        """The conditions, by the names that are given, else by what they say."""
        if isinstance(given, Mapping):
            return tuple(self._condition(each, f"conditions[{name!r}]", str(name)) for name, each in given.items())
        several = _several(given, "conditions")
        return tuple(self._condition(each, f"conditions[{k}]", None) for k, each in enumerate(several))

    def _condition(self, given: ConditionLike, place: str, name: str | None) -> Condition:
        if isinstance(given, Condition):
            return given
        left, operator, right = self._comparison(given, "conditions", place)
        found = Condition(name=name or "condition", left=left, operator=operator, right=right)
        return Condition(name=name or found.text, left=left, operator=operator, right=right)

    def _comparison(self, given: Any, field: str, place: str) -> tuple[sp.Expr, str, sp.Expr]:
        if isinstance(given, str):
            try:
                texts = sides(latex.formula(given) if latex.is_latex(given) else given)
            except InputError as error:
                raise FieldError(field, place, error) from None
            return self.formula(texts[0], field, place), texts[1], self.formula(texts[2], field, place)
        if isinstance(given, sp.logic.boolalg.BooleanAtom):
            raise FieldError(
                field, place, f"it is {given} whatever the numbers are, so far as SymPy knows: give it as text"
            )
        operator = getattr(given, "rel_op", None)
        if operator not in OPERATORS:
            raise FieldError(field, place, f"{brief(given)} is no comparison such as 'gamma_u <= 1/L'")
        left, right = (self.formula(side, field, place) for side in given.args)
        return left, operator, right

    def settings(self, given: Mapping[str, Formula]) -> dict[str, sp.Expr]:
        """Parameters that the statement fixes, with their values."""
        if not isinstance(given, Mapping):
            raise FieldError("settings", "settings", f"{brief(given)} is no mapping such as {{'K': 1}}")
        for name in given:
            self._known(name, "settings", "settings")
        return {name: self.formula(value, "settings", f"settings[{name!r}]") for name, value in given.items()}

    def step_rules(self, given: Mapping[str, Formula] | Iterable[StepRule]) -> tuple[StepRule, ...]:
        """Step rules of the statement."""
        if not isinstance(given, Mapping):
            rules = tuple(_several(given, "step_rules"))
            if wrong := [each for each in rules if not isinstance(each, StepRule)]:
                reason = f"{brief(wrong[0])} is no step rule; it is a mapping such as {{'gamma_u': '1/L'}}"
                raise FieldError("step_rules", "step_rules", reason)
            return rules
        return tuple(self._step_rule(name, value) for name, value in given.items())

    def _step_rule(self, name: str, value: Formula) -> StepRule:
        place = f"step_rules[{name!r}]"
        self._known(name, "step_rules", "step_rules")
        at_least = isinstance(value, str) and value.lstrip().startswith(">=")
        formula = value.lstrip()[2:] if at_least and isinstance(value, str) else value
        return StepRule(
            symbol=self.vocabulary[name].symbol, value=self.formula(formula, "step_rules", place), at_least=at_least
        )

    def step_product(self, given: str | StepProduct) -> StepProduct:
        """A convention ``product == local*outer``."""
        if isinstance(given, StepProduct):
            return given
        found = re.fullmatch(r"\s*(\w+)\s*==\s*(\w+)\s*\*\s*(\w+)\s*", given) if isinstance(given, str) else None
        if found is None:
            form = "'gamma == gamma_u*eta_u'"
            reason = f"{brief(given)} is not of the form {form}; for another factor write K*gamma in the bound"
            raise FieldError("step_products", "step_products", reason)
        for name in found.groups():
            self._known(name, "step_products", "step_products")
        product, local, outer = (self.vocabulary[name].symbol for name in found.groups())
        return StepProduct(product=product, local=local, outer=outer)

    def _known(self, name: object, field: str, place: str) -> None:
        if not isinstance(name, str):
            raise FieldError(field, place, f"{brief(name)} is not the name of a symbol")
        if name not in self.vocabulary.order:
            raise FieldError(field, place, UnknownSymbolError(name, self.vocabulary))

    def _or_elsewhere(self, error: InputError) -> InputError:
        """The error; for a symbol that another vocabulary has it names that one."""
        if not isinstance(error, UnknownSymbolError):
            return error
        catalogue = sys.modules[__package__]
        known = [name for name in (catalogue.TEXTBOOK, *catalogue.PAPERS) if error.name in catalogue.vocabulary(name)]
        return UnknownSymbolError(error.name, self.vocabulary, known[0]) if known else error

    def _same(self, symbol: sp.Basic, field: str, place: str) -> sp.Symbol:
        """The vocabulary's symbol of that name, which one of another kind is to whoever reads it."""
        quantity = self.vocabulary[symbol.name]
        own = quantity.symbol
        # What holds for positive numbers holds at 0, their limit.
        told = assumed_beyond(symbol, _POSITIVE if quantity.domain is Domain.NONNEGATIVE else own)
        if told:
            reason = (
                f"{own} is {quantity.domain.value}, but is assumed to be {told}, by which SymPy may have simplified"
            )
            raise FieldError(field, place, f"{reason}: take a symbol without that, or write the formula as text")
        return own

    def formula(self, given: object, field: str, place: str) -> sp.Expr:
        """A formula in the symbols of the vocabulary, which has values in floats."""
        found = self._formula(given, field, place)
        if reason := complaint(found):
            raise FieldError(field, place, reason)
        return found

    def _formula(self, given: object, field: str, place: str) -> sp.Expr:
        if isinstance(given, str):
            try:
                return expression(latex.formula(given) if latex.is_latex(given) else given, self.vocabulary)
            except InputError as error:
                raise FieldError(field, place, self._or_elsewhere(error)) from None
        if isinstance(given, sp.Expr):
            for name in sorted(symbol.name for symbol in given.free_symbols):
                self._known(name, field, place)
            put: dict[sp.Expr, sp.Expr] = {each: self._same(each, field, place) for each in given.free_symbols}
            return given.xreplace(put | {each: exact(each) for each in given.atoms(sp.Float)})
        if isinstance(given, (int, Fraction, float)) and not isinstance(given, bool):
            try:
                return exact(given) if isinstance(given, float) else sp.Rational(given)
            except (TypeError, ValueError):
                raise FieldError(field, place, f"{given!r} is no finite number") from None
        raise FieldError(field, place, f"{brief(given)} is no formula: give a number, or text such as '1/L'")


_SHOWN = 20
_POSITIVE = sp.Symbol("x", positive=True)
# Certified, though no theorem of the catalogue has a symbol for it.
_WITHOUT_SYMBOL = ("convexity", "interpolation", "L_u", "L_uv", "L_v", "L_vu", "least_steps", "most_steps")


def _vocabulary(
    given: str | Vocabulary, symbols: OwnSymbol | Iterable[OwnSymbol], *, unequal: bool = False
) -> Vocabulary:
    """The symbols that formulas may have: those of a paper, and one's own; ``unequal`` is about local steps."""
    if not isinstance(given, (str, Vocabulary)):
        raise FieldError("vocabulary", "vocabulary", f"{brief(given)} is not the short name of a paper")
    base = _of_paper(given) if isinstance(given, str) else given
    if unequal:
        try:
            base = base.unequal_steps()
        except InputError as error:
            raise FieldError("assumptions", "assumptions", error) from None
    own = tuple(_several(symbols, "symbols"))
    if not own:
        return base
    found = Vocabulary(base)
    for each in own:
        if not isinstance(each, OwnSymbol):
            reason = f"{brief(each)} is no symbol of one's own: write symbol('name', 'what it means')"
            raise FieldError("symbols", "symbols", reason)
        # What is free stands for nothing that a run or a problem has: a theorem may give it another meaning.
        if each.quantity.name in found and found[each.quantity.name].role is not Role.FREE:
            reason = f"{each.quantity.name!r} is taken: {found[each.quantity.name].meaning}; take another name"
            raise FieldError("symbols", "symbols", reason)
        _define(found, each)
        if found.words and each.quantity.name in CLASSICS.order and each.quantity.role is not Role.STEP_SIZE:
            # There the name is that of something else.
            found.words[f"own_{each.quantity.name}"] = each.quantity.name
    return found


def _define(vocabulary: Vocabulary, own: OwnSymbol) -> None:
    quantity = own.quantity
    vocabulary.define(
        quantity.name,
        quantity.latex,
        quantity.meaning,
        quantity.domain,
        quantity.role,
        quantity.f_degree,
        quantity.x_degree,
        quantity.default,
    )
    if own.fact is not None:
        vocabulary.facts[quantity.name] = own.fact
    if own.equals is not None:
        place = f"symbols[{quantity.name!r}]"
        formula = Fields(vocabulary).formula(own.equals, "symbols", place)
        vocabulary.derived[quantity.name] = formula
        # What a run measures is put together from the run instead.
        if quantity.role is not Role.MEASURED:
            names = sorted(each.name for each in formula.free_symbols)
            if measured := [name for name in names if vocabulary[name].role is Role.MEASURED]:
                reason = f"it equals {formula}, and {measured[0]} is no constant: a run records it round by round"
                raise FieldError("symbols", place, f"{reason}; with role='measured' the symbol is recorded too")
            vocabulary.equal.add(quantity.name)


def constant_facts() -> tuple[str, ...]:
    """Names of the constants that problems, participation and runs certify: those of all vocabularies."""
    catalogue = sys.modules[__package__]
    vocabularies = [COMMON, *(catalogue.vocabulary(name) for name in (*catalogue.PAPERS, catalogue.TEXTBOOK))]
    found = {
        fact
        for vocabulary in vocabularies
        for name, fact in vocabulary.facts.items()
        if name in vocabulary.order and vocabulary[name].role is not Role.MEASURED
    }
    return tuple(sorted({*found, *_WITHOUT_SYMBOL}))


def _of_paper(name: str) -> Vocabulary:
    # The package is there whenever this module is, and imports it.
    catalogue = sys.modules[__package__]
    known = (*catalogue.PAPERS, *catalogue.BESIDE)
    if name not in known:
        raise FieldError("vocabulary", "vocabulary", f"no paper {name!r}; {did_you_mean(name, known)}")
    found: Vocabulary = catalogue.vocabulary(name)
    return found


def _source(given: str | Source) -> Source:
    """Where it is printed: text such as "My paper, Theorem 1"."""
    if isinstance(given, Source):
        return given
    if not isinstance(given, str):
        raise FieldError("source", "source", f"{brief(given)} is not text such as 'My paper, Theorem 1'")
    paper, _, number = (part.strip() for part in given.rpartition(","))
    # Names of authors and titles have commas, too.
    if not (paper and _NUMBER.match(number)):
        paper, number = given.strip(), "Theorem"
    return Source(paper=paper, number=number, location="")


_NUMBER = re.compile(
    r"(?:theorems?|thm|lemma|corollary|cor|propositions?|prop|claim|fact|remark|result|statement|equation|eq|"
    r"inequality|sections?|sec|chapter|appendix|page|p|table|algorithm|assumption|definition|example|exercise)\b"
    r"|[§(]|\d+(?:\.\d+)+",
    re.IGNORECASE,
)


def _relation(given: str | Relation) -> Relation:
    known = {each.value: each for each in Relation}
    if isinstance(given, Relation):
        return given
    if not isinstance(given, str) or given not in known:
        raise FieldError("relation", "relation", f"{brief(given)} is none; known: {', '.join(map(repr, known))}")
    return known[given]


def _member(kind: type[Kind], given: object, field: str) -> Kind:
    """One of an enumeration, itself or by its name in either case."""
    if isinstance(given, kind):
        return given
    if not isinstance(given, str):
        raise FieldError(
            field,
            field,
            f"{brief(given)} is not the name of one of {kind.__name__}; known: {', '.join(kind.__members__).lower()}",
        )
    name = re.sub(r"[\s-]+", "_", given.strip()).upper()
    if name not in kind.__members__:
        known = [each.lower() for each in kind.__members__] + ([AVERAGED_ITERATE] if kind is Over else [])
        raise FieldError(field, field, f"no {kind.__name__} {given!r}; {did_you_mean(name.lower(), known)}")
    return kind[name]


def _several(given: Any, field: str) -> Sequence[Any]:
    """One or many; a single text, and whatever else is no list, counts as a list of one."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        return (given,)
    if isinstance(given, Mapping):
        raise FieldError(field, field, f"{brief(given)} is a mapping, not a list")
    return tuple(given)


# What ``averaged_iterate`` adds to the symbols.
_SHARE = symbol("iterate_share", "weight of an iterate in the mean of the iterates, 1/T", role="step size", latex="w")
