"""Verdicts with constants that need not exist on the whole space: they are found along the run that they prescribe."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from bounds.numbers import apart
from ratecheck.certification.trajectory_constants import MEASURES, Measure
from ratecheck.errors import InputError
from ratecheck.outcome import Outcome
from ratecheck.problems import Certificate, Constant
from ratecheck.verification.judgement import Request, compare
from ratecheck.verification.verdict import Verdict

# How often an assumed trajectory constant is raised to what was measured, and the margin on top.
_ATTEMPTS, _MARGIN = 30, 1.05


def along_trajectory(request: Request) -> Verdict:
    """The verdict with constants ``request.along`` that hold at every iterate of the run that they prescribe.

    Raises `InputError` where one was given and does not hold there.
    """
    on, setting, symbols = request.on, request.setting, request.along
    measures = {s: MEASURES[setting.statement.vocabulary.facts[s]] for s in symbols}
    fixed = {s: value for s in symbols if (value := setting.fixed(s)) is not None}
    said = {**fixed, **setting.values}
    tried = {s: said[s] if s in said else _MARGIN * measure.start(on.case) for s, measure in measures.items()}
    for _ in range(_ATTEMPTS):
        found = {s: Constant(s, value, Certificate.TRAJECTORY, "tried") for s, value in tried.items()}
        judged = compare(replace(request, on=on.with_constants(found)))
        verdict, measured = judged.verdict, judged.measured
        needed = {s: measured[s].value if s in measured else math.inf for s in symbols}
        short = [s for s in symbols if needed[s] > tried[s]]
        if verdict.outcome is Outcome.NOT_APPLICABLE:
            return verdict
        if (beyond := _beyond(verdict, measured, {s: needed[s] for s in short})) is not None:
            return beyond
        if any(c.missing for c in verdict.comparisons):
            return verdict
        if not short:
            held = {s: replace(measured[s], value=each.value) for s, each in found.items()}
            return _with_constants(verdict, held, measures)
        for s in short:
            if s in setting.values:
                given, least = apart(setting.values[s], needed[s])
                raise InputError(f'{s}={given} breaks "{s} >= {least}", its value along the run')
            if s in fixed:
                taken, least = apart(fixed[s], needed[s])
                return _none(verdict, f"the statement takes {s}={taken}, but {s} is {least} along the run")
        tried = {**tried, **{s: _MARGIN * needed[s] for s in short}}
    listed = " and ".join(f"{s} (tried up to {value:.3g})" for s, value in tried.items())
    return _none(verdict, f"no {listed} holds along its own trajectory")


def _beyond(verdict: Verdict, measured: Mapping[str, Constant], short: Mapping[str, float]) -> Verdict | None:
    """The verdict where a constant that the statement takes for granted is not there; it does not speak of this run."""
    if absent := {s: measured[s] for s in short if s in measured and math.isinf(short[s])}:
        reasons = (f"{s} {constant.standing}: {constant.reason}" for s, constant in absent.items())
        return replace(_none(verdict, *reasons), constants={**verdict.constants, **absent})
    if verdict.outcome is Outcome.DIVERGED or any(math.isinf(_MARGIN * value) for value in short.values()):
        listed = " and ".join(short) or "constant"
        return _none(verdict, f"the run overflows float64, so that no {listed} can be measured along it")
    return None


def _none(verdict: Verdict, *reasons: str) -> Verdict:
    return replace(verdict, outcome=Outcome.NOT_APPLICABLE, comparisons=(), reasons=reasons)


def _with_constants(verdict: Verdict, held: Mapping[str, Constant], measures: Mapping[str, Measure]) -> Verdict:
    """The verdict with the constants that hold, and what those do not say that hold along the run only."""
    along = {s: measures[s] for s, constant in held.items() if constant.certificate is Certificate.TRAJECTORY}
    notes = (*verdict.notes, *_notes(verdict, along)) if along else verdict.notes
    supposes = verdict.supposes
    if verdict.outcome is Outcome.VIOLATED and any(measure.partial for measure in along.values()):
        listed = " and ".join(f"{s}={held[s].value:.4g}" for s, measure in along.items() if measure.partial)
        supposes = (*supposes, f"{listed} is needed at the server's models of this run only")
    if verdict.outcome is Outcome.VIOLATED and verdict.replicates:
        # What replicates show is not all that a run may draw.
        others = [s for s, measure in along.items() if not measure.partial]
        supposes = (*supposes, *(f"no run needs more than {s}={held[s].value:.4g}" for s in others))
    return replace(verdict, constants={**verdict.constants, **held}, notes=notes, supposes=supposes)


def _notes(verdict: Verdict, measures: Mapping[str, Measure]) -> tuple[str, ...]:
    """The caveats of constants that are measured along the run itself."""
    measures = {s: measure for s, measure in measures.items() if not measure.of_run}
    if not measures:
        return ()
    listed = " and ".join(measures)
    alone = f"what the statement says about {listed} alone holds by definition"
    notes = [f"{listed} is a property of this run, not of the problem; {alone}"]
    if verdict.engine == "step":
        notes += [f"{symbol} {measure.sampled}" for symbol, measure in measures.items()]
    return tuple(notes)
