"""A counterexample as a person would write it, in text and in LaTeX.

Two clients, f_1 = x^2/2, f_2 = (x - 1)^2/4, K = T = 2, gamma = 1/16: left 1/33554432 > right 0.

A number without a sign of doubt is exact: a float of the instance is the binary fraction that it is, constants and
prescribed step sizes are proved, and the sides are rationals where the run is followed in rationals. All other numbers
are said to be rounded. Functions are written up to a constant, on which nothing depends.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import sympy as sp

from bounds.printing.notation import DIGITS, Notation, counted, decimal, is_short
from bounds.statement import Assumption, Over, Relation
from bounds.symbols import Quantity
from ratecheck.algebra.enclosure import Enclosure, Number, UndecidedError, enclose
from ratecheck.algebra.simplest import simplest_between
from ratecheck.certification.certified_constants import COUNTED, NOISE
from ratecheck.certification.trajectory_constants import BEYOND, STEEP
from ratecheck.errors import InputError
from ratecheck.participation import Participation
from ratecheck.participation.trace import clients
from ratecheck.problems.sentence import together
from ratecheck.settings.applicability import method_of
from ratecheck.settings.setting import default_graph
from ratecheck.verification.instance import Instance
from ratecheck.verification.proof import VerdictProof
from ratecheck.verification.verdict import Verdict

# Products of numbers that the proof of a sentence takes, a second or two; without one its numbers are rounded.
_PRODUCTS = 2e6


@dataclass(frozen=True)
class WrittenCounterexample:
    """A violating instance, its verdict, and what is proved of it; `text` and `latex` are one sentence each."""

    instance: Instance
    verdict: Verdict

    @property
    def text(self) -> str:
        """In plain text."""
        return self._sentence(Notation(tex=False))

    @property
    def latex(self) -> str:
        """In LaTeX, formulas between dollar signs."""
        return self._sentence(Notation(tex=True))

    @property
    def ratio(self) -> float | None:
        """Left side / right side of the sentence: infinite where the right side is not positive; None without both."""
        worst, proof = self.verdict.worst, self._proof
        if self.verdict.impossible:
            return math.inf
        if self._known_from_below:
            left, right = map(float, self._between)
        elif proof.left is not None and proof.right is not None:
            left, right = float(proof.left.middle), float(proof.right.middle)
        elif worst is not None:
            left, right = worst.left, worst.right
        else:
            return None
        return left / right if right > 0 else math.inf

    @cached_property
    def _proof(self) -> VerdictProof:
        """The proof of the violation, in rationals where these decide."""
        try:
            return self.instance.proof(exactly=True, products=_PRODUCTS)
        except InputError as error:
            return VerdictProof(None, str(error))

    @cached_property
    def _numbers(self) -> Mapping[str, Number]:
        """Constants, step sizes and sizes that are proved, by symbol; none where one was moved to meet a condition.

        Nor are there any where one is outside its domain, as F_0 is at a start that is the minimiser.
        """
        try:
            return {} if self._proof.notes else self.instance.numbers()
        except InputError:
            return {}

    @cached_property
    def _quantities(self) -> Mapping[str, Quantity]:
        return {each.name: each for each in self.instance.statement.vocabulary}

    def _sentence(self, style: Notation) -> str:
        parts = [f"{_count(self.instance.problem.n)}", *map(style.formula, _functions(self.instance, style))]
        parts += filter(None, [_taking_part(self.instance, self.verdict, style)])
        parts += [*self._noise(), *map(style.formula, [*self._start(style), *self._run(style), *self._given(style)])]
        parts += [f"stated {style.formula(each)}" for name in self._stated for each in self._equation(name, style)]
        derived = [each for name in self._derived for each in self._equation(name, style)]
        here = f"; here {', '.join(map(style.formula, derived))}" if derived else ""
        for where in (BEYOND, STEEP):
            beyond = [each for name in self._beyond(where) for each in self._equation(name, style)]
            here += f"; {', '.join(map(style.formula, beyond))} {where}" if beyond else ""
        return f"{', '.join(parts)}{here}: {self._sides(style)}"

    # --- Numbers ---

    def _start(self, style: Notation) -> list[str]:
        """The start where it is not 0."""
        found = []
        for name, value in self.instance.start.items():
            numbers = [style.given(x) for x in np.ravel(np.asarray(value, dtype=float)).tolist()]
            if any(number != "0" for number in numbers):
                listed = ", ".join(numbers)
                found.append(f"{style.name(name)} = {listed if len(numbers) == 1 else f'({listed})'}")
        return found

    @property
    def _sizes(self) -> list[str]:
        """Local steps and rounds, by symbol."""
        run = self.instance.statement.vocabulary.run
        return [run[role] for role in ("local_steps", "rounds") if run.get(role) in self._used]

    def _run(self, style: Notation) -> list[str]:
        """Local steps and rounds, those that are equal together."""
        values = {name: _listed(self.instance.given[name], style) for name in self._sizes}
        if len({*values.values()}) == 1:
            return [" = ".join([*(self._symbol(name, style) for name in values), next(iter(values.values()))])]
        return [f"{self._symbol(name, style)} = {value}" for name, value in values.items()]

    @cached_property
    def _used(self) -> list[str]:
        """The given names that are used: a lemma about vectors has no rounds."""
        return [name for name in self.instance.given if name not in self._quantities or name in self.verdict.values]

    @cached_property
    def _levels(self) -> dict[str, bool]:
        """Levels of noise, and whether there is any; those that the statement bounds by another constant, too."""
        facts, given = self.instance.statement.vocabulary.facts, self.instance.given
        levels = {name: bool(np.any(given[name])) for name in given if facts.get(name) in NOISE}
        return {name: some for name, some in levels.items() if some or name in self._used}

    def _noise(self) -> list[str]:
        run = self.instance.statement.algorithm is not None
        none = "no noise" if self.instance.problem.law.additive else "no other noise"
        beyond = [name for name, some in self._levels.items() if some and name not in self._used]
        if beyond or (self.verdict.replicates is not None and any(self._levels.values())):
            # Where runs are drawn, or a constant is another one of the noise, more than its variance matters.
            return [self.instance.problem.law.spoken]
        return [none] if run and self._levels and not any(self._levels.values()) else []

    def _given(self, style: Notation) -> list[str]:
        """Noise, parameters and step sizes."""
        run = self.instance.statement.vocabulary.run
        silent = (name for name, some in self._levels.items() if not some)
        others = {*silent, *run.values(), *self.verdict.chosen, *self._stated, "delta"}
        used = dict.fromkeys([*self._used, *self._levels])
        names = [*(name for name in used if name not in others), *self.verdict.chosen]
        return [each for name in names if name not in self._implied for each in self._equation(name, style)]

    @property
    def _implied(self) -> set[str]:
        """Symbols whose values the name of the method implies."""
        return self.instance.statement.vocabulary.implied

    @property
    def _stated(self) -> list[str]:
        """Constants that are given although the problem has better ones."""
        known = {*self._levels, "delta"}
        return [name for name in self._used if name in self.verdict.constants and name not in known]

    @property
    def _derived(self) -> list[str]:
        """The constants that the problem and the run are proved to have, but for those that are given."""
        known = {*self.instance.given} | self._implied
        return [name for name in self.verdict.constants if name in self._numbers and name not in known]

    def _beyond(self, where: str) -> list[str]:
        """The constants of functions that continue, as ``where`` says, otherwise beyond what the run sees."""
        constants = self.verdict.constants.items()
        return [name for name, each in constants if each.reason == where and name not in self.instance.given]

    def _symbol(self, name: str, style: Notation) -> str:
        quantity = self._quantities.get(name)
        return style.name(name.rstrip("_"), quantity.latex if quantity else "")

    def _equation(self, name: str, style: Notation) -> list[str]:
        """A number by its symbol, exact where it is proved; nothing for one without a value."""
        symbol, given = self._symbol(name, style), self.instance.given
        if name in given:
            return [f"{symbol} = {_listed(given[name], style)}"]
        fixed = self.instance.statement.settings.get(name)
        said = Fraction(int(fixed.p), int(fixed.q)) if isinstance(fixed, sp.Rational) else None
        proved = _rational(self._numbers.get(name))
        exact = said if proved is None else proved
        if exact is not None:
            return [f"{symbol} = {style.fraction(exact)}"]
        rounded = self.verdict.values.get(name)
        if rounded is None or not math.isfinite(rounded):
            return []
        return [style.related(symbol, "~", style.number(rounded))]

    # --- Sides ---

    def _sides(self, style: Notation) -> str:
        """Both sides with the sign that refutes the claim, and where that is."""
        worst, proof = self.verdict.worst, self._proof
        if self.verdict.impossible:
            first = self.verdict.impossible[0]
            sides = ["", self._side(self._right_side(first.claim), style.number(first.right), style)]
            left = style.related(style.words("left").rstrip(), ">=", "0")
            return style.formula(style.related(left, ">", style.words("right") + sides[1])) + self._where(first.claim)
        claim = proof.claim or (worst.claim if worst else "")
        if self._known_from_below:
            return self._from_below(claim, style)
        equal = self._equal(claim)
        right_side = _rational(proof.right)
        exact = _rational(proof.left), self._right_side(claim) if right_side is None else right_side
        sides = [self._side(*pair, style) for pair in zip(exact, self._rounded(style), strict=True)]
        left, right = (style.words(name) + side for name, side in zip(("left", "right"), sides, strict=True))
        at = proof.round if proof.left is not None else worst.round if worst else None
        return style.formula(style.related(left, "!=" if equal else ">", right)) + self._where(claim, at)

    def _equal(self, claim: str) -> bool:
        """Whether a claim is an equality."""
        return any(each.name == claim and each.relation is Relation.EQUAL for each in self.instance.statement.claims)

    @property
    def _known_from_below(self) -> bool:
        """Whether all that is known of the left side is that it is at least something."""
        worst = self.verdict.worst
        return worst is not None and worst.at_least and not self._equal(self._proof.claim or worst.claim)

    @property
    def _between(self) -> tuple[Fraction, Fraction]:
        """A short number between what the left side is at least and the right side, and the most that that is."""
        worst, proof = self.verdict.worst, self._proof
        assert worst is not None
        least, most = Fraction(worst.left), Fraction(worst.right)
        if proof.left is not None and proof.right is not None:
            least, most = proof.left.low, proof.right.high
        return simplest_between((least + most) / 2, least), most

    def _from_below(self, claim: str, style: Notation) -> str:
        """The inequality where the left side is known from below: by a short number between that and the right side."""
        proof = self._proof
        right = self._right_side(claim) if proof.right is None or not proof.right.exact else _rational(proof.right)
        short, most = self._between
        left = style.related(style.words("left").rstrip(), ">=", style.fraction(short))
        other = self._side(right, style.number(decimal(most)), style)
        return style.formula(style.related(left, ">", style.words("right") + other)) + self._where(claim, proof.round)

    def _side(self, exact: Fraction | None, rounded: str, style: Notation) -> str:
        """A side, with a sign of doubt where it is rounded."""
        return style.related("", "~", rounded).lstrip() if exact is None else style.fraction(exact)

    def _right_side(self, name: str) -> Fraction | None:
        """The right side of a claim about numbers, where it is proved to be a rational."""
        claim = next(each for each in self.instance.statement.claims if each.name == name)
        try:
            return _rational(enclose(claim.bound, self._numbers).plain)
        except (KeyError, UndecidedError, ArithmeticError):
            return None

    def _rounded(self, style: Notation) -> list[str]:
        """Both sides with as many digits as tell them apart."""
        worst, proof = self.verdict.worst, self._proof
        if proof.left is not None and proof.right is not None:
            sides = [decimal(side.middle) for side in (proof.left, proof.right)]
        else:
            assert worst is not None
            sides = [worst.left, worst.right]
        for digits in range(DIGITS, 17):
            texts = [style.number(side, digits) for side in sides]
            if texts[0] != texts[1]:
                break
        return texts

    def _where(self, name: str, t: int | None = None) -> str:
        """The claim and the round, where there are several."""
        claims, vocabulary = self.instance.statement.claims, self.instance.statement.vocabulary
        over = next((claim.metric.over for claim in claims if claim.name == name), None)
        T = self.verdict.values.get(vocabulary.run.get("rounds", ""), 1)
        parts = [f"claim {name!r}"] * (len(claims) > 1)
        parts += [f"round {t}"] * (t is not None and T > 1 and over is not Over.NO_RUN)
        return f" ({', '.join(parts)})" if parts else ""


# --- Functions ---


def _functions(instance: Instance, style: Notation) -> list[str]:
    """The clients' functions, equal ones together; of statements that have none the vectors, or nothing."""
    problem, statement = instance.problem, instance.statement
    if statement.algorithm is None and problem.quadratic is not None:
        alone = all(claim.metric.over is Over.NO_RUN for claim in statement.claims)
        return together("X", "", [style.listed(row) for row in (-problem.quadratic.g).tolist()], style) if alone else []
    facts = statement.vocabulary.facts
    return problem.sentence(
        style, {name: fact for name, fact in facts.items() if fact in NOISE and np.any(instance.given.get(name, 0.0))}
    )


# --- Participation ---

_IN_ORDER = {
    Assumption.CYCLIC_BLOCKS: "in every round in a fixed order",
    Assumption.RESHUFFLED_BLOCKS: "in every round in an order drawn anew in each epoch",
}


def _taking_part(instance: Instance, verdict: Verdict, style: Notation) -> str:
    """The participants, where there is a choice."""
    n, run = instance.problem.n, instance.statement.vocabulary.run
    graph = (
        default_graph(instance.statement, method_of(instance.statement), n)
        if instance.participation is None and n > 1
        else None
    )
    pattern = instance.participation or graph
    if pattern is None:
        size, assumed = verdict.values.get(run.get("participants", "")), instance.statement.assumptions
        how = next((words for law, words in _IN_ORDER.items() if law in assumed), "drawn in every round")
        return "" if size is None or n in (1, size) else f"{counted(int(size))} of them {how}"
    said, T = pattern.sentence(style), int(verdict.values.get(run.get("rounds", ""), 0))
    return f"{said}, {clients(range(1, n + 1), n)} in round {T}" if said and _ends(pattern, verdict, T) else said


def _ends(pattern: Participation, verdict: Verdict, T: int) -> bool:
    """Whether delays count on everybody after the last round of a trace, which is the run's."""
    matrix = pattern.matrix
    ended = matrix is not None and len(matrix) == T and not matrix.all()
    return ended and any(constant.reason == COUNTED for constant in verdict.constants.values())


# --- Numbers ---


def _count(n: int) -> str:
    return f"{counted(n)} client{'s' * (n != 1)}"


def _rational(value: Number | None) -> Fraction | None:
    """The rational that a number is proved to be, where it is a short one."""
    if value is None or not (enclosure := Enclosure.of(value)).exact or not is_short(enclosure.low):
        return None
    return enclosure.low


def _listed(value: object, style: Notation) -> str:
    """A given number, or one per client."""
    numbers = [style.given(x) for x in np.ravel(np.asarray(value, dtype=float)).tolist()]
    return numbers[0] if np.ndim(value) == 0 else f"({', '.join(numbers)})"  # type: ignore[arg-type]
