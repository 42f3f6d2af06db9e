"""``rc.plot``, ``rc.plot_region`` and ``rc.plot_participation``, the commands ``plot``, ``plot --rates`` and others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from bounds.ledger.refuted import refuted_fields
from bounds.statement import Statement
from ratecheck.api.checks.rates import RatesResult, made_card
from ratecheck.api.checks.verify import saved_instance
from ratecheck.api.given import Parameter, Parameters, StatementLike, names, one, warning
from ratecheck.api.given import parameters as numbers
from ratecheck.api.result import DrawnResult, Result, target
from ratecheck.errors import InputError
from ratecheck.exponents.curves import against, curves
from ratecheck.exponents.sweep import SweepSurvey, affordable, check_valued, drawn, rounds_of, survey
from ratecheck.inputs import whole
from ratecheck.participation import Participation, delays
from ratecheck.participation.build import build
from ratecheck.settings.prepare import ProblemLike, prepare
from ratecheck.settings.setting import Options
from ratecheck.stepsizes.admissible import StepSizes, step_sizes
from ratecheck.stepsizes.nearest import Nearest, nearest
from ratecheck.stepsizes.region import Region, choose_axes, free_constants, region
from ratecheck.verification.instance import Instance
from ratecheck.views.checks.verdict import outcome_text
from ratecheck.views.drawing.participation import Attendance, attendance_figure, attendance_text
from ratecheck.views.drawing.plots import survey_fields, survey_figure, survey_text
from ratecheck.views.drawing.regions import marks, region_figure
from ratecheck.views.progress import progress
from ratecheck.views.theory.stepsizes import region_fields, region_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class PlotResult(DrawnResult):
    """Both sides of a statement over rounds and against what was varied; ``survey`` has the numbers."""

    survey: SweepSurvey

    def __str__(self) -> str:
        return survey_text(self.survey)

    def _headline(self) -> str:
        verdict = self.survey.verdict
        against = ", ".join(sweep.parameter for sweep in self.survey.sweeps)
        return f"{verdict.statement.key}: {outcome_text(verdict)}{f'; against {against}' if against else ''}"

    def _fields(self) -> dict[str, Any]:
        audit = refuted_fields(self.survey.verdict.statement)
        return {**survey_fields(self.survey), "file": self.file, "audit": audit}

    def _draw(self) -> Figure:
        return survey_figure(self.survey)


@dataclass(frozen=True, eq=False, repr=False)
class RegionResult(DrawnResult):
    """The region of two step sizes that a statement admits, with ``points`` such as the optimum by name.

    ``region`` is None where nothing is admissible whatever the step sizes. ``step_sizes`` is the answer whose step
    sizes are free, ``nearest`` what is admissible where the given ones are not.
    """

    step_sizes: StepSizes
    region: Region | None
    points: Mapping[str, Mapping[str, float]]
    nearest: Nearest | None

    def __str__(self) -> str:
        statement = self.step_sizes.statement
        text = "nothing is admissible" if self.region is None else region_text(self.region)
        return f"{statement.key}   {statement.title}\n{text}"

    def _headline(self) -> str:
        axes = "nothing is admissible" if self.region is None else f"({', '.join(self.region.axes)})"
        return f"{self.step_sizes.statement.key}: {axes}"

    def _fields(self) -> dict[str, Any]:
        drawn = {} if self.region is None else region_fields(self.region)
        return {"key": self.step_sizes.statement.key, **drawn, "points": self.points, "file": self.file}

    def _draw(self) -> Figure:
        if self.region is None:
            raise InputError(f"the feasible set is empty: {'; '.join(self.step_sizes.conflict)}")
        return region_figure(self.step_sizes, self.region, self.points, self.nearest)

    def _repr_html_(self) -> str:
        return Result._repr_html_(self) if self.region is None else super()._repr_html_()


@dataclass(frozen=True, eq=False, repr=False)
class ParticipationResult(DrawnResult):
    """The participants in a run of a pattern: ``attendance.matrix`` (T, n), and the delays that follow from it."""

    attendance: Attendance

    def __str__(self) -> str:
        return attendance_text(self.attendance)

    def _headline(self) -> str:
        return str(self).partition("\n")[0]

    def _fields(self) -> dict[str, Any]:
        matrix, expected = self.attendance.matrix, self.attendance.expected
        return {
            "participation": self.attendance.pattern.kind,
            "matrix": matrix.astype(int).tolist(),
            "tau_max": delays.maximum(matrix),
            "tau_avg": delays.average(matrix),
            "expected": None if expected is None else expected._asdict(),
            "file": self.file,
        }

    def _draw(self) -> Figure:
        return attendance_figure(self.attendance)


@overload
def plot(
    statement: StatementLike | None = None,
    /,
    *,
    problem: ProblemLike | None = None,
    instance: str | Path | Instance | None = None,
    out: str | Path | None = None,
    engine: str = "auto",
    seed: int = 0,
    replicates: int | None = None,
    threads: int | None = None,
    vary: str | Sequence[str] = "all",
    rates: Literal[False] = False,
    over: None = None,
    parameters: Parameters | None = None,
    **named: Parameter,
) -> PlotResult: ...
@overload
def plot(
    statement: StatementLike,
    /,
    *,
    out: str | Path | None = None,
    seed: int = 0,
    rates: Literal[True],
    over: str | Sequence[str] | None = None,
) -> RatesResult: ...
def plot(
    statement: StatementLike | None = None,
    /,
    *,
    problem: ProblemLike | None = None,
    instance: str | Path | Instance | None = None,
    out: str | Path | None = None,
    engine: str = "auto",
    seed: int = 0,
    replicates: int | None = None,
    threads: int | None = None,
    vary: str | Sequence[str] = "all",
    rates: bool = False,
    over: str | Sequence[str] | None = None,
    parameters: Parameters | None = None,
    **named: Parameter,
) -> PlotResult | RatesResult:
    """Both sides of a statement over rounds, and against local steps, participants and step size.

    Problem, engine, seed and parameters as for `verify`, with 100 rounds by default where they cost much.
    ``replicates`` are 16 Monte Carlo runs by default, 8 where each costs much. ``vary`` names what to vary, "all" being
    local steps, participants and step size. ``result.figure`` is the Matplotlib figure, ``out`` the file (PNG, SVG or
    PDF) that it goes to, if one is wanted. Raises `InputError` for an order, which has no value, and for input that
    cannot be used.

    With ``instance``, one that `falsify` found or its file, it is the run of that instance: the file has the statement,
    unless another is named, and every number, and nothing is varied.

    With ``rates`` it is the rate card that is drawn (`ratecheck.rates`): per term and parameter the bound, the worst
    case found, and a typical instance, at settings that are chosen for each; ``over`` names what varies, by default
    local steps, participants, rounds and delay. Nothing else has a meaning then but ``seed`` and ``out``.

    >>> import ratecheck as rc
    >>> len(rc.plot("pfl/theorem-3.7", T=50, vary="K").figure.axes)
    2
    """
    file = target(out)
    if instance is not None:
        stated = {"problem": problem, "rates": rates or None, "vary": None if vary == "all" else vary}
        if said := [name for name, value in stated.items() if value is not None] + [*(parameters or {}), *named]:
            raise InputError(f"{said[0]} and instance: the instance says which problem and numbers, nothing is varied")
        return _run_of(instance, statement, Options(engine=engine, seed=seed, threads=threads)).save(file)
    if statement is None:
        raise InputError("needed is a statement, or an instance")
    found = one(statement)
    if rates:
        others: dict[str, Any] = {
            "problem": problem,
            "replicates": replicates,
            "threads": threads,
            **(parameters or {}),
            **named,
        }
        others |= {"engine": None if engine == "auto" else engine, "vary": None if vary == "all" else vary}
        if said := [name for name, value in others.items() if value is not None]:
            raise InputError(f"{said[0]} has no place with rates: instances are searched at settings chosen per term")
        return _rates(found, over, seed).save(file)
    if over is not None:
        raise InputError("'over' goes with rates; 'vary' says what to vary")
    check_valued(found)
    given = numbers(parameters, named, found.vocabulary)
    found = found.at(given)
    posed, values, name = prepare(found, problem, given)
    if fewer := rounds_of(found, posed, given):
        posed, values, name = prepare(found, problem, {**fewer, **given})
    runs = replicates or affordable(found)
    options = Options(engine=engine, seed=seed, replicates=runs, threads=threads, traces=drawn(found))
    chosen = None if vary == "all" else names(vary)
    with progress(f"measuring {found.key}") as report:
        measured = survey(found, posed, values, options, vary=chosen, name=name, progress=report)
    return PlotResult(measured, remarks=warning(found)).save(file)


def _run_of(saved: str | Path | Instance, statement: StatementLike | None, options: Options) -> PlotResult:
    """Both sides of an instance over its rounds, with the verdict that `verify` gives on it."""
    found, name = saved_instance(saved, None if statement is None else one(statement))
    with progress(f"measuring {found.statement.key}") as report:
        measured = survey(
            found.statement, found.problem, found.given, options, vary=(), participation=found.participation,
            start=found.start, name=name, progress=report,
        )  # fmt: skip
    verdict = found.proof(options).decides(measured.verdict)
    return PlotResult(replace(measured, verdict=verdict), remarks=warning(found.statement))


def _rates(statement: Statement, over: str | Sequence[str] | None, seed: int) -> RatesResult:
    """The card with the curves of its picture."""
    made = made_card(statement, against(statement) if over is None else over, seed)
    with progress(f"curves of {statement.key}") as report:
        return RatesResult(made, curves(made, report), remarks=warning(statement))


def plot_region(
    statement: StatementLike,
    /,
    *,
    axes: str | Sequence[str] | None = None,
    out: str | Path | None = None,
    parameters: Parameters | None = None,
    **named: Parameter,
) -> RegionResult:
    """The region of two step sizes that a statement admits, every other step size being free.

    Parameters as for `stepsize`. Given step sizes that are not admissible are left out of the conditions and drawn with
    the nearest that are. ``axes`` names two step sizes or constants that are not given; by default the step sizes that
    conditions tie most. ``out`` is the file of the picture, if one is wanted. That nothing is admissible is no error:
    ``result.region`` is None then. Raises `InputError` for input that cannot be used.

    >>> import ratecheck as rc
    >>> rc.plot_region("pfl/theorem-3.7", axes="gamma,eta_u", n=10, m=9, K=25, L=1).region.axes
    ('gamma', 'eta_u')
    """
    found = one(statement)
    file = target(out)
    given = numbers(parameters, named, found.vocabulary)
    found = found.at(given)
    wanted = None if axes is None else ",".join(names(axes))
    free = free_constants(found, wanted, given)
    with progress(f"step sizes of {found.key}"):
        answer = step_sizes(found, given, free)
    remarks: tuple[str, ...] = ()
    closest = None
    points: dict[str, dict[str, float]] = {}
    if not answer.feasible:
        closest = nearest(answer.problem, given, answer.core)
        remarks = (f"not admissible: {'; '.join(answer.conflict)}",)
        if not closest.steps:
            return RegionResult(answer, None, {}, closest, remarks=remarks)
        wrong = {rule.symbol: rule.value for rule in answer.problem.fixed}
        answer = step_sizes(found, {name: value for name, value in given.items() if name not in wrong}, free)
        wanted = wanted or (",".join(list(wrong)[:2]) if len(wrong) > 1 else wanted)
        points = {"given": wrong, "nearest": closest.steps}
    chosen = choose_axes(answer.problem, answer.admissible, wanted)
    points = {name: point for name, point in points.items() if {*chosen} <= point.keys()} | marks(answer, chosen)
    with progress("region"):
        area = region(answer.problem, answer.admissible, chosen, *points.values())
    return RegionResult(answer, area, points, closest, remarks=remarks).save(file)


def plot_participation(
    pattern: str | Participation,
    /,
    *,
    n: int = 10,
    m: int | None = None,
    T: int = 60,
    seed: int = 0,
    replicate: int = 0,
    out: str | Path | None = None,
) -> ParticipationResult:
    """The participants in each of T rounds, how long every client has been away, and tau_t.

    ``pattern`` is a name such as "uniform" or "bernoulli:0.3", a file (see `verify`), or a pattern; n clients, ``m`` of
    which take part in a round where the pattern leaves that open, by default a third of them. A random pattern is drawn
    as replicate ``replicate`` of a simulation with that seed has it. ``out`` is the file of the picture, if one is
    wanted. Raises `InputError` for input that cannot be used, and where participation depends on the run.

    >>> import ratecheck as rc
    >>> rc.plot_participation("cyclic", n=6, m=2, T=9).attendance.away.max()
    np.int64(3)
    """
    file = target(out)
    n, T = whole("n", n, 1), whole("T", T, 1)
    size = max(1, n // 3) if m is None else whole("m", m, 1, n, "there are that many clients")
    found = build(pattern, n, size) if isinstance(pattern, str) else pattern
    return ParticipationResult(Attendance(found, found.draw(T, seed, replicate))).save(file)
