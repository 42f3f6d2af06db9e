"""A study: figures made of curves, and claims about them; `ratecheck.studies.loading` reads one from a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import combinations, product
from typing import Any

from bounds.statement import Statement
from ratecheck.errors import InputError, did_you_mean

_LEAST_ROUNDS = 20
MEASURES = ("loss_global", "loss_personal", "loss_gap", "error_global", "error_personal")
"""Of logistic models, beside what methods record: ``loss`` is the mean of f_i over the clients, at the server's model
(``global``) or each at its own (``personal``), ``gap`` the distance of the two; ``error`` is the share of test samples
on the wrong side, one on the border counted half, or of the training samples where the problem holds none out."""
# The name under which all figures are drawn together.
TOGETHER = "all"
# What follows the name of a figure whose curves are repeated at admissible step sizes.
ADMISSIBLE = "-admissible"


class ClaimKind(Enum):
    """The kind of a claim; the values are those of the study file.

    ``ERROR``: the steady-state mean of the metric. ``SPEED``: how soon, along the figure's x, the metric falls to given
    shares of its start. ``BELOW``: the steady-state mean of one figure's curves against those of another with the same
    varied value. ``MEAN``: the mean over all rounds, which theorems bound. ``LAST``: the mean over the last window,
    steady or not. ``UNREST``: the mean of |log of the metric in a round / in the round before| over that window.
    ``LOWEST``: the least value of the metric in any round. ``ROUNDS``: whole rounds, or the communication of so many,
    until the metric is at a given number, the target.
    """

    ERROR = "steady-state"
    SPEED = "speed"
    BELOW = "below"
    MEAN = "mean"
    LAST = "last"
    UNREST = "unrest"
    LOWEST = "lowest"
    ROUNDS = "rounds"


class Effect(Enum):
    """The claimed effect of a larger varied quantity, or of the curves named against the others.

    ``BOUNDED``: there is no rise beyond the margin. Less is better: of the metric, of rounds, of unrest.
    """

    RISES = "rises"
    FALLS = "falls"
    NONE = "none"
    BOUNDED = "bounded"
    BETTER = "better"
    NO_WORSE = "no-worse"

    @property
    def has_margin(self) -> bool:
        """True of a claim that allows a relative change."""
        return self in (Effect.NONE, Effect.BOUNDED, Effect.NO_WORSE)


class HorizontalAxis(Enum):
    """The horizontal axis of a figure, in which speed is counted; the values are those of the study file.

    ``COMMUNICATION``: full-sized models that the participants of all rounds so far receive and send, on average.
    """

    ROUNDS = "rounds"
    COMMUNICATION = "communication"


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One cell of a study: one algorithm on one problem at one setting, ``replicates`` times.

    ``name`` is ``K=25``, ``label`` the same in the paper's symbols, ``value`` that of the varied quantity. ``pattern``
    is the participation, as `participation_of` reads it, ``steps`` how many local steps each client takes, as
    `local_steps_of` does. ``noise`` maps names of the problem's noises to total standard deviations. ``runs`` is the
    figure from which the seed has its name.
    """

    figure: str
    runs: str
    name: str
    label: str
    value: float | str
    problem: str
    parameters: Mapping[str, Any]
    algorithm: str
    participation: str
    pattern: str | Mapping[str, Any]
    m: int
    K: int | str
    steps: int | Sequence[int] | Mapping[str, Any]
    T: int
    replicates: int
    noise: Mapping[str, float]
    step_sizes: Mapping[str, float]

    @property
    def title(self) -> str:
        """Figure and curve."""
        return f"{self.figure} {self.name}"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Curves that differ in one quantity, ``vary``.

    ``weights`` make its metric, called ``metric``, from the recorded quantities; None: what the theorems on a curve's
    method bound. ``admissible`` is how many replicates there are at most of each curve's repetition at admissible step
    sizes, 0 where none is wanted. ``repeats`` is the figure whose curves these are at such step sizes, empty for one of
    the file.
    """

    name: str
    title: str
    vary: str
    axis: HorizontalAxis
    curves: tuple[Curve, ...]
    weights: Mapping[str, float] | None
    metric: str
    # Its own theorems; None: those of the study.
    theorems: tuple[Statement, ...] | None = None
    admissible: int = 0
    repeats: str = ""


@dataclass(frozen=True, kw_only=True)
class StudyClaim:
    """One sentence about a figure that can come out true or false.

    ``effect`` is that on the error, or on the speed, as the figures' varied quantity grows (None for
    `ClaimKind.BELOW`); ``margin`` is the relative change that still counts as `Effect.NONE`, `Effect.BOUNDED` or
    `Effect.NO_WORSE`; with a ``power`` p it is the quantity / value^p of which the effect is claimed;
    ``levels`` are shares of the metric's start; ``than`` is the figure whose curves lie above. ``curves`` and
    ``against`` are values of the varied quantity: the ones are compared with the others, where they are given.
    ``targets`` has a number for each figure of `ClaimKind.ROUNDS`. ``factor`` is by how much `Effect.BETTER` is
    better. With ``average`` the claim is about the mean of all its ratios, with ``most`` about more than half of its
    figures.
    """

    name: str
    over: tuple[str, ...]
    says: str
    source: str
    kind: ClaimKind
    effect: Effect | None
    margin: float
    levels: tuple[float, ...]
    than: str | None
    curves: tuple[Any, ...] = ()
    against: tuple[Any, ...] = ()
    power: float = 0.0
    targets: tuple[float, ...] = ()
    factor: float = 1.0
    average: bool = False
    most: bool = False

    @property
    def about_steady_state(self) -> bool:
        """True of a claim that compares steady states."""
        return self.kind in (ClaimKind.ERROR, ClaimKind.BELOW)

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of the figures that the claim is about."""
        return self.over if self.than is None else (*self.over, self.than)


@dataclass(frozen=True, kw_only=True)
class Study:
    """Everything in a study file, checked.

    ``weights`` and ``metric`` are those of figures that have none of their own; ``window`` is the share of the last
    rounds taken for the steady state, ``tolerance`` the relative drift within it that still counts as steady.
    ``intervals`` is how many intervals share the error budget ``level``: two per curve that is run and one per
    comparison of the whole file.
    """

    path: str
    name: str
    title: str
    seed: int
    level: float
    weights: Mapping[str, float] | None
    metric: str
    window: float
    tolerance: float
    quick_rounds: float
    quick_replicates: int
    figures: tuple[Figure, ...]
    claims: tuple[StudyClaim, ...]
    chosen: tuple[str, ...] = ()
    theorems: tuple[Statement, ...] = ()
    intervals: int = 1
    quick: bool = False

    @property
    def curves(self) -> tuple[Curve, ...]:
        """All curves of all figures."""
        return tuple(curve for figure in self.figures for curve in figure.curves)

    def measures_models(self, curve: Curve) -> bool:
        """Whether a figure that shows the curve's run is about losses or errors of the models."""
        shown = (figure for figure in self.figures if figure.curves[0].runs == curve.runs)
        return any(name in MEASURES for figure in shown for name in figure.weights or ())

    def figure(self, name: str) -> Figure:
        """The figure of that name; raises `InputError` for an unknown one."""
        for figure in self.figures:
            if figure.name == name:
                return figure
        raise InputError(f"{self.path}: no figure {name!r}; {did_you_mean(name, [f.name for f in self.figures])}")

    def only(self, names: Iterable[str]) -> Study:
        """The named figures, and the claims that speak of no others."""
        wanted = {self.figure(name).name for name in names}
        return replace(
            self,
            figures=tuple(figure for figure in self.figures if figure.name in wanted),
            claims=tuple(claim for claim in self.claims if wanted.issuperset(claim.figures)),
        )

    def shortened(self) -> Study:
        """The smoke test: fewer rounds and replicates, one figure repeated at admissible step sizes; ``quick``."""
        shorter = self._with_curves(
            lambda curve: replace(
                curve,
                T=max(min(curve.T, _LEAST_ROUNDS), round(curve.T * self.quick_rounds)),
                replicates=self.quick_replicates,
            )
        )
        repeated = [figure.name for figure in self.figures if figure.admissible][:1]
        figures = (figure if figure.name in repeated else replace(figure, admissible=0) for figure in shorter.figures)
        return replace(shorter, figures=tuple(figures), quick=True)

    def with_replicates(self, replicates: int) -> Study:
        """The study with so many replicates of every curve."""
        return self._with_curves(lambda curve: replace(curve, replicates=replicates))

    def _with_curves(self, change: Callable[[Curve], Curve]) -> Study:
        figures = (replace(figure, curves=tuple(map(change, figure.curves))) for figure in self.figures)
        return replace(self, figures=tuple(figures))


def pairs(claim: StudyClaim, study: Study) -> list[tuple[Curve, Curve]]:
    """Every pair of curves that the claim implies a comparison of.

    With ``curves`` and ``against`` (one of the former, one of the latter) of the same figure; for `ClaimKind.BELOW`
    (lower, upper); else (curve of the smaller value, curve of the larger), words in the order of the file.
    """
    found = []
    for name in claim.over:
        curves = study.figure(name).curves
        if claim.than is not None:
            found += [(low, up) for low in curves for up in study.figure(claim.than).curves if low.value == up.value]
        elif claim.curves:
            named, others = ([c for c in curves if c.value in part] for part in (claim.curves, claim.against))
            found += _apart(product(named, others))
        else:
            words = any(isinstance(curve.value, str) for curve in curves)
            found += list(combinations(curves if words else sorted(curves, key=lambda curve: curve.value), 2))
    return found


def _apart(chosen: Iterable[tuple[Curve, Curve]]) -> list[tuple[Curve, Curve]]:
    """Pairs of two different curves, each pair once."""
    found: dict[frozenset[str], tuple[Curve, Curve]] = {}
    for first, second in chosen:
        if first is not second:
            found.setdefault(frozenset((first.title, second.title)), (first, second))
    return list(found.values())
