"""The statement object that everything else reads: evaluation, step sizes, verdicts, plots, documentation.

A `Statement` cannot be built incomplete: each of its parts is a required field. It knows nothing about engines or
problems; `Metric` names the per-round quantities of `bounds.symbols` whose combination stands on its left side.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, SupportsIndex

import sympy as sp

from bounds import formula
from bounds.assumption import Assumption as Assumption  # noqa: PLC0414  # statements are written with it
from bounds.errors import InputError, NoValueError, did_you_mean
from bounds.hooks import represented
from bounds.numbers import EQUAL, apart, as_float, farther, given_numbers, holds, inwards
from bounds.roots import shown
from bounds.symbols import Role, Vocabulary, is_round, measured_in

# What stands before the name of a method whose step sizes have plain names (`bounds.sentences.words`).
PLAIN_METHOD = "plain-"
Values = Mapping[str, float]
# What a caller may say: a list of numbers where an alias takes many.
Given = Mapping[str, float | Sequence[float]]
# Bounds that differ by this part of them are equal.
_ROUNDED = 1e-12


class Relation(Enum):
    """How the left side of a claim relates to its right side."""

    AT_MOST = "<="
    EQUAL = "=="
    ORDER = "= O"


class Over(Enum):
    """Which rounds a claim speaks about.

    The last of T rounds is round T-1, which T-1 rounds came before; after the rounds there is x^T, to which T of them
    lead. Of the best round the claim says that there is one: in at least one of the rounds the left side is at most the
    right side, in expectation where the run is random.
    """

    MEAN_OF_ROUNDS = "mean over rounds 0 ... T-1"
    EVERY_ROUND = "every round"
    EVERY_ROUND_BUT_FIRST = "every round from the second on"
    LAST_ROUND = "the last round, T-1"
    AFTER_ROUNDS = "at x^T, after T rounds"
    BEST_ROUND = "the best of rounds 0 ... T-1"
    WHOLE_RUN = "the run as a whole"
    NO_RUN = "no run: a claim about numbers or vectors as such"

    def first(self, rounds: int) -> int:
        """The first of the rounds 0 ... T-1 that the claim is about: all from there on count.

        ``rounds`` are those at whose start a run is recorded.
        """
        last = rounds - 1
        return {Over.EVERY_ROUND_BUT_FIRST: 1, Over.LAST_ROUND: last, Over.AFTER_ROUNDS: last}.get(self, 0)

    @property
    def further(self) -> int:
        """Rounds beside the T that have to be recorded: x^T is what a round after them starts from."""
        return int(self is Over.AFTER_ROUNDS)


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where the statement is printed."""

    paper: str
    number: str
    location: str


@dataclass(frozen=True, kw_only=True)
class Metric:
    """Left side of a claim: ``sum_q weights[q] * q`` over per-round quantities ``q``, aggregated ``over`` rounds.

    ``latex`` is how the paper prints it. ``trivial`` is the value that smoothness alone guarantees for the combination
    at the start, in closed form; None where no such value exists.
    """

    latex: str
    weights: Mapping[sp.Symbol, sp.Expr]
    over: Over
    trivial: sp.Expr | None

    @property
    def expr(self) -> sp.Expr:
        """The combination as one expression in the per-round quantities."""
        return sp.Add(*(weight * symbol for symbol, weight in self.weights.items()))


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One inequality ``metric <relation> sum of terms``; ``terms`` names the parts of the right side, such as noise.

    With ``probability`` it is one about a run, which meets it with that probability at least, and not about
    expectations: for a claim about every round the run does in all of them.
    """

    name: str
    metric: Metric
    relation: Relation
    terms: Mapping[str, sp.Expr]
    probability: sp.Expr | None = None

    @cached_property
    def bound(self) -> sp.Expr:
        """The right side."""
        return sp.Add(*self.terms.values())


OPERATORS = ("<=", ">=", "==", "<", ">")


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A hypothesis about the parameters: ``left <operator> right``; operator one of `OPERATORS`."""

    name: str
    left: sp.Expr
    operator: str
    right: sp.Expr

    @cached_property
    def text(self) -> str:
        """The condition as printed in messages, such as ``gamma <= 1/(32*K*L)``."""
        return f"{shown(self.left)} {self.operator} {shown(self.right)}"

    @cached_property
    def symbols(self) -> frozenset[str]:
        """Names of the parameters that it restricts."""
        return names_in(self.left) | names_in(self.right)

    def put(self, values: Mapping[sp.Symbol, sp.Expr]) -> Condition:
        """The condition with expressions in place of symbols."""
        left, right = (sp.sympify(side).xreplace(values) for side in (self.left, self.right))
        return dataclasses.replace(self, left=left, right=right)

    def check(self, key: str, values: Values) -> ConditionCheck:
        """Evaluate both sides; undecided (``holds`` is None) while a parameter is missing."""
        if not self.symbols <= values.keys():
            return ConditionCheck(key=key, condition=self, values=values, left=None, right=None, holds=None)
        left, right = (number(side, values) for side in (self.left, self.right))
        true = holds(left, self.operator, right)
        return ConditionCheck(key=key, condition=self, values=values, left=left, right=right, holds=true)


def number(expr: sp.Expr, values: Values) -> float:
    """The expression at given values as a float.

    Infinite where it divides by zero or leaves the range of floats, NaN where it takes the root of a negative number.
    """
    names, function = _formula(expr)
    try:
        return float(function(*(values[name] for name in names)))
    except (ZeroDivisionError, OverflowError):
        return math.inf
    except ValueError:
        return math.nan


@functools.cache
def names_in(expr: sp.Expr) -> frozenset[str]:
    """Names of the symbols in an expression."""
    return frozenset(symbol.name for symbol in expr.free_symbols)


@functools.cache
def _formula(expr: sp.Expr) -> tuple[tuple[str, ...], formula.Function]:
    names = tuple(sorted(symbol.name for symbol in expr.free_symbols))
    return names, formula.function(expr, names)


@functools.cache
def compiled(expr: sp.Expr) -> Callable[..., Any]:
    """The expression as a NumPy function of its free symbols by keyword; scalars and arrays alike."""
    return formula.of_arrays(sorted(expr.free_symbols, key=str), expr)


@dataclass(frozen=True, kw_only=True)
class ConditionCheck:
    """A condition of statement ``key`` at given values; sides and verdict are None while a parameter is missing."""

    key: str
    condition: Condition
    values: Values
    left: float | None
    right: float | None
    holds: bool | None

    @property
    def broken(self) -> str:
        """Sentence on a broken condition: the value, the condition with both sides, and what is admissible."""
        condition = self.condition
        left, right = apart(self.left, self.right)
        if not condition.left.is_Symbol:
            sides = f"{left} {condition.operator} {right}"
            false = f"{left} and {right} are {EQUAL}" if self.close else f"{sides} is false"
            return f'"{condition.text}" of {self.key} is broken: {false}.'
        if self.close:
            assert self.right is not None
            limit = farther(self.right, condition.operator)
            side = "below" if condition.operator == "<" else "above"
            return (
                f'{condition.left}={left} breaks "{condition.text}" of {self.key}: {self.limit}, and the two are '
                f"{EQUAL}. Admissible {condition.left}: {side} {limit:.13g}."
            )
        sentence = f'{condition.left}={left} breaks "{condition.text}" of {self.key}: {self.limit}'
        extreme = {
            "<=": "Largest admissible {}:",
            ">=": "Smallest admissible {}:",
            "==": "Prescribed {}:",
            "<": "Admissible {}: below",
            ">": "Admissible {}: above",
        }[condition.operator]
        return f"{sentence}. {extreme.format(condition.left)} {inwards(self.right, condition.operator)}."

    @property
    def close(self) -> bool:
        """Whether a strict condition is broken by sides that differ, but by no more than their computation rounds."""
        if self.holds is not False or self.left is None or self.right is None or self.left == self.right:
            return False
        return holds(self.left, "==", self.right)

    @property
    def limit(self) -> str:
        """The right side with the values in place of the symbols, as it is printed: ``1/(32*25*1) = 0.00125``."""
        right, (_, value) = self.condition.right, apart(self.left, self.right)
        if right.is_number:
            return value
        if right.is_Symbol:
            return f"{right} = {value}"
        # In the text: SymPy would sort the factors by their values, and gather equal ones.
        names = "|".join(sorted((re.escape(symbol.name) for symbol in right.free_symbols), key=len, reverse=True))
        pattern = rf"(?<!\w)(?:{names})(?![\w(])"
        return f"{re.sub(pattern, lambda found: self._shown(found[0]), str(shown(right)))} = {value}"

    def _shown(self, name: str) -> str:
        text = f"{self.values[name]:g}"
        return f"({text})" if text.startswith("-") else text


@dataclass(frozen=True, kw_only=True)
class StepRule:
    """A step size as a statement sets it: exactly ``value``, or any number from ``value`` on (``at_least``).

    With ``at_least`` the smallest admissible value is taken where the caller names none. A ``free`` rule is only what
    is taken where the caller names none, after all others: any other value is as good, as far as the conditions go.
    """

    symbol: sp.Symbol
    value: sp.Expr
    at_least: bool
    free: bool = False

    @property
    def condition(self) -> Condition:
        """The rule as a hypothesis, for the case that the caller chooses the step size."""
        name = self.symbol.name
        return Condition(name=name, left=self.symbol, operator=">=" if self.at_least else "==", right=self.value)


@dataclass(frozen=True, kw_only=True)
class StepProduct:
    """A convention ``product == local * outer`` between step sizes: any two of the three give the third."""

    product: sp.Symbol
    local: sp.Symbol
    outer: sp.Symbol

    @property
    def names(self) -> frozenset[str]:
        """Names of the three step sizes."""
        return frozenset({self.product.name, self.local.name, self.outer.name})

    def fill(self, values: dict[str, float]) -> None:
        """Add the third step size where two are known; raises `InputError` where three disagree."""
        product, local, outer = self.product.name, self.local.name, self.outer.name
        if not self.names <= values.keys():
            fill_product(values, product, local, outer)
            return
        found, wanted = values[local] * values[outer], values[product]
        if abs(wanted - found) > 1e-9 * max(wanted, found):
            left, right = apart(found, wanted)
            raise InputError(
                f'{local}={values[local]:g} breaks "{local}*{outer} == {product}": {left} == {right} '
                f"is false. Admissible {local}: {wanted / values[outer]:.10g}."
            )


def fill_product(values: dict[Any, Any], product: Any, local: Any, outer: Any) -> None:
    """Add the third of product = local * outer where two are known; what is known stays."""
    if local in values and outer in values:
        values.setdefault(product, values[local] * values[outer])
    elif product in values and outer in values:
        values[local] = values[product] / values[outer]
    elif product in values and local in values:
        values[outer] = values[product] / values[local]


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """A statement at given numbers.

    ``values`` are all parameters used, defaults included (``defaulted`` names those). ``claims`` maps a claim to its
    right side and ``terms`` to its parts. ``trivial`` is what smoothness alone gives at the start (None where nothing
    trivial is known).
    """

    key: str
    values: dict[str, float]
    defaulted: tuple[str, ...]
    claims: dict[str, float]
    terms: dict[str, dict[str, float]]
    conditions: tuple[ConditionCheck, ...]
    trivial: float | None

    @property
    def value(self) -> float:
        """Right side of the first claim."""
        return next(iter(self.claims.values()))

    @property
    def applicable(self) -> bool:
        """Whether no condition is broken (one whose parameters are not all given is undecided, not broken)."""
        return all(check.holds is not False for check in self.conditions)

    @property
    def broken(self) -> tuple[ConditionCheck, ...]:
        """The conditions that do not hold."""
        return tuple(check for check in self.conditions if check.holds is False)

    @property
    def vacuous(self) -> bool | None:
        """Whether the bound says no more than smoothness does: is at least ``trivial``; None without numbers."""
        if self.trivial is None or not (math.isfinite(self.trivial) and math.isfinite(self.value)):
            return None
        return not says_more(self.value, self.trivial)


def says_more(value: float, trivial: float) -> bool:
    """Whether a bound is below what smoothness alone gives, by more than rounding, which differs by processor."""
    return value < trivial - _ROUNDED * abs(trivial)


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One numbered statement of a paper.

    ``algorithm`` is the name of the method it is about, or None for pure algebra.
    ``settings`` fixes parameters that the statement itself fixes, such as K = 1. ``conditions`` are the hypotheses
    about parameters; those that a step rule expresses are not repeated there (`hypotheses` has both). ``repairs`` is
    the key of the printed statement of which this one is the repaired form; empty for any other. ``instance`` is the
    problem of which alone a lower bound is claimed, such as ``mine.py:hard``; empty for a claim about all problems.
    """

    key: str
    title: str
    source: Source
    vocabulary: Vocabulary
    algorithm: str | None
    assumptions: tuple[Assumption, ...]
    claims: tuple[Claim, ...]
    conditions: tuple[Condition, ...]
    step_rules: tuple[StepRule, ...]
    step_products: tuple[StepProduct, ...]
    settings: Mapping[str, sp.Expr]
    follows_from: tuple[str, ...]
    remark: str
    repairs: str = ""
    instance: str = ""

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """In another process one of the catalogue is that process's own: some questions are about it alone."""
        # The package is there whenever this module is, and imports it.
        catalogue = sys.modules[__package__]
        if any(each is self for each in catalogue.siblings(self.key)):
            return catalogue.get, (self.key,)
        return super().__reduce_ex__(protocol)

    def __repr__(self) -> str:
        return f"<Statement {self.key}: {self.title}>"

    def __str__(self) -> str:
        return represented("text", self) or repr(self)

    def _repr_markdown_(self) -> str | None:
        """For notebooks: what ``ratecheck show`` prints."""
        return represented("markdown", self)

    def _repr_latex_(self) -> str | None:
        return represented("latex", self)

    def _repr_html_(self) -> str | None:
        return represented("html", self)

    @property
    def method(self) -> str | None:
        """The name of the method as whoever writes the statement says it."""
        return None if self.algorithm is None else self.algorithm.replace(PLAIN_METHOD, "", 1)

    @property
    def said(self) -> tuple[Assumption, ...]:
        """The assumptions, but for participation where the name of the method implies a single client."""
        alone = "n" in self.vocabulary.implied
        return tuple(each for each in self.assumptions if not (alone and each is Assumption.FULL_PARTICIPATION))

    @property
    def order_only(self) -> bool:
        """Whether the paper gives the right side only up to a constant."""
        return any(claim.relation is Relation.ORDER for claim in self.claims)

    @property
    def ordered(self) -> list[tuple[str, str]]:
        """Pairs (smaller, larger) of symbols: the vocabulary's; of clients more may be drawn, if again, than there are.

        That is m <= n, but for `Assumption.WEIGHTED_DRAWS`.
        """
        run = self.vocabulary.run
        drawn = run.get("participants", ""), run.get("clients", "")
        again = Assumption.WEIGHTED_DRAWS in self.assumptions
        return [pair for pair in self.vocabulary.ordered if not (again and pair == drawn)]

    @cached_property
    def hypotheses(self) -> tuple[Condition, ...]:
        """Every condition on parameters: the listed ones and those that the step rules express."""
        return (*self.conditions, *(rule.condition for rule in self.step_rules if not rule.free))

    @cached_property
    def bare(self) -> Statement:
        """Statement without its step rules and products, for what it says about constants."""
        return dataclasses.replace(self, step_rules=(), step_products=())

    @cached_property
    def written(self) -> Statement:
        """Statement with symbols that equal a formula replaced by it wherever they stand (`Vocabulary.equal`)."""
        equal = {*self.vocabulary.equal} & {*self.parameters}
        if not equal:
            return self

        def put(expr: sp.Expr) -> sp.Expr:
            # Formulas name symbols that were defined before them alone, so this ends.
            while inside := [symbol for symbol in expr.free_symbols if symbol.name in equal]:
                expr = expr.xreplace({symbol: self.formula(symbol.name) for symbol in inside})
            return expr

        def claimed(claim: Claim) -> Claim:
            weights = {quantity: put(sp.sympify(weight)) for quantity, weight in claim.metric.weights.items()}
            trivial = None if claim.metric.trivial is None else put(claim.metric.trivial)
            metric = dataclasses.replace(claim.metric, weights=weights, trivial=trivial)
            terms = {label: put(sp.sympify(term)) for label, term in claim.terms.items()}
            chance = None if claim.probability is None else put(claim.probability)
            return dataclasses.replace(claim, metric=metric, terms=terms, probability=chance)

        return dataclasses.replace(
            self,
            claims=tuple(map(claimed, self.claims)),
            conditions=tuple(
                dataclasses.replace(each, left=put(each.left), right=put(each.right)) for each in self.conditions
            ),
            step_rules=tuple(dataclasses.replace(rule, value=put(rule.value)) for rule in self.step_rules),
            settings={name: put(expr) for name, expr in self.settings.items()},
        )

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Every parameter that occurs in a bound, condition or step rule, in the order of the vocabulary.

        Beside a symbol that equals a formula those in the formula.
        """
        exprs = [claim.bound for claim in self.claims]
        exprs += [weight for claim in self.claims for weight in claim.metric.weights.values()]
        exprs += [claim.probability for claim in self.claims if claim.probability is not None]
        exprs += [side for condition in self.hypotheses for side in (condition.left, condition.right)]
        exprs += [side for rule in self.step_rules for side in (rule.symbol, rule.value)]
        names = {s.name for expr in exprs for s in sp.sympify(expr).free_symbols} | set(self.settings)
        names |= {s.name for expr in self.settings.values() for s in expr.free_symbols}
        for product in self.step_products:
            names |= product.names
        equal = self.vocabulary.equal
        while inside := {each for name in names & equal for each in names_in(self.formula(name))} - names:
            names |= inside
        return tuple(sorted(names, key=self.vocabulary.order.__getitem__))

    @cached_property
    def measured(self) -> frozenset[str]:
        """Symbols of the claims that a run measures, without the suffix for the round before."""
        exprs = [expr for claim in self.claims for expr in (claim.bound, claim.metric.expr)]
        return frozenset().union(*(measured_in(expr, self.vocabulary) for expr in exprs))

    @cached_property
    def recorded(self) -> frozenset[str]:
        """The quantities of the run that the claims compare, under the names of the engines."""
        return frozenset(self.vocabulary.facts[symbol] for symbol in self.measured)

    @property
    def counts_rounds(self) -> bool:
        """Whether a right side depends on the number of the round."""
        return any(is_round(name, self.vocabulary) for claim in self.claims for name in names_in(claim.bound))

    @property
    def in_probability(self) -> bool:
        """Whether a claim is about the probability with which a run meets a bound, and not about expectations."""
        return any(claim.probability is not None for claim in self.claims)

    def formula(self, name: str) -> sp.Expr:
        """The formula that a symbol equals, or is computed from."""
        return sp.sympify(self.vocabulary.derived[name])

    @property
    def required(self) -> tuple[str, ...]:
        """Parameters without which the right side has no value and for which the statement gives no default."""
        if self.written is not self:
            return self.written.required
        stated = [claim.probability for claim in self.claims if claim.probability is not None]
        needed = {name for expr in (*(claim.bound for claim in self.claims), *stated) for name in names_in(expr)}
        for rule in reversed(self.step_rules):
            if rule.symbol.name in needed:
                needed = (needed - {rule.symbol.name}) | names_in(rule.value)
        needed -= {name for name in needed if self.vocabulary[name].default is not None}
        return tuple(name for name in self.parameters if name in needed and name not in self.settings)

    def complete(self, given: Given) -> tuple[dict[str, float], tuple[str, ...]]:
        """The given values plus what the statement itself fixes, and the names of what was filled in.

        Fills in ``settings``, defaults, prescribed step sizes, smallest admissible ones, step products whichever
        way round they are given, and symbols that equal a formula. Raises `InputError` for an unknown parameter, a
        value outside its domain, a contradiction with ``settings``, with a formula or between the step sizes.
        """
        self.check_names(given)
        values = self.resolve(given)
        named = frozenset(values)
        for name in self.parameters:
            default = self.vocabulary[name].default
            # What is fixed may be made of what has a default.
            if default is not None and name not in self.settings:
                values.setdefault(name, default)
        for name, expr in self.settings.items():
            self._fix(values, name, expr)
        for smaller, larger in self.ordered:
            if {smaller, larger} <= values.keys() and values[smaller] > values[larger]:
                left, right = apart(values[smaller], values[larger])
                raise InputError(
                    f'{smaller}={left} breaks "{smaller} <= {larger}": {left} <= {right} is false. '
                    f"Largest admissible {smaller}: {right}."
                )
        self._fill_products(values)
        self._fill_equal(values)
        # A given local step size and a prescribed product decide the outer one, before the smallest is taken; a free
        # rule may need either.
        for kind in ((False, False), (True, False), (False, True)):
            for rule in self.step_rules:
                name = rule.symbol.name
                known = names_in(rule.value) <= values.keys()
                if (rule.at_least, rule.free) == kind and known and name not in values:
                    values[name] = self._ruled(rule, values)
            self._fill_products(values)
            self._fill_equal(values)
        values = {name: values[name] for name in sorted(values, key=self.vocabulary.order.__getitem__)}
        return values, tuple(name for name in values if name not in named)

    def at(self, given: Given) -> Statement:
        """The statement for the lists that are given: a maximum over a list is over all of it, not over its ends."""
        written: dict[sp.Expr, sp.Expr] = {}
        for name, (ends, one) in self.vocabulary.maxima.items():
            numbers = given_numbers(self.vocabulary.aliases[name], given[name]) if name in given else []
            between = sorted({*numbers} - {min(numbers, default=0.0), max(numbers, default=0.0)})
            if between:
                self.resolve({name: given[name]})
                # Floats are rationals, and Max would compare its arguments.
                rest = (one(sp.Rational(*each.as_integer_ratio())) for each in between)
                written[ends] = sp.Max(*ends.args, *rest, evaluate=False)
        if not written:
            return self
        claims = tuple(
            dataclasses.replace(c, terms={label: term.xreplace(written) for label, term in c.terms.items()})
            for c in self.claims
        )
        return dataclasses.replace(self, claims=claims)

    def unused(self, given: Given) -> tuple[str, ...]:
        """The given parameters that do not occur in this statement."""
        return tuple(name for name in given if not {*self.vocabulary.reach(name)} & {*self.parameters})

    def evaluate(self, **given: float | Sequence[float]) -> Evaluation:
        """Right sides, their terms, and every condition with both sides, at the given numbers.

        Raises `InputError` for unknown or missing parameters, values outside their domain, and for statements that
        are known only up to a constant.
        """
        if self.order_only:
            raise InputError(
                f"{self.key} is known only up to a constant (the paper prints O(...)), so it has no value; "
                "'show' prints the order"
            )
        if (here := self.at(given)) is not self:
            lists = {name: given[name] for name in self.vocabulary.maxima if name in given}
            rest = {name: value for name, value in given.items() if name not in lists}
            return here.evaluate(**rest, **self.resolve(lists))
        values, defaulted = self.complete(given)
        missing = [name for name in self.required if name not in values]
        if missing:
            # What equals a formula of it may be given in its place.
            asked = {target: name for name, alias in self.vocabulary.aliases.items() for target in alias.targets
                     if name in self.vocabulary.equal and name in self.parameters}  # fmt: skip
            missing = [asked.get(name, name) for name in missing]
            listed = ", ".join(f"{name} ({self.vocabulary[name].meaning})" for name in missing)
            steps = any(self.vocabulary[name].role is Role.STEP_SIZE for name in missing)
            hint = "; 'ratecheck stepsize' tells what is admissible" if steps else ""
            raise InputError(f"{self.key} needs a value for {listed}: give {missing[0]}=...{hint}")
        terms = {c.name: {label: number(expr, values) for label, expr in c.terms.items()} for c in self.claims}
        return Evaluation(
            key=self.key,
            values=values,
            defaulted=defaulted,
            claims={name: sum(parts.values()) for name, parts in terms.items()},
            terms=terms,
            conditions=self.check_conditions(values),
            trivial=self._trivial_value(values),
        )

    def check_conditions(self, values: Values) -> tuple[ConditionCheck, ...]:
        """Every condition at completed values."""
        return tuple(condition.check(self.key, values) for condition in self.hypotheses)

    def _trivial_value(self, values: Values) -> float | None:
        trivial = self.claims[0].metric.trivial
        if trivial is None or not names_in(trivial) <= values.keys():
            return None
        value = number(trivial, values)
        # What leaves the range of floats is nothing to compare with.
        return value if math.isfinite(value) else None

    def check_names(self, given: Iterable[str]) -> None:
        """Raise `InputError` for a name that is no symbol of the paper."""
        # A symbol of the paper that this statement does not use is harmless: users pass one set of numbers to several
        # statements.
        for name in given:
            if name not in self.vocabulary:
                raise InputError(f"{self.key} has no parameter {name!r}; {did_you_mean(name, self.parameters)}")

    def resolve(self, given: Given) -> dict[str, float]:
        """The given values, with aliases replaced by what they stand for; `InputError` where one leaves its domain."""
        values = {}
        for name, value in given.items():
            alias = self.vocabulary.aliases.get(name)
            # A symbol that equals a formula of its targets may stand beside them: whether it does is seen later.
            if alias is None or (name in self.vocabulary.equal and {*alias.targets} & {*given}):
                values[name] = as_float(name, value)
                self.vocabulary[name].check(values[name])
                continue
            numbers = given_numbers(alias, value)
            for target, choose in alias.targets.items():
                if target in given:
                    raise InputError(f"{name} and {target} are both given: {name} already says what {target} is")
                for each in numbers:
                    dataclasses.replace(self.vocabulary[target], name=name, meaning=alias.meaning).check(each)
                values[target] = choose(numbers)
                self.vocabulary[target].check(values[target])
        return values

    def _ruled(self, rule: StepRule, values: Values) -> float:
        """Value of a step rule; raises `NoValueError` where it divides by zero."""
        value = number(rule.value, values)
        if not math.isfinite(value):
            names = sorted(symbol.name for symbol in rule.value.free_symbols)
            named = [name for name in names if values[name] == 0] or names
            point = ", ".join(f"{name}={values[name]:g}" for name in named)
            raise NoValueError(f"{self.key} sets {rule.symbol} to {shown(rule.value)}, which has no value at {point}")
        return value

    def _fill_products(self, values: dict[str, float]) -> None:
        for product in self.step_products:
            product.fill(values)

    def _fill_equal(self, values: dict[str, float]) -> None:
        """Add the symbols that equal a formula, once it has a value; raises `InputError` for another that is given."""
        for name in self.parameters:
            expr = self.formula(name) if name in self.vocabulary.equal else None
            if expr is None or not names_in(expr) <= values.keys():
                continue
            found = number(expr, values)
            if not holds(values.setdefault(name, found), "==", found):
                given, taken = apart(values[name], found)
                raise InputError(f"{name}={given} contradicts {self.key}, which takes {name} = {shown(expr)} = {taken}")

    def _fix(self, values: dict[str, float], name: str, expr: sp.Expr) -> None:
        if not {s.name for s in expr.free_symbols} <= values.keys():
            return
        fixed = number(expr, values)
        if values.setdefault(name, fixed) != fixed:
            given, taken = apart(values[name], fixed)
            formula = f"{name} = {expr}" + ("" if expr.is_number else f" = {taken}")
            raise InputError(f"{name}={given} contradicts {self.key}, which takes {formula}")
