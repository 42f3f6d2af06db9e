"""What a study is: figures made of curves, and claims about them; loaded from a TOML file.

    name = "..."                    # names the results folder and enters every seed
    seed = 0
    level = 0.05                    # error budget of all the study's intervals together
    metric = {G_u = 1, G_v = 1}     # weights of the recorded per-round quantities, or of losses and errors (MEASURES),
                                    # or "theorem": what the method's theorems bound
    chosen = ["..."]                # what the paper leaves open and the study decides: printed with what is found
    theorems = ["..."]              # statements of the catalogue; each is evaluated on the curves of its algorithm
    [participation] NAME = "..."    # patterns by the paper's names, as text or as a table with its kind
    [local_steps] NAME = [1, 5, 2]  # unequal numbers of local steps, one per client, or {least, most, seed}: drawn once
    [steady]  window, tolerance     # last share of the rounds, and the drift within it that is put up with
    [quick]   rounds, replicates    # share of the rounds and number of replicates of a smoke test
    [problem] name and parameters; [run] algorithm, participation, m, K, T, replicates, sigmas, step sizes
    [[figure]] name, title, vary, values, x, admissible, and its own `run` and `problem`, which override the tables
               above; or name, title, x and `runs`, another figure whose curves are drawn again; either with its own
               metric and theorems or those of the study
    [[claim]]  name, figure or figures, says, source, kind and what the kind needs

A list in `run` or `problem` gives one value per curve. With ``gamma`` given, gamma_x = gamma / eta_x. With
``admissible = true``, or a table with the number of ``replicates``, a figure's curves are repeated at step sizes that a
theorem admits (`ratecheck.studies.admissible`).
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
from ratecheck.problems.build import KINDS, parameters
from ratecheck.studies.extending import read_study
from ratecheck.studies.reading import Fields

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# A study is about no statement, so it takes the symbols that the papers build on; its file may give another.
_LATEX = {quantity.name: quantity.latex for quantity in COMMON}
_STEP_SIZES = tuple(sorted({name for method in METHODS.values() for name in method.step_sizes}))
_NOISES = tuple(dict.fromkeys(name for kind in KINDS.values() for name in kind.noises))
_RUN_KEYS = ("algorithm", "participation", "m", "K", "T", "replicates", "gamma", *_NOISES, *_STEP_SIZES)
# What problems add to the records of a method.
_OF_PROBLEMS = ("f", "gap", "distance2", "Phi_gap", "Phi_w_gap")
_RECORDED = tuple(
    dict.fromkeys((*RECORDS, *(name for each in METHODS.values() for name in each.algorithm.recorded), *_OF_PROBLEMS))
)
# In the place of weights: the quantity that the theorems on a curve's method bound.
_THEOREM = "theorem"
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
    """What a claim compares; the values are those of the study file.

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
    says who takes part, as `participation_of` reads it, ``steps`` how many local steps each client takes, as
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
        """Whether it compares steady states."""
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
    top = read_study(path)
    name = _checked_name(top, "name")
    steady, quick = top.fields("steady"), top.fields("quick")
    weights, metric = _weights(top), top.text("metric_name", "metric")
    study = Study(
        path=str(path),
        name=name,
        title=top.text("title", name),
        seed=top.whole("seed", 0, least=0),
        level=top.number("level", 0.05, above=0, below=1),
        weights=weights,
        metric=metric,
        window=steady.number("window", 0.4, above=0, below=1),
        tolerance=steady.number("tolerance", 0.1, above=0),
        quick_rounds=quick.number("rounds", 0.1, above=0, below=1),
        quick_replicates=quick.whole("replicates", 4, least=2),
        figures=_figures(top, weights, metric),
        claims=(),
        chosen=top.texts("chosen"),
        theorems=tuple(_statement(top, key) for key in top.texts("theorems")),
    )
    study = replace(study, claims=tuple(_claim(fields, study) for fields in top.each("claim", named_by="name")))
    comparisons = sum(len(pairs(claim, study)) * max(len(claim.levels), 1) for claim in study.claims)
    # What is drawn again has the intervals that it has.
    own = sum(curve.figure == curve.runs for curve in study.curves)
    own += sum(len(figure.curves) for figure in study.figures if figure.admissible)
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


def _weights(top: Fields) -> dict[str, float] | None:
    if isinstance(top.data.get("metric"), str):
        top.word("metric", [_THEOREM])
        return None
    metric = top.fields("metric")
    weights = {name: metric.number(name, 0.0, least=0) for name in (*_RECORDED, *MEASURES)}
    metric.finish()
    if not any(weights.values()):
        raise top.error("metric", f"give the weight of at least one of {', '.join(RECORDS)}, such as {{G_u = 1}}")
    return {name: weight for name, weight in weights.items() if weight}


def _figures(top: Fields, weights: Mapping[str, float] | None, metric: str) -> tuple[Figure, ...]:
    run, problem = top.table("run"), top.table("problem")
    named = _Named(top.table("participation"), top.table("local_steps"))
    found: list[Figure] = []
    for fields in top.each("figure", named_by="name"):
        name = _checked_name(fields, "name")
        if name == TOGETHER:
            raise fields.error("name", f"{name!r} is the file of all figures together; take another")
        again = "runs" in fields.data
        figure = _again(fields, name, found) if again else _figure(fields, name, run, problem, named)
        own = "metric" in fields.data
        weights_here = _weights(fields) if own else figure.weights if again else weights
        called = " + ".join(weights_here or ("metric",)) if own else figure.metric if again else metric
        metric_here = fields.text("metric_name", called)
        theorems = figure.theorems
        if "theorems" in fields.data:
            theorems = tuple(_statement(fields, key) for key in fields.texts("theorems"))
        fields.finish()
        found.append(replace(figure, weights=weights_here, metric=metric_here, theorems=theorems))
    if not found:
        raise top.error("figure", "the study has none; give at least one [[figure]]")
    _check_repeated(top, found)
    return tuple(found)


def _check_repeated(top: Fields, figures: Sequence[Figure]) -> None:
    for figure in figures:
        name = figure.name + ADMISSIBLE
        if figure.admissible and any(other.name == name for other in figures):
            raise top.error("figure", f"{name!r} is {figure.name!r} at admissible step sizes; take another name")
        if figure.admissible and "theorems" not in top.data:
            raise top.error("figure", f"{figure.name!r} is admissible = true; list the theorems that say what is")


def _again(fields: Fields, name: str, others: Sequence[Figure]) -> Figure:
    """The curves of a figure above, drawn against something else."""
    runs = fields.word("runs", [figure.name for figure in others])
    figure = next(figure for figure in others if figure.name == runs)
    title, axis = fields.text("title", figure.title), _axis(fields)
    curves = tuple(replace(curve, figure=name) for curve in figure.curves)
    return replace(figure, name=name, title=title, axis=axis, curves=curves, admissible=0)


def _axis(fields: Fields) -> HorizontalAxis:
    return HorizontalAxis(fields.word("x", [axis.value for axis in HorizontalAxis], HorizontalAxis.ROUNDS.value))


@dataclass(frozen=True)
class _Named:
    """What the file gives names to: patterns of participation, and unequal numbers of local steps."""

    patterns: Mapping[str, Any]
    local_steps: Mapping[str, Any]

    def steps(self, run: Fields) -> tuple[int | str, int | Sequence[int] | Mapping[str, Any]]:
        """``K``, and what it stands for."""
        K = run.data.get("K")
        if isinstance(K, str):
            name = run.word("K", self.local_steps)
            return name, self.local_steps[name]
        return (number := run.whole("K")), number


def _figure(fields: Fields, name: str, run: Mapping[str, Any], problem: Mapping[str, Any], named: _Named) -> Figure:
    vary, values = fields.text("vary"), fields.items("values")
    own, own_problem = fields.table("run"), fields.table("problem")
    run = {**run, **own}
    # Another problem has other parameters.
    problem = own_problem if "name" in own_problem else {**problem, **own_problem}
    tables = _Tables(fields, vary, run, problem, len(values))
    title, latex = fields.text("title", name), fields.text("symbol", _LATEX.get(vary, rf"\mathrm{{{vary}}}"))
    axis = _axis(fields)
    curves = tuple(_curve(tables, name, latex, k, value, named) for k, value in enumerate(values))
    names = [curve.name for curve in curves]
    if len(set(names)) < len(names):
        raise fields.error("values", "one is given twice")
    admissible = _repetitions(fields, max(curve.replicates for curve in curves))
    return Figure(
        name=name, title=title, vary=vary, axis=axis, curves=curves, weights=None, metric="", admissible=admissible
    )  # fmt: skip


def _repetitions(fields: Fields, replicates: int) -> int:
    """At most how many replicates at admissible step sizes: 0 for none, by default as many as there are."""
    if not isinstance(fields.data.get("admissible"), dict):
        return replicates if fields.yes("admissible") else 0
    own = fields.fields("admissible")
    found = own.whole("replicates", replicates, least=2)
    own.finish()
    return found


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


def _curve(tables: _Tables, figure: str, latex: str, k: int, value: Any, named: _Named) -> Curve:
    run, problem = tables.pick(k, value)
    shown = value if isinstance(value, str) else f"{value:g}" if isinstance(value, (int, float)) else str(value)
    algorithm, participation = run.word("algorithm", METHODS), run.text("participation", "uniform")
    K, steps = named.steps(run)
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
        pattern=named.patterns.get(participation, participation),
        m=run.whole("m"),
        K=K,
        steps=steps,
        T=run.whole("T"),
        replicates=run.whole("replicates", 16, least=2),  # one run has no confidence interval
        noise={name: run.number(name, least=0) for name in _NOISES if name in run.data},
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
    return value if vary in ("participation", "K") else f"{vary}: {value}"


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
        targets=_targets(fields, len(over)) if kind is ClaimKind.ROUNDS else (),
        factor=fields.number("factor", 1.0, above=0) if effect is Effect.BETTER else 1.0,
        average=fields.flag("average"),
        most=fields.flag("most"),
    )
    if claim.average and claim.most:
        raise fields.error(
            "most", "average is given too: a claim is about the mean of its ratios or about most figures"
        )
    fields.finish()
    _check_values(fields, claim, study)
    return claim


def _targets(fields: Fields, figures: int) -> tuple[float, ...]:
    """One number per figure."""
    given = fields.items("targets")
    values = tuple(Fields({"targets": value}, fields.place).number("targets", above=0) for value in given)
    if len(values) not in (1, figures):
        raise fields.error("targets", f"{len(values)} numbers for {figures} figures; give one, or one per figure")
    return values * (figures if len(values) == 1 else 1)


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
