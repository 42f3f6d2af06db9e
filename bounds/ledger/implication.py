"""How one statement follows from others: the argument as data, and the inequalities that it comes down to.

An `Implication` begins with the right side of a premise and substitutes the premises and facts one after the other,
each for the quantity that it bounds. What is left has to be at most the conclusion's right side. Four forms, one
mechanism:

* *prescribed steps*: nothing is substituted; the conclusion's rules replace the step sizes;
* *reduction*: as before, with parameters fixed (``at``), such as sigma_v = 0;
* *substitution*: lemmas are substituted, each with a coefficient that has to be nonnegative;
* *telescoping* (``telescoped`` is not None): what is left is a bound R on the change of a function that falls by at
  most ``telescoped`` over all T rounds, so that the mean of R over the rounds is at least -telescoped/T.

Telescoping, in full. Let q_j be the measured quantities, R = rest - sum_j d_j q_j, and let the conclusion's left side
be at most M = M_0 + sum_j a_j q_j. With means over the rounds, sum_j d_j q_j <= telescoped/T + rest. If d_j >= 0 and
d_j*(bound - M_0) >= a_j*(telescoped/T + rest) for every j, then M <= bound: the largest a_j/d_j, times both sides.
(d_j = 0 < a_j breaks the second where telescoped > 0, and telescoped = 0 is a limit: any larger value is admissible.)

`obligations` makes all of these inequalities from the statement objects; nothing is typed a second time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import sympy as sp

import bounds
from bounds.statement import Assumption, Claim, Condition, Over, Relation, Statement, StepProduct
from bounds.symbols import Role

ZERO, ONE = sp.Integer(0), sp.Integer(1)
_DIGITS = 10**6
_EACH_ROUND = (Over.EVERY_ROUND, Over.EVERY_ROUND_BUT_FIRST)
# Of which rounds a claim says nothing, unless there is one round only: some round is no worse than the mean.
_UNSAID = {
    Over.MEAN_OF_ROUNDS: (*_EACH_ROUND, Over.LAST_ROUND, Over.AFTER_ROUNDS),
    Over.LAST_ROUND: (*_EACH_ROUND, Over.MEAN_OF_ROUNDS, Over.AFTER_ROUNDS),
    Over.AFTER_ROUNDS: (*_EACH_ROUND, Over.MEAN_OF_ROUNDS, Over.LAST_ROUND),
    Over.BEST_ROUND: (*_EACH_ROUND, Over.MEAN_OF_ROUNDS, Over.LAST_ROUND, Over.AFTER_ROUNDS),
}
_SAID = {
    Over.MEAN_OF_ROUNDS: "a mean over the rounds",
    Over.LAST_ROUND: "the last round",
    Over.AFTER_ROUNDS: "x^T",
    Over.BEST_ROUND: "the best round",
}
_WANTED = {**_SAID, **dict.fromkeys(_EACH_ROUND, "every round")}

Substitution = Mapping[sp.Expr, sp.Expr]


@dataclass(frozen=True, kw_only=True)
class Use:
    """A statement substituted: each quantity that its claims (or the one named) bound, replaced by the bound.

    ``at`` says for which symbols something else stands there: another round's quantity, or the value that the argument
    chooses for a parameter that the conclusion leaves open.
    """

    key: str
    claim: str | None = None
    at: Substitution = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Fact:
    """``quantity <= bound``, which the proof shows on its way and no statement says.

    The algebra takes it for granted. ``steps`` are the ids of the ledger's steps that say it or that it is put together
    from; there are none where it is so ``by_definition``. ``joined`` is the one that puts the others together, each in
    the form that holds: those that hold in a repaired form are then enough. ``missing`` says what of it no step says.
    """

    location: str
    quantity: sp.Symbol
    bound: sp.Expr
    steps: tuple[str, ...] = ()
    by_definition: bool = False
    joined: str = ""
    missing: str = ""


def numbered(part: str, *numbers: int) -> tuple[str, ...]:
    """The ids of some steps of one part of a proof: `numbered("pfl/lemma-3.5", 1, 2)`."""
    return tuple(f"{part}-{number}" for number in numbers)


@dataclass(frozen=True, kw_only=True)
class Summed:
    """A recursion q_t <= a*q_{t-1} + r_{t-1} over the rounds, substituted for the mean of q.

    ``previous`` is q_{t-1} and ``start`` is q_0; ``rounds_back`` names for each quantity of round t-1 that of round t.
    With a < 1 the mean is at most (q_0/T + mean r)/(1 - a). With a > 1, a**t <= g = exp((a - 1)(T - 1)) for t < T,
    which has to be free of all symbols, and the mean is at most g*(q_0 + T*mean r + r_0/(a - 1)), where r_0 is r's
    constant part.
    """

    key: str
    previous: sp.Symbol
    start: sp.Expr
    rounds_back: Substitution


Step = Use | Fact | Summed


@dataclass(frozen=True, kw_only=True)
class Mean:
    """The argument's first statement holds for every draw of some parameters, and its expectation is taken.

    ``drawn`` names for each parameter, which then stands for its mean, the number that is drawn. Where the right side
    at all drawn numbers is at most ``bound + sum_s (d bound/d s)*(drawn_s - s)`` over the parameters s, a tangent of
    ``bound``, its expectation is at most ``bound`` (the conclusion's right side where None).
    """

    drawn: Substitution
    bound: sp.Expr | None = None


@dataclass(frozen=True, kw_only=True)
class Implication:
    """The paper says at ``location`` that ``conclusion`` follows from the statements in ``start`` and ``steps``.

    ``claim`` is the conclusion's claim (its first one where None). ``left`` are substituted for the quantities on the
    conclusion's left side, ``ends`` for those in ``telescoped``; ``quantities`` are quantities of a round, at least 0,
    that the argument has beside those of the vocabulary. ``given`` are hypotheses that the conclusion does not state,
    such as what defines a symbol; ``known`` are statements whose claims are hypotheses, where what they bound does not
    occur linearly. ``using`` names the conclusion's conditions and rules that the algebra needs (all where None), to
    spare it the others.
    """

    conclusion: str
    claim: str | None = None
    start: Use | Fact
    steps: tuple[Step, ...] = ()
    left: tuple[Step, ...] = ()
    telescoped: sp.Expr | None = None
    ends: tuple[Step, ...] = ()
    quantities: tuple[sp.Symbol, ...] = ()
    at: Substitution = field(default_factory=dict)
    given: tuple[Condition, ...] = ()
    known: tuple[Use, ...] = ()
    using: tuple[str, ...] | None = None
    mean: Mean | None = None
    location: str
    remark: str = ""

    @property
    def parts(self) -> tuple[Step, ...]:
        """Everything that is substituted, in order."""
        return (self.start, *self.steps, *self.left, *self.ends)

    @property
    def premises(self) -> tuple[str, ...]:
        """Keys of the statements that are used."""
        return tuple(dict.fromkeys(part.key for part in (*self.parts, *self.known) if not isinstance(part, Fact)))

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Assumptions beside the premises."""
        return tuple(part for part in self.parts if isinstance(part, Fact))


@dataclass(frozen=True, kw_only=True)
class Obligation:
    """One inequality ``goal.left <operator> goal.right`` that has to hold for all admissible parameters."""

    name: str
    goal: Condition


@dataclass(frozen=True, kw_only=True)
class ProofObligations:
    """An implication reduced to obligations under hypotheses.

    Where hypotheses were left out it is not ``complete``, and a counterexample would prove nothing.
    """

    hypotheses: tuple[Condition, ...]
    obligations: tuple[Obligation, ...]
    complete: bool = True


def chosen_claim(statement: Statement, name: str | None) -> Claim:
    """The claim of that name, or the first one."""
    return next(claim for claim in statement.claims if name in (None, claim.name))


def case(
    implication: Implication,
    conclusion: Statement | None = None,
    premises: Mapping[str, Statement] = MappingProxyType({}),
) -> ProofObligations:
    """Hypotheses and obligations of an implication, for its conclusion or for a variant of it.

    ``premises`` are variants of statements that it uses, by key; others are those of the catalogue.
    """
    return _Derivation(implication, conclusion or bounds.get(implication.conclusion), premises).case()


class _Derivation:
    """Carries the substitutions that the conclusion prescribes through every expression."""

    def __init__(self, implication: Implication, conclusion: Statement, premises: Mapping[str, Statement]) -> None:
        self.implication, self.conclusion, self.premises = implication, conclusion, premises
        fixed = {conclusion.vocabulary[name].symbol: value for name, value in conclusion.settings.items()}
        self.fixed: dict[sp.Symbol, sp.Expr] = {**fixed, **implication.at}
        exact = {r.symbol: r.value for r in conclusion.step_rules if not (r.at_least or r.free)}
        self.rules = {symbol: self._put(value, self.fixed) for symbol, value in exact.items()}
        # A step size that the catalogue's form mentions is free in a variant that no longer says what it is.
        self.known = _mentioned(conclusion) | _mentioned(bounds.get(implication.conclusion))
        self.local = dict(self._eliminated(product) for product in conclusion.step_products)
        self.obligations: list[Obligation] = []

    def _statement(self, key: str) -> Statement:
        """A premise: the variant that is given, or else the catalogue's."""
        return self.premises.get(key) or bounds.get(key)

    def _put(self, expr: sp.Expr, *substitutions: Substitution) -> sp.Expr:
        for substitution in substitutions:
            expr = sp.sympify(expr).xreplace(dict(substitution))
        return expr

    def _eliminated(self, product: StepProduct) -> tuple[sp.Symbol, sp.Expr]:
        """Of three step sizes with ``product == local*outer`` the first that the conclusion does not mention."""
        values = {
            product.local: product.product / product.outer,
            product.product: product.local * product.outer,
            product.outer: product.product / product.local,
        }
        unknown = [symbol for symbol in values if symbol not in self.known]
        if len(unknown) == 1:  # the other two determine it
            self.known.add(unknown[0])
        eliminated = unknown[0] if unknown else product.local
        return eliminated, values[eliminated]

    @property
    def _rounds(self) -> sp.Symbol:
        return self.conclusion.vocabulary["T"].symbol

    def settled(self, expr: sp.Expr) -> sp.Expr:
        """The expression with everything substituted that the conclusion fixes or prescribes."""
        return self._put(expr, self.local, self.fixed, self.rules)

    def case(self) -> ProofObligations:
        claim = chosen_claim(self.conclusion, self.implication.claim)
        over, reached = claim.metric.over, self._reached()
        if over in _UNSAID.get(reached, ()):
            # It says something of these rounds where there is one only.
            self._require(f"{_WANTED[over]}, from {_SAID[reached]}", self._rounds, "<=", ONE)
        if reached is Over.EVERY_ROUND_BUT_FIRST and over in (Over.LAST_ROUND, Over.BEST_ROUND):
            self._require("a round after the first", self._rounds, ">=", sp.Integer(2))
        left = self._chain(claim.metric.expr, self.implication.left)
        right = self._chain(self._begin(claim), self.implication.steps)
        if claim.relation is Relation.ORDER and self._premise_is_explicit():
            self._same_order(claim)
        elif self.implication.telescoped is None:
            self._require("right side", right, "<=", claim.bound)
        else:
            self._telescope(left, right, claim.bound)
        for used in self.implication.known:
            self._conditions(used)
        hypotheses = tuple(self._hypotheses())
        given = {(each.left, each.operator, each.right) for each in hypotheses}
        # What is a hypothesis already needs no proof.
        left_over = [one for one in self.obligations if (one.goal.left, one.goal.operator, one.goal.right) not in given]
        own = {condition.name for condition in self.conclusion.hypotheses}
        using = own if self.implication.using is None else self.implication.using
        needed = tuple(each for each in hypotheses if each.name not in own or each.name in using)
        return ProofObligations(hypotheses=needed, obligations=tuple(left_over), complete=needed == hypotheses)

    def _at(self, used: Use) -> Substitution:
        """Values of a premise's symbols; step sizes unknown to the conclusion are as the premise has them."""
        rules = () if self._undrawn else self._statement(used.key).step_rules
        mean = self.implication.mean
        if mean is not None and used is self.implication.start:
            used = dataclasses.replace(used, at={**mean.drawn, **used.at})
        chosen = {r.symbol: r.value for r in rules if r.symbol not in self.known}
        return {**{symbol: self._put(value, used.at) for symbol, value in chosen.items()}, **used.at}

    @property
    def _undrawn(self) -> bool:
        """Whether a variant leaves the step sizes open that the catalogue's form sets for each draw."""
        drawn = Assumption.DRAWN_STEP_SIZES
        return drawn in bounds.get(self.implication.conclusion).assumptions and drawn not in self.conclusion.assumptions

    def _premise_is_explicit(self) -> bool:
        start = self.implication.start
        return isinstance(start, Use) and not self._statement(start.key).order_only

    def _reached(self) -> Over:
        """Which rounds the argument speaks about."""
        start = self.implication.start
        if self.implication.telescoped is not None:
            return Over.MEAN_OF_ROUNDS
        if isinstance(start, Use):
            return chosen_claim(self._statement(start.key), start.claim).metric.over
        return chosen_claim(bounds.get(self.implication.conclusion), self.implication.claim).metric.over

    def _begin(self, claim: Claim) -> sp.Expr:
        """The right side with which the argument begins; without telescoping its left side has to be large enough."""
        start = self.implication.start
        if isinstance(start, Fact):
            if self.implication.telescoped is None:
                self._require("left side", claim.metric.expr, "<=", start.quantity)
            return start.bound
        statement = self._statement(start.key)
        begun = chosen_claim(statement, start.claim)
        self._conditions(start)
        at = self._at(start)
        if self.implication.telescoped is None:
            self._require("left side", claim.metric.expr, "<=", self._put(begun.metric.expr, at))
        right = self._put(begun.bound, at)
        return right if self.implication.mean is None else self._averaged(self.implication.mean, right, claim.bound)

    def _averaged(self, mean: Mean, right: sp.Expr, wanted: sp.Expr) -> sp.Expr:
        """An upper bound on the expectation of the right side, a function of the means."""
        bound = wanted if mean.bound is None else mean.bound
        slopes = (sp.diff(bound, symbol) * (drawn - symbol) for symbol, drawn in mean.drawn.items())
        self._require("expectation", right, "<=", sp.Add(bound, *slopes))
        return bound

    def _chain(self, expr: sp.Expr, steps: Iterable[Step]) -> sp.Expr:
        for step in steps:
            for quantity, bound, operator in self._bounds(step):
                slope = sp.diff(expr, quantity)
                if slope.has(quantity):
                    raise ValueError(
                        f"{self.conclusion.key}: {quantity} is substituted where it does not occur linearly"
                    )
                if not slope.is_zero:
                    self._require(f"coefficient of {quantity}", slope, operator, ZERO)
                expr = expr.xreplace({quantity: ZERO}) + slope * bound
        return expr

    def _bounds(self, step: Step) -> Iterator[tuple[sp.Symbol, sp.Expr, str]]:
        """Substitutions of a step by quantity, and the sign that the quantity's coefficient has to have."""
        if isinstance(step, Fact):
            yield step.quantity, step.bound, ">="
            return
        if isinstance(step, Summed):
            yield *self._summed(step), ">="
            return
        statement = self._statement(step.key)
        self._conditions(step)
        for claim in statement.claims:
            if step.claim in (None, claim.name):
                ((quantity, weight),) = claim.metric.weights.items()
                at = self._at(step)
                # A negative weight bounds the quantity from below.
                operator = "<=" if weight.is_negative else ">="
                yield self._put(quantity, at), self._put(claim.bound / weight, at), operator

    def _summed(self, step: Summed) -> tuple[sp.Symbol, sp.Expr]:
        statement = self._statement(step.key)
        self._conditions(Use(key=step.key), later=True)
        ((quantity, _),) = statement.claims[0].metric.weights.items()
        rounds = self._rounds
        bound = sp.expand(statement.claims[0].bound)
        ratio = sp.cancel(bound.coeff(step.previous))
        rest = bound.coeff(step.previous, 0).subs(dict(step.rounds_back))
        growth = sp.cancel((ratio - 1) * (rounds - 1))
        if growth.is_number and growth.is_positive:
            factor = sp.Rational(sp.ceiling(sp.exp(growth) * _DIGITS), _DIGITS)
            constant = rest.xreplace(dict.fromkeys(step.rounds_back.values(), ZERO))
            return quantity, factor * (step.start + rounds * (rest - constant) + constant * sp.cancel(1 / (ratio - 1)))
        self._require(f"decay of {quantity}", ratio, "<", ONE)
        return quantity, (step.start / rounds + rest) * sp.cancel(1 / (1 - ratio))

    def _telescope(self, left: sp.Expr, right: sp.Expr, bound: sp.Expr) -> None:
        implication, vocabulary = self.implication, self.conclusion.vocabulary
        left, right = sp.expand(self.settled(left)), sp.expand(self.settled(right))
        measured = [*(q.symbol for q in vocabulary if q.role is Role.MEASURED), *implication.quantities]
        quantities = [q for q in measured if q in left.free_symbols | right.free_symbols]
        for side in (left, right):
            if any(sp.diff(side, q).has(*quantities) for q in quantities):
                raise ValueError(f"{self.conclusion.key}: a side is not linear in {quantities}")
        none = dict.fromkeys(quantities, ZERO)
        telescoped = sp.expand(self._chain(implication.telescoped, implication.ends))
        available = telescoped / self._rounds + right.xreplace(none)
        slack = bound - left.xreplace(none)
        for quantity in quantities:
            fall, weight = -sp.diff(right, quantity), sp.diff(left, quantity)
            self._require(f"fall per {quantity}", fall, ">=", ZERO)
            if weight != 0:
                self._require(f"right side per {quantity}", weight * available, "<=", fall * slack)

    def _same_order(self, claim: Claim) -> None:
        """Term by term, a factor that depends on no setting of the run (n, m, K, T, ...) leads to the other order."""
        start = self.implication.start
        assert isinstance(start, Use)
        settings = [q.symbol for q in self.conclusion.vocabulary if q.role in (Role.SETTING, Role.FREE, Role.STEP_SIZE)]
        terms = chosen_claim(self._statement(start.key), start.claim).terms
        for name, term in claim.terms.items():
            explicit = self._put(terms[name], self._at(start))
            factor = (explicit / term).subs(dict.fromkeys(settings, ONE))
            self._require(f"order of {name}", explicit, "<=", factor * term)

    def _conditions(self, used: Use, *, later: bool = False) -> None:
        """The hypotheses of a statement that is used are obligations, unless the conclusion has the same ones."""
        statement = self._statement(used.key)
        fixed = [
            Condition(name=name, left=statement.vocabulary[name].symbol, operator="==", right=value)
            for name, value in statement.settings.items()
        ]
        for condition in (*statement.hypotheses, *fixed):
            left, right = (self._put(side, self._at(used)) for side in (condition.left, condition.right))
            if later and condition.symbols == {"T"}:  # a round after the first exists from T = 2 on only
                left, right = (side.subs(self._rounds, self._rounds + 1) for side in (left, right))
            self._require(f'"{condition.name}" of {used.key}', left, condition.operator, right)

    def _require(self, name: str, left: sp.Expr, operator: str, right: sp.Expr) -> None:
        goal = Condition(name=name, left=self.settled(left), operator=operator, right=self.settled(right))
        if goal.left != goal.right and not any(one.goal == goal for one in self.obligations):
            self.obligations.append(Obligation(name=name, goal=goal))

    def _hypotheses(self) -> Iterator[Condition]:
        conclusion, implication = self.conclusion, self.implication
        rules = [rule.condition for rule in conclusion.step_rules if rule.at_least and not rule.free]
        ordered = [
            Condition(
                name=f"{smaller} <= {larger}",
                left=conclusion.vocabulary[smaller].symbol,
                operator="<=",
                right=conclusion.vocabulary[larger].symbol,
            )
            for smaller, larger in conclusion.vocabulary.ordered
        ]
        known = [
            Condition(
                name=used.key,
                left=self._put(claim.metric.expr, used.at),
                operator="<=",
                right=self._put(claim.bound, used.at),
            )
            for used in implication.known
            for claim in self._statement(used.key).claims
            if used.claim in (None, claim.name)
        ]
        mentioned: set[sp.Symbol] = set()
        for obligation in self.obligations:
            mentioned |= _symbols(obligation.goal)
        for condition in (*conclusion.conditions, *rules, *implication.given, *known, *ordered):
            settled = dataclasses.replace(
                condition, left=self.settled(condition.left), right=self.settled(condition.right)
            )
            # An order of two symbols says nothing where one of them stands nowhere else.
            if settled.left != settled.right and (condition not in ordered or _symbols(settled) <= mentioned):
                mentioned |= _symbols(settled)
                yield settled


def _mentioned(statement: Statement) -> set[sp.Symbol]:
    """The symbols in a statement's hypotheses and right sides."""
    sides = [side for c in statement.hypotheses for side in (c.left, c.right)]
    sides += [claim.bound for claim in statement.claims]
    return set().union(*(side.free_symbols for side in sides))


def _symbols(condition: Condition) -> set[sp.Symbol]:
    found: set[sp.Symbol] = condition.left.free_symbols | condition.right.free_symbols
    return found
