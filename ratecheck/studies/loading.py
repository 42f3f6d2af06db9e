"""A study from its file: tables that were checked one by one are put together, and checked against each other."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bounds
from bounds.statement import Statement
from bounds.symbols import COMMON
from ratecheck.algorithms import METHODS
from ratecheck.errors import InputError, did_you_mean, printable
from ratecheck.plain import picked
from ratecheck.problems.build import parameters
from ratecheck.studies.extending import read_study
from ratecheck.studies.reading import bare, checked, no_word, shown
from ratecheck.studies.schema import (
    NOISES,
    STEP_SIZES,
    AgainTable,
    ClaimTable,
    FigureTable,
    ProblemTable,
    RangeTable,
    RunSetting,
    RunTable,
    StudyTable,
)
from ratecheck.studies.study import ADMISSIBLE, ClaimKind, Curve, Effect, Figure, Study, StudyClaim, pairs

# Of what the powers of claims may be: within it they are numbers, and so are their inverses.
_LARGEST_LOGARITHM = math.log(1e300)
# A study is about no statement, so it takes the symbols that the papers build on; its file may give another.
_LATEX = {quantity.name: quantity.latex for quantity in COMMON}


def load(path: Path, theorems: Sequence[str | Path] = ()) -> Study:
    """Read and check a study file, which runs no Python but the files of ``theorems`` whose statements it names.

    Raises `InputError` with one line that names the file and the key.
    """
    place, own = printable(str(path)), _by_name(theorems)
    table = checked(StudyTable, read_study(path), place)
    study = Study(
        path=place,
        name=table.name,
        title=table.title or table.name,
        seed=table.seed,
        level=table.level,
        weights=table.metric or None,
        metric=table.metric_name,
        window=table.steady.window,
        tolerance=table.steady.tolerance,
        quick_rounds=table.quick.rounds,
        quick_replicates=table.quick.replicates,
        figures=_figures(table, place, own),
        claims=(),
        chosen=table.chosen,
        theorems=_statements(table.theorems, place, own),
    )
    claims = tuple(_claim(each, study) for each in table.claim)
    return replace(study, claims=claims, intervals=_intervals(study, claims))


def _intervals(study: Study, claims: Sequence[StudyClaim]) -> int:
    comparisons = sum(len(pairs(claim, study)) * max(len(claim.levels), 1) for claim in claims)
    # What is drawn again has the intervals that it has.
    own = sum(curve.figure == curve.runs for curve in study.curves)
    own += sum(len(figure.curves) for figure in study.figures if figure.admissible)
    return 2 * own + comparisons


def _by_name(files: Sequence[str | Path]) -> dict[str, str]:
    """Python files by what a study may call them: as they are given, or without their folder."""
    found: dict[str, str] = {}
    for file in map(str, files):
        if not file.endswith(bounds.own.SUFFIX):
            raise InputError(f"theorems: {file!r} is no Python file: give path/to/file.py")
        if found.setdefault(Path(file).name, file) != file:
            raise InputError(f"theorems: {found[Path(file).name]!r} and {file!r} have one name; a study needs two")
    return found | {str(file): str(file) for file in files}


def _statements(keys: Sequence[str], place: str, own: Mapping[str, str]) -> tuple[Statement, ...]:
    """Statements of the catalogue and of the files ``own``: the caller says which code runs, never the study."""
    try:
        return tuple(_statement(key, own) for key in keys)
    except InputError as error:
        raise InputError(f"{place}: theorems: {error}") from None


def _statement(key: str, own: Mapping[str, str]) -> Statement:
    if not bounds.own.is_own(key):
        return bounds.get(key)
    file, _ = bounds.own.split(key)
    if file not in own:
        raise InputError(f"{key!r}: a study runs no Python; allow the file where you run it, by --theorems {file}")
    return bounds.own.get(own[file] + key.removeprefix(file))


# Figures


def _figures(table: StudyTable, place: str, own: Mapping[str, str]) -> tuple[Figure, ...]:
    found: list[Figure] = []
    for each in table.figure:
        where = f"{place}: figure {each.name!r}"
        figure = _again(each, found, where) if isinstance(each, AgainTable) else _Curves.of(each, table, where).figure()
        found.append(_about(figure, each, where, own))
    if not found:
        raise InputError(f"{place}: figure: the study has none; give at least one [[figure]]")
    names = [figure.name for figure in found]
    for figure in found:
        if figure.admissible and (name := figure.name + ADMISSIBLE) in names:
            raise InputError(
                f"{place}: figure: {name!r} is {figure.name!r} at admissible step sizes; take another name"
            )
        if figure.admissible and not table.theorems:
            raise InputError(
                f"{place}: figure: {figure.name!r} is admissible = true; list the theorems that say what is"
            )
    return tuple(found)


def _about(figure: Figure, table: FigureTable | AgainTable, where: str, own: Mapping[str, str]) -> Figure:
    """The figure with the metric and theorems of its own, where it has some."""
    if table.metric is not None:
        figure = replace(figure, weights=table.metric or None, metric=" + ".join(table.metric or ("metric",)))
    if table.metric_name is not None:
        figure = replace(figure, metric=table.metric_name)
    if table.theorems is not None:
        figure = replace(figure, theorems=_statements(table.theorems, where, own))
    return figure


def _again(table: AgainTable, others: Sequence[Figure], where: str) -> Figure:
    """The curves of a figure above, drawn against something else."""
    named = {figure.name: figure for figure in others}
    if table.runs not in named:
        raise InputError(f"{where}: runs: {no_word(table.runs, [*named])}")
    figure = named[table.runs]
    curves = tuple(replace(curve, figure=table.name) for curve in figure.curves)
    title = table.title or figure.title
    return replace(figure, name=table.name, title=title, axis=table.x, curves=curves, admissible=0)


@dataclass(frozen=True)
class _Curves:
    """A figure of the study, at ``where`` in the file, and the tables from which those of its curves are picked."""

    table: FigureTable
    study: StudyTable
    where: str
    run: Mapping[str, Any]
    problem: Mapping[str, Any]

    @classmethod
    def of(cls, table: FigureTable, study: StudyTable, where: str) -> _Curves:
        """The figure's own tables override the study's; another problem has other parameters."""
        problem = table.problem if "name" in table.problem else {**study.problem, **table.problem}
        return cls(table, study, where, {**study.run, **table.run}, problem)

    def figure(self) -> Figure:
        """The figure, with the metric of the study."""
        texts = _texts(self.table.values)
        curves = tuple(self._curve(k, value, texts[k]) for k, value in enumerate(self.table.values))
        if len({curve.name for curve in curves}) < len(curves):
            raise InputError(f"{self.where}: values: one is given twice")
        admissible, replicates = self.table.admissible, max(curve.replicates for curve in curves)
        return Figure(
            name=self.table.name,
            title=self.table.title or self.table.name,
            vary=self.table.vary,
            axis=self.table.x,
            curves=curves,
            weights=self.study.metric or None,
            metric=self.study.metric_name,
            admissible=0 if admissible is None else admissible.replicates or replicates,
        )

    def _curve(self, k: int, value: Any, text: str) -> Curve:
        run, problem = self._pick(k, value)
        vary = self.table.vary
        return Curve(
            figure=self.table.name,
            runs=self.table.name,
            name=f"{vary}={text}",
            label=self._label(value, text),
            value=value,
            problem=problem.name,
            parameters=problem.model_extra or {},
            algorithm=run.algorithm,
            participation=run.participation,
            pattern=self.study.participation.get(run.participation, run.participation),
            m=run.m,
            K=run.K,
            steps=self._steps(run.K),
            T=run.T,
            replicates=run.replicates,
            noise=run.given(NOISES),
            step_sizes=_step_sizes(run, f"{self.where}: run"),
        )

    def _pick(self, k: int, value: object) -> tuple[RunSetting, ProblemTable]:
        """The tables of curve k."""
        vary, settings = self.table.vary, RunTable.model_fields
        run, problem = self._column("run", self.run, k), self._column("problem", self.problem, k)
        name = checked(ProblemTable, problem, f"{self.where}: problem").name
        # A name that is close to none of `run` is left to the problem, which knows its parameters.
        hint = did_you_mean(vary, settings)
        if vary not in (*settings, *parameters(name)) and not hint.startswith("known"):
            raise InputError(f"{self.where}: vary: no setting {shown(vary)}; {hint}")
        (run if vary in settings else problem)[vary] = value
        return (
            checked(RunTable, run, f"{self.where}: run"),
            checked(ProblemTable, problem, f"{self.where}: problem"),
        )

    def _column(self, which: str, table: Mapping[str, Any], k: int) -> dict[str, Any]:
        curves = len(self.table.values)
        for key, values in table.items():
            if isinstance(values, list) and len(values) != curves:
                problem = f"{bare(key)} lists {len(values)} values for {curves} curves; give one value or one per curve"
                raise InputError(f"{self.where}: {which}: {problem}")
        return {key: values[k] if isinstance(values, list) else values for key, values in table.items()}

    def _steps(self, K: int | str) -> int | Sequence[int] | Mapping[str, Any]:
        """The numbers of local steps that ``K`` stands for."""
        if isinstance(K, int):
            return K
        known = self.study.local_steps
        if K not in known:
            other = no_word(K, [*known]) if known else f"a number is needed, or a name in [local_steps], not {shown(K)}"
            raise InputError(f"{self.where}: run: K: {other}")
        steps = known[K]
        return steps.model_dump(exclude_unset=True) if isinstance(steps, RangeTable) else steps

    def _label(self, value: Any, text: str) -> str:
        """The label of a curve in the legend: numbers in the paper's symbols, methods by title, patterns by name."""
        vary = self.table.vary
        if not isinstance(value, str):
            latex = self.table.symbol or _LATEX.get(vary, rf"\mathrm{{{vary}}}")
            return f"${latex} = {text}$"
        if vary == "algorithm":
            return METHODS[value].title
        return value if vary in ("participation", "K") else f"{vary}: {value}"


def _texts(values: Sequence[Any]) -> list[str]:
    """The labels of the varied values: rounded to six digits, unless others round to the same."""
    short = [value if isinstance(value, str) else f"{value:g}" for value in values]
    alike = Counter(dict(zip(values, short, strict=True)).values())
    return [str(value) if alike[text] > 1 else text for value, text in zip(values, short, strict=True)]


def _step_sizes(run: RunSetting, where: str) -> dict[str, float]:
    """The method's step sizes, local ones from ``gamma`` where that is given: gamma_x = gamma / eta_x."""
    method = METHODS[run.algorithm]
    # Step sizes that only other figures' methods have do no harm.
    given = run.given(STEP_SIZES)
    sizes = {name: given[name] for name in method.step_sizes if name in given}
    for name in method.step_sizes:
        outer = name.replace("gamma_", "eta_")
        if run.gamma is None or outer == name or outer not in sizes:
            continue
        if name in sizes:
            raise InputError(f"{where}: {name}: gamma is given too, and sets {name} = gamma / {outer}")
        sizes[name] = run.gamma / sizes[outer]
    try:
        method.resolve(sizes, 1)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    # A number of local steps is no step size, and is checked where the run is put together.
    return {**{name: value for name, value in method.fixed.items() if name != "K"}, **sizes}


# Claims


def _claim(table: ClaimTable, study: Study) -> StudyClaim:
    where, figures = f"{study.path}: claim {shown(table.name)}", [figure.name for figure in study.figures]
    for key, names in (("figure", table.over), ("than", (table.than,) if table.than else ())):
        if unknown := next((name for name in names if name not in figures), None):
            raise InputError(f"{where}: {key}: {no_word(unknown, figures)}")
    effect = table.change
    claim = StudyClaim(
        **picked(table, "name", "over", "says", "source", "kind", "than", "curves", "against", "power"),
        **picked(table, "average", "most"),
        effect=effect,
        margin=table.margin if effect and effect.has_margin else 0.0,
        levels=table.levels if table.kind is ClaimKind.SPEED else (),
        targets=table.targets * (len(table.over) if len(table.targets) == 1 else 1),
        factor=table.factor if effect is Effect.BETTER else 1.0,
    )
    _check_values(claim, study, where)
    return claim


def _check_values(claim: StudyClaim, study: Study, where: str) -> None:
    for name in claim.over:
        values: list[Any] = [curve.value for curve in study.figure(name).curves]
        for key, named in (("curves", claim.curves), ("against", claim.against)):
            if wrong := [value for value in named if value not in values]:
                known = did_you_mean(str(wrong[0]), [str(value) for value in values])
                raise InputError(f"{where}: {key}: figure {name!r} has no curve {shown(wrong[0])}; {known}")
        if claim.power and any(isinstance(value, str) or value <= 0 for value in values):
            raise InputError(f"{where}: power: figure {name!r} varies what has no powers")
        if claim.power and (
            wrong := [value for value in values if not abs(claim.power * math.log(value)) < _LARGEST_LOGARITHM]
        ):
            raise InputError(f"{where}: power: {wrong[0]:g}^{claim.power:g} is beyond the range of numbers")
        if not pairs(replace(claim, over=(name,)), study):
            why = "only one curve" if claim.than is None else f"no value in common with figure {claim.than!r}"
            raise InputError(f"{where}: figure: nothing to compare: figure {name!r} has {why}")
