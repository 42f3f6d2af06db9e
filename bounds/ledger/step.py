"""A step of a proof: one claim that the paper prints, or makes between two printed lines, in checkable form.

The ledger of a paper is the tuple of its steps in printed order. A step says what is claimed, where, and how it is to
be checked; whether it holds is not written down but found by ``ratecheck audit``. What is transcribed is what is
printed, every intermediate line included, and not what ought to be there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeAlias

import sympy as sp

from bounds.errors import InputError
from bounds.ledger.vectors import Vector, dot, expanded, vectors
from bounds.ledger.written import WrittenOperation, value
from bounds.statement import Condition

Number: TypeAlias = Fraction | int | sp.Expr


class StepKind(Enum):
    """How a step is checked."""

    IDENTITY = "identity"
    SCALAR = "scalar"
    GRAM = "gram"
    COUNTING = "counting"
    EXPECTATION = "expectation"
    STANDARD = "standard"
    END_TO_END = "end-to-end"


# A side of a claim as it is given.
Side: TypeAlias = sp.Expr | WrittenOperation | int


class Scope(Enum):
    """How what is examined relates to the claim as it is printed."""

    AS_PRINTED = "as printed"
    STRONGER = "stronger"
    SPECIAL_CASE = "special case"
    MORE_ASSUMED = "more assumed"

    @property
    def covers(self) -> bool:
        """Whether a proof of what is examined is a proof of what is printed."""
        return self in (Scope.AS_PRINTED, Scope.STRONGER)


@dataclass(frozen=True, kw_only=True)
class _Sides:
    """Two sides, in products of named vectors; ``printed`` and ``given`` are sides and conditions as they were given.

    There they are `written.Written`, or have an `vectors.InnerProduct`, where SymPy would have simplified them.
    """

    left: sp.Expr
    right: sp.Expr
    printed: tuple[Side, Side] = field(init=False, compare=False, repr=False)
    given: tuple[Condition, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        lists = {name: getattr(self, name) for name in ("hypotheses", "conditions") if hasattr(self, name)}
        # What is no tuple of conditions is named by whoever reads the step.
        lists = {name: conditions for name, conditions in lists.items() if isinstance(conditions, tuple)}
        given = tuple(condition for conditions in lists.values() for condition in conditions)
        # A frozen object is completed once, while it is made.
        object.__setattr__(self, "printed", (self.left, self.right))
        object.__setattr__(self, "given", given)
        for name in ("left", "right"):
            side = value(getattr(self, name))
            object.__setattr__(self, name, sp.Integer(side) if isinstance(side, int) else expanded(side))
        for name, conditions in lists.items():
            object.__setattr__(self, name, tuple(map(_expanded, conditions)))

    @property
    def algebraic(self) -> Self:
        """The claim for all values: itself."""
        return self

    @property
    def supposed(self) -> tuple[Condition, ...]:
        """All that the claim supposes."""
        return ()


def _expanded(condition: Condition) -> Condition:
    if not isinstance(condition, Condition):
        return condition
    left, right = expanded(condition.left), expanded(condition.right)
    same = left is condition.left and right is condition.right
    return condition if same else replace(condition, left=left, right=right)


@dataclass(frozen=True, kw_only=True)
class Identity(_Sides):
    """``left == right`` between expressions in scalar symbols (roots allowed) or in inner products of `vectors`."""

    operator: ClassVar[str] = "=="
    kind: StepKind = StepKind.IDENTITY


@dataclass(frozen=True, kw_only=True)
class Scalar(_Sides):
    """``left <operator> right`` between scalar quantities wherever all ``hypotheses`` hold.

    The operator is ``<=``, ``<``, ``>=``, ``>`` or ``==``. The symbols' SymPy assumptions are hypotheses too: positive,
    nonnegative, and integer with positive for whole numbers from 1 on. What the proof has shown before about a
    quantity is a hypothesis: E <= ..., with E a symbol.
    """

    operator: str
    hypotheses: tuple[Condition, ...] = ()
    kind: StepKind = StepKind.SCALAR

    @property
    def supposed(self) -> tuple[Condition, ...]:
        return self.hypotheses

    def put(self, values: Mapping[sp.Symbol, sp.Expr]) -> Scalar:
        """The claim and its hypotheses with expressions in place of symbols."""
        left, right = (sp.sympify(side).xreplace(values) for side in (self.left, self.right))
        return replace(self, left=left, right=right, hypotheses=tuple(each.put(values) for each in self.hypotheses))


@dataclass(frozen=True, kw_only=True)
class Gram(_Sides):
    """``left <operator> right`` (``<=``, ``>=`` or ``==``) for all vectors: both sides linear in inner products.

    Inner products are written with `bounds.ledger.vectors`. ``hypotheses`` are such inequalities too, as conditions
    (smoothness: ||g - h||^2 <= L^2*||x - y||^2), ``conditions`` restrict the scalar coefficients. Random vectors are
    covered: take expectations of both sides.
    """

    operator: str
    hypotheses: tuple[Condition, ...] = ()
    conditions: tuple[Condition, ...] = ()
    kind: StepKind = StepKind.GRAM

    @property
    def supposed(self) -> tuple[Condition, ...]:
        return (*self.hypotheses, *self.conditions)


@dataclass(frozen=True, kw_only=True)
class Matrices:
    """Every participation matrix (T rounds, N clients) of these sizes; see `bounds.ledger.participation`."""

    clients: tuple[int, ...] = (1, 2, 3)
    rounds: tuple[int, ...] = (1, 2, 3, 4)


@dataclass(frozen=True, kw_only=True)
class Draws:
    """So many random rational instances; see `bounds.ledger.draw`. All expectations in them are exact."""

    count: int = 60


@dataclass(frozen=True, kw_only=True)
class Enumerated:
    """``left <operator> right`` for all pairs that ``sides(instance, **constants)`` returns, exactly.

    ``sides`` computes both sides in rational arithmetic (or with SymPy numbers where there are roots or logarithms)
    from a `participation.Participation` or a `draw.Draw`; it may return one pair or many, and None to pass over an
    instance outside the hypotheses. ``constants`` are the printed constants and exponents of the claim, by a name of
    one's own: the function takes them as arguments, so that the check of the check can change them.

    ``form``, a function of the same constants, is the same claim for all values, such as a `Gram` written with
    `bounds.ledger.families` for every number of clients. Where it is proved so is the claim; instances still refute it.
    """

    kind: StepKind
    sides: Callable[..., Any]
    operator: str
    instances: Matrices | Draws
    constants: Mapping[str, Number] = field(default_factory=dict)
    form: Callable[..., Algebraic] | None = None

    @property
    def algebraic(self) -> Algebraic | None:
        """The claim for all values, with its constants as they are; None where only instances are known."""
        return None if self.form is None else self.form(**{c: sp.sympify(x) for c, x in self.constants.items()})


Algebraic = Identity | Scalar | Gram
Check = Identity | Scalar | Gram | Enumerated


def scalar_of(check: Algebraic) -> Scalar:
    """A claim about numbers or vectors with all that it supposes as hypotheses, inner products being numbers."""
    if isinstance(check, Scalar):
        return check
    return Scalar(left=check.left, operator=check.operator, right=check.right, hypotheses=check.supposed)


@dataclass(frozen=True, kw_only=True)
class Step:
    """One claim.

    ``id`` is ``<paper>/<part of the proof>-<number>``, such as ``pfl/lemma-3.5-3``; ``location`` carries the printed
    numbers ("Lemma 3.5, eq. (A.5), second line"), ``claim`` is the claim in plain characters as printed, ``of`` the key
    of the statement whose proof it belongs to. ``repaired`` is what holds in its place where ``check`` fails, if the
    proof can be mended here, and ``repair`` says in words what was changed. ``remark`` is for the reader: what a symbol
    stands for, where the text is unclear. What kind of fault a false step is stands in `bounds.ledger.fault`.

    ``scope`` is a reader's judgement of what holds, ``check`` or else ``repaired``, beside the printed line. Where
    it does not cover that line, ``narrower`` says in a few words what is special or assumed ("one dimension", "f
    convex"), and the step is never called proved. Raises `InputError` where one is given without the other.
    """

    id: str
    location: str
    claim: str
    of: str
    check: Check
    repaired: Check | None = None
    repair: str = ""
    remark: str = ""
    scope: Scope = Scope.AS_PRINTED
    narrower: str = ""

    def __post_init__(self) -> None:
        if self.scope.covers == bool(self.narrower):
            what = f"narrower is {self.narrower!r} and scope {self.scope.value!r}"
            raise InputError(
                f"{what}: say in a few words what is special or assumed where, and only where, less than the printed "
                f"claim is examined, which is {Scope.SPECIAL_CASE.value!r} or {Scope.MORE_ASSUMED.value!r}"
            )

    @property
    def kind(self) -> StepKind:
        """How the claim is checked."""
        return self.check.kind


def below(left: sp.Expr, right: sp.Expr, name: str = "") -> Condition:
    """The hypothesis ``left <= right``."""
    return Condition(name=name or f"{left} <= {right}", left=sp.sympify(left), operator="<=", right=sp.sympify(right))


def above(left: sp.Expr, right: sp.Expr, name: str = "") -> Condition:
    """The hypothesis ``left >= right``."""
    return Condition(name=name or f"{left} >= {right}", left=sp.sympify(left), operator=">=", right=sp.sympify(right))


def equal(left: sp.Expr, right: sp.Expr, name: str = "") -> Condition:
    """The hypothesis ``left == right``."""
    return Condition(name=name or f"{left} == {right}", left=sp.sympify(left), operator="==", right=sp.sympify(right))


def positive(expr: sp.Expr, name: str = "") -> Condition:
    """The hypothesis ``expr > 0``, such as for a Young parameter."""
    return Condition(name=name or f"{expr} > 0", left=sp.sympify(expr), operator=">", right=sp.Integer(0))


def together(*claims: Scalar) -> Scalar:
    """Several claims with <= or >= as one: added up with any weights >= 0, which holds just if each of them does."""
    weights = [sp.Symbol(f"weight_{number}", nonnegative=True) for number in range(1, len(claims) + 1)]
    sides = [(c.left, c.right) if c.operator == "<=" else (c.right, c.left) for c in claims]
    return Scalar(
        left=sp.Add(*(weight * left for weight, (left, _) in zip(weights, sides, strict=True))),
        operator="<=",
        right=sp.Add(*(weight * right for weight, (_, right) in zip(weights, sides, strict=True))),
        hypotheses=tuple(dict.fromkeys(h for c in claims for h in c.hypotheses)),
    )


def equations(*pairs: tuple[Vector, Vector]) -> Identity:
    """Each left is its right: ``sum_k <p_k, left_k> = sum_k <p_k, right_k>`` for any vectors p_k."""
    probes = [vectors(f"any_{k}")[0] for k in range(1, len(pairs) + 1)]
    left, right = (sp.Add(*(dot(p, pair[turn]) for p, pair in zip(probes, pairs, strict=True))) for turn in (0, 1))
    return Identity(left=left, right=right)
