"""What a study is: figures made of curves, and claims about them; loaded from a TOML file.

    name = "..."                    # names the results folder and enters every seed
    seed = 0
    level = 0.05                    # error budget of all the study's intervals together
    metric = {G_u = 1, G_v = 1}     # weights of the recorded per-round quantities
    chosen = ["..."]                # what the paper leaves open and the study decides: printed with what is found
    theorems = ["..."]              # statements of the catalogue; each is evaluated on the curves of its algorithm
    [participation] NAME = "..."    # patterns by the paper's names, as text or as a table with its kind
    [steady]  window, tolerance     # last share of the rounds, and the drift within it that is put up with
    [quick]   rounds, replicates    # share of the rounds and number of replicates of a smoke test
    [problem] name and parameters; [run] algorithm, participation, m, K, T, replicates, sigma_u, sigma_v, step sizes
    [[figure]] name, title, vary, values, x, and its own `run` and `problem`, which override the tables above;
               or name, title, x and `runs`, another figure whose curves are drawn again
    [[claim]]  name, figure or figures, says, source, kind and what the kind needs

A list in `run` or `problem` gives one value per curve. With ``gamma`` given, gamma_x = gamma / eta_x.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import combinations, product
from pathlib import Path
from typing import Any

import bounds
from bounds.statement import Statement
from bounds.symbols import COMMON
from ratecheck.algorithms import METHODS
from ratecheck.algorithms.algorithm import RECORDS
from ratecheck.errors import InputError, did_you_mean
from ratecheck.problems.build import parameters
from ratecheck.studies.reading import Fields, read_toml

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# A study is about no statement, so it takes the symbols that the papers build on; its file may give another.
_LATEX = {quantity.name: quantity.latex for quantity in COMMON}
_STEP_SIZES = tuple(sorted({name for method in METHODS.values() for name in method.step_sizes}))
_RUN_KEYS = ("algorithm", "participation", "m", "K", "T", "replicates", "sigma_u", "sigma_v", "gamma", *_STEP_SIZES)
_LEAST_ROUNDS = 20
# The name under which all figures are drawn together.
TOGETHER = "all"


class ClaimKind(Enum):
    """What a claim compares; the values are those of the study file.

    ``ERROR``: the steady-state mean of the metric. ``SPEED``: how soon, along the figure's x, the metric falls to given
    shares of its start. ``BELOW``: the steady-state mean of one figure's curves against those of another with the same
    varied value. ``MEAN``: the mean over all rounds, which theorems bound. ``LAST``: the mean over the last window,
    steady or not. ``UNREST``: the mean of |log of the metric in a round / in the round before| over that window.
    """

    ERROR = "steady-state"
    SPEED = "speed"
    BELOW = "below"
    MEAN = "mean"
    LAST = "last"
    UNREST = "unrest"


class Effect(Enum):
    """What happens as the varied quantity grows, or how the curves named stand to those that they are set against.

    ``BOUNDED``: there is no rise beyond the margin. Less is better: of the metric, of rounds, of unrest.
    """

    RISES = "rises"
    FALLS = "falls"
    NONE = "none"
    BOUNDED = "bounded"
    BETTER = "better"
    NO_WORSE = "no-worse"


_MARGINS = (Effect.NONE, Effect.BOUNDED, Effect.NO_WORSE)


class HorizontalAxis(Enum):
    """What a figure is drawn against, and speed counted in; the values are those of the study file.

    ``COMMUNICATION``: full-sized models that the participants of all rounds so far receive and send, on average.
    """

    ROUNDS = "rounds"
    COMMUNICATION = "communication"


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One cell of a study: one algorithm on one problem at one setting, ``replicates`` times.

    ``name`` is ``K=25``, ``label`` the same in the paper's symbols, ``value`` that of the varied quantity. ``pattern``
    says who takes part, as `participation_of` reads it. ``runs`` is the figure from which the seed has its name.
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
    K: int
    T: int
    replicates: int
    sigma_u: float
    sigma_v: float
    step_sizes: Mapping[str, float]

    @property
    def title(self) -> str:
        """Figure and curve."""
        return f"{self.figure} {self.name}"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Curves that differ in one quantity, ``vary``."""

    name: str
    title: str
    vary: str
    axis: HorizontalAxis
    curves: tuple[Curve, ...]


@dataclass(frozen=True, kw_only=True)
class StudyClaim:
    """One sentence about a figure that can come out true or false.

    ``effect`` is that on the error, or on the speed, as the figures' varied quantity grows (None for
    `ClaimKind.BELOW`); ``margin`` is the relative change that still counts as `Effect.NONE`, `Effect.BOUNDED` or
    `Effect.NO_WORSE`; with a ``power`` p it is the quantity / value^p of which the effect is claimed;
    ``levels`` are shares of the metric's start; ``than`` is the figure whose curves lie above. ``curves`` and
    ``against`` are values of the varied quantity: the ones are compared with the others, where they are given.
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

    @property
    def about_steady_state(self) -> bool:
        """Whether it compares steady states."""
        return self.kind in (ClaimKind.ERROR, ClaimKind.BELOW)

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of the figures that the claim is about."""
        return self.over if self.than is None else (*self.over, self.than)


@dataclass(frozen=True, kw_only=True)
class Study:
    """Everything in a study file, checked.

    ``weights`` make the metric from the recorded quantities; ``window`` is the share of the last rounds taken for the
    steady state, ``tolerance`` the relative drift within it that still counts as steady. ``intervals`` is how many
    intervals share the error budget ``level``: two per curve that is run and one per comparison of the whole file.
    """

    path: str
    name: str
    title: str
    seed: int
    level: float
    weights: Mapping[str, float]
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
        """The smoke test: fewer rounds and replicates, marked ``quick``."""
        shorter = self._with_curves(
            lambda curve: replace(
                curve,
                T=max(min(curve.T, _LEAST_ROUNDS), round(curve.T * self.quick_rounds)),
                replicates=self.quick_replicates,
            )
        )
        return replace(shorter, quick=True)

    def with_replicates(self, replicates: int) -> Study:
        """That many replicates of every curve."""
        return self._with_curves(lambda curve: replace(curve, replicates=replicates))

    def _with_curves(self, change: Callable[[Curve], Curve]) -> Study:
        figures = (replace(figure, curves=tuple(map(change, figure.curves))) for figure in self.figures)
        return replace(self, figures=tuple(figures))


def load(path: Path) -> Study:
    """Read and check a study file; raises `InputError` with one line that names the file and the key."""
    top = read_toml(path)
    name = _checked_name(top, "name")
    steady, quick = top.fields("steady"), top.fields("quick")
    weights = _weights(top)
    study = Study(
        path=str(path),
        name=name,
        title=top.text("title", name),
        seed=top.whole("seed", 0, least=0),
        level=top.number("level", 0.05, above=0, below=1),
        weights=weights,
        metric=top.text("metric_name", "metric"),
        window=steady.number("window", 0.4, above=0, below=1),
        tolerance=steady.number("tolerance", 0.1, above=0),
        quick_rounds=quick.number("rounds", 0.1, above=0, below=1),
        quick_replicates=quick.whole("replicates", 4, least=2),
        figures=_figures(top),
        claims=(),
        chosen=top.texts("chosen"),
        theorems=tuple(_statement(top, key) for key in top.texts("theorems")),
    )
    study = replace(study, claims=tuple(_claim(fields, study) for fields in top.each("claim", named_by="name")))
    comparisons = sum(len(pairs(claim, study)) * max(len(claim.levels), 1) for claim in study.claims)
    # What is drawn again has the intervals that it has.
    own = sum(curve.figure == curve.runs for curve in study.curves)
    study = replace(study, intervals=2 * own + comparisons)
    for fields in (steady, quick, top):
        fields.finish()
    return study


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
    """Those of two different curves, each two once."""
    found: dict[frozenset[str], tuple[Curve, Curve]] = {}
    for first, second in chosen:
        if first is not second:
            found.setdefault(frozenset((first.title, second.title)), (first, second))
    return list(found.values())


def _statement(top: Fields, key: str) -> Statement:
    try:
        return bounds.get(key)
    except InputError as error:
        raise top.error("theorems", str(error)) from None


def _checked_name(fields: Fields, key: str) -> str:
    name = fields.text(key)
    if not _NAME.fullmatch(name):
        raise fields.error(key, f"{name!r} names files: letters, digits, '.', '_' and '-', no others")
    return name


def _weights(top: Fields) -> dict[str, float]:
    metric = top.fields("metric")
    weights = {name: metric.number(name, 0.0, least=0) for name in RECORDS}
    metric.finish()
    if not any(weights.values()):
        raise top.error("metric", f"give the weight of at least one of {', '.join(RECORDS)}, such as {{G_u = 1}}")
    return {name: weight for name, weight in weights.items() if weight}


def _figures(top: Fields) -> tuple[Figure, ...]:
    run, problem, patterns = top.table("run"), top.table("problem"), top.table("participation")
    found: list[Figure] = []
    for fields in top.each("figure", named_by="name"):
        name = _checked_name(fields, "name")
        if name == TOGETHER:
            raise fields.error("name", f"{name!r} is the file of all figures together; take another")
        found.append(
            _again(fields, name, found) if "runs" in fields.data else _figure(fields, name, run, problem, patterns)
        )
    if not found:
        raise top.error("figure", "the study has none; give at least one [[figure]]")
    return tuple(found)


def _again(fields: Fields, name: str, others: Sequence[Figure]) -> Figure:
    """The curves of a figure above, drawn against something else."""
    runs = fields.word("runs", [figure.name for figure in others])
    figure = next(figure for figure in others if figure.name == runs)
    title, axis = fields.text("title", figure.title), _axis(fields)
    fields.finish()
    curves = tuple(replace(curve, figure=name) for curve in figure.curves)
    return replace(figure, name=name, title=title, axis=axis, curves=curves)


def _axis(fields: Fields) -> HorizontalAxis:
    return HorizontalAxis(fields.word("x", [axis.value for axis in HorizontalAxis], HorizontalAxis.ROUNDS.value))


def _figure(
    fields: Fields, name: str, run: Mapping[str, Any], problem: Mapping[str, Any], patterns: Mapping[str, Any]
) -> Figure:
    vary, values = fields.text("vary"), fields.items("values")
    own, own_problem = fields.table("run"), fields.table("problem")
    run = {**run, **own}
    # Another problem has other parameters.
    problem = own_problem if "name" in own_problem else {**problem, **own_problem}
    tables = _Tables(fields, vary, run, problem, len(values))
    title, latex = fields.text("title", name), fields.text("symbol", _LATEX.get(vary, rf"\mathrm{{{vary}}}"))
    axis = _axis(fields)
    curves = tuple(_curve(tables, name, latex, k, value, patterns) for k, value in enumerate(values))
    names = [curve.name for curve in curves]
    if len(set(names)) < len(names):
        raise fields.error("values", "one is given twice")
    fields.finish()
    return Figure(name=name, title=title, vary=vary, axis=axis, curves=curves)


@dataclass(frozen=True)
class _Tables:
    """The `run` and `problem` tables of one figure, from which those of a curve are picked."""

    figure: Fields
    vary: str
    run: Mapping[str, Any]
    problem: Mapping[str, Any]
    curves: int

    def pick(self, k: int, value: object) -> tuple[Fields, Fields]:
        """The tables of curve k."""
        name = Fields(self.problem, f"{self.figure.place}: problem").text("name")
        picked = {
            which: self._column(which, table, k) for which, table in (("run", self.run), ("problem", self.problem))
        }
        # A name that is close to none of `run` is left to the problem, which knows its parameters.
        hint = did_you_mean(self.vary, _RUN_KEYS)
        if self.vary not in (*_RUN_KEYS, *parameters(name)) and not hint.startswith("known"):
            raise self.figure.error("vary", f"no setting {self.vary!r}; {hint}")
        picked["run" if self.vary in _RUN_KEYS else "problem"][self.vary] = value
        place = self.figure.place
        return Fields(picked["run"], f"{place}: run"), Fields(picked["problem"], f"{place}: problem")

    def _column(self, which: str, table: Mapping[str, Any], k: int) -> dict[str, Any]:
        for key, values in table.items():
            if isinstance(values, list) and len(values) != self.curves:
                problem = f"{key} lists {len(values)} values for {self.curves} curves; give one value or one per curve"
                raise self.figure.error(which, problem)
        return {key: values[k] if isinstance(values, list) else values for key, values in table.items()}


def _curve(tables: _Tables, figure: str, latex: str, k: int, value: Any, patterns: Mapping[str, Any]) -> Curve:
    run, problem = tables.pick(k, value)
    shown = value if isinstance(value, str) else f"{value:g}" if isinstance(value, (int, float)) else str(value)
    algorithm, participation = run.word("algorithm", METHODS), run.text("participation", "uniform")
    curve = Curve(
        figure=figure,
        runs=figure,
        name=f"{tables.vary}={shown}",
        label=_label(tables.vary, latex, value, shown),
        value=value,
        problem=problem.text("name"),
        parameters={name: value for name, value in problem.data.items() if name != "name"},
        algorithm=algorithm,
        participation=participation,
        pattern=patterns.get(participation, participation),
        m=run.whole("m"),
        K=run.whole("K"),
        T=run.whole("T"),
        replicates=run.whole("replicates", 16, least=2),  # one run has no confidence interval
        sigma_u=run.number("sigma_u", 0.0, least=0),
        sigma_v=run.number("sigma_v", 0.0, least=0),
        step_sizes=_step_sizes(run, algorithm),
    )
    run.finish(_RUN_KEYS)
    return curve


def _label(vary: str, latex: str, value: object, shown: str) -> str:
    """What the legend calls a curve: numbers in the paper's symbols, methods by title, patterns by name."""
    if not isinstance(value, str):
        return rf"${latex} = {shown}$"
    if vary == "algorithm":
        return METHODS[value].title
    return value if vary == "participation" else f"{vary}: {value}"


def _step_sizes(run: Fields, algorithm: str) -> dict[str, float]:
    """The method's step sizes, local ones from ``gamma`` where that is given: gamma_x = gamma / eta_x."""
    method = METHODS[algorithm]
    gamma = run.number("gamma", above=0) if "gamma" in run.data else None
    # Step sizes that only other figures' methods have do no harm.
    given = {name: run.number(name, above=0) for name in _STEP_SIZES if name in run.data}
    sizes = {name: given[name] for name in method.step_sizes if name in given}
    for name in method.step_sizes:
        outer = name.replace("gamma_", "eta_")
        if gamma is None or outer == name or outer not in sizes:
            continue
        if name in sizes:
            raise run.error(name, f"gamma is given too, and sets {name} = gamma / {outer}")
        sizes[name] = gamma / sizes[outer]
    try:
        method.resolve(sizes, 1)
    except InputError as error:
        raise InputError(f"{run.place}: {error}") from None
    return {**method.fixed, **sizes}


def _claim(fields: Fields, study: Study) -> StudyClaim:
    kind = ClaimKind(fields.word("kind", [kind.value for kind in ClaimKind]))
    below = kind is ClaimKind.BELOW
    named = "curves" in fields.data or "against" in fields.data
    ordered = (Effect.RISES, Effect.FALLS, Effect.NONE, Effect.BOUNDED)
    effects = (Effect.BETTER, Effect.NO_WORSE, Effect.NONE) if named else ordered
    effect = None if below else Effect(fields.word("effect", [effect.value for effect in effects]))
    over = fields.texts("figures") if "figures" in fields.data else (fields.text("figure"),)
    for each in over:
        Fields({"figure": each}, fields.place).word("figure", [figure.name for figure in study.figures])
    claim = StudyClaim(
        name=fields.text("name"),
        over=over,
        says=fields.text("says"),
        source=fields.text("source", ""),
        kind=kind,
        effect=effect,
        margin=fields.number("margin", 0.1, above=0) if effect in _MARGINS else 0.0,
        levels=fields.shares("levels", [0.01]) if kind is ClaimKind.SPEED else (),
        than=fields.word("than", [figure.name for figure in study.figures]) if below else None,
        curves=tuple(fields.items("curves")) if named else (),
        against=tuple(fields.items("against")) if named else (),
        power=fields.number("power", 0.0) if not named and not below else 0.0,
    )
    fields.finish()
    _check_values(fields, claim, study)
    return claim


def _check_values(fields: Fields, claim: StudyClaim, study: Study) -> None:
    for name in claim.over:
        values: list[Any] = [curve.value for curve in study.figure(name).curves]
        for key, named in (("curves", claim.curves), ("against", claim.against)):
            if wrong := [value for value in named if value not in values]:
                known = did_you_mean(str(wrong[0]), [str(value) for value in values])
                raise fields.error(key, f"figure {name!r} has no curve {wrong[0]!r}; {known}")
        if claim.power and any(isinstance(value, str) or value <= 0 for value in values):
            raise fields.error("power", f"figure {name!r} varies what has no powers")
        if not pairs(replace(claim, over=(name,)), study):
            why = "only one curve" if claim.than is None else f"no value in common with figure {claim.than!r}"
            raise fields.error("figure", f"nothing to compare: figure {name!r} has {why}")
