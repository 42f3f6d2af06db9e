"""Runs of a setting by the engines: which engine, expected or simulated quantities, constants measured along a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from bounds.statement import Assumption, Over, number
from ratecheck.algebra.enclosure import UndecidedError
from ratecheck.aliases import Array, Progress
from ratecheck.certification.trajectory_constants import MEASURES, Trajectory
from ratecheck.certification.uncertified import may_continue
from ratecheck.engines import setup
from ratecheck.engines.moments import exact, lemmas, quantities
from ratecheck.engines.monte_carlo import bilevel_rounds, piecewise_rounds, step
from ratecheck.engines.outcomes import enumerated, mean_field
from ratecheck.engines.rigorous import piecewise_runs
from ratecheck.engines.types import long_runs, populations
from ratecheck.errors import InputError
from ratecheck.participation import Participation
from ratecheck.problems import BilevelSamples, Constant, Piecewise, PiecewiseSamples
from ratecheck.settings.measured import counts_rounds
from ratecheck.settings.setting import Setting, recordable
from ratecheck.verification.entries import Observe
from ratecheck.verification.monte_carlo import step_rounding

# A state larger than this makes the exact engine slower than sampling.
_LARGEST_EXACT_STATE = 1500
# Gradients on functions with kinks up to which a run is exact: in a search, where a longer one is much faster in
# floating point, and where it is the verdict that counts.
_EXACT_GRADIENTS, _EXACT_IN_VERDICTS = 200, 10_000
# Rounds that are followed one by one where repeated squaring overflows: a run that blows up does so early.
_EARLY = 20_000
# Rounds that are followed one by one; a mean over rounds may be about more.
_MOST_FOLLOWED = 10**7


@dataclass(frozen=True)
class Reporting:
    """Whom a verification tells what: ``name`` is that of the problem in the verdict.

    ``progress`` receives the share of the work that is done, ``observe`` both sides of every claim by entry.
    """

    name: str = ""
    progress: Progress | None = None
    observe: Observe | None = None


def set_up(setting: Setting, trace: Participation, values: Mapping[str, float]) -> setup.Setup:
    """A run on this participation with the step sizes in ``values``."""
    method = setting.method
    assert method is not None
    recorded, derived = setting.recorded, setting.statement.vocabulary.derived
    records = None if recorded <= {*method.algorithm.recorded} or not recordable(recorded) else recorded
    return setup.prepare(
        method.name,
        setting.problem,
        trace,
        K=setting.steps,  # type: ignore[arg-type]  # an array will do
        weights=setting.coefficients if method.algorithm.weighs else None,
        T=setting.rounds,
        noise=setting.noise,
        records=None if records is None else (*method.algorithm.recorded, *sorted(records)),
        step_sizes={
            **{name: number(derived[name], values) for name in method.step_sizes if name in derived},
            **{name: values[name] for name in method.step_sizes if name in values},
            **setting.parameters,
        },
        **setting.start,
    )


def inside_rounds(setting: Setting) -> bool:
    """Whether the statement compares what happens inside a round."""
    return bool(setting.recorded & bilevel_rounds.NAMES)


def engine(setting: Setting, ready: setup.Setup) -> str:
    """The engine that follows the run, "exact" or "step"; raises `InputError` where the one that is wanted cannot."""
    wished, inside = setting.options.engine, setting.recorded & bilevel_rounds.NAMES
    if isinstance(ready.problem, (BilevelSamples, Piecewise, PiecewiseSamples)):
        return (_of_piecewise if isinstance(ready.problem, Piecewise) else _of_samples)(setting, ready)
    if inside and wished == "exact":
        raise InputError(f"the exact engine does not have {', '.join(sorted(inside))}: use engine=step")
    if ready.problem.multiplicities is not None:
        if wished == "step":
            setup.check_clients(ready)
        populations.check(ready)
        return "exact"
    if wished != "auto" or inside:
        if wished == "exact":
            _check_exact(setting, ready)
        return wished if wished != "auto" else "step"
    if ready.problem.d * (2 + 2 * ready.problem.n) > _LARGEST_EXACT_STATE:
        return "step"
    try:
        _check_exact(setting, ready)
    except InputError:
        return "step"
    return "exact"


def _check_exact(setting: Setting, ready: setup.Setup) -> None:
    """Raise `InputError` where moments do not give what the statement compares."""
    (populations.check if recordable(setting.recorded) else exact.check_exact)(ready)


def _of_samples(setting: Setting, ready: setup.Setup) -> str:
    """The same where samples have two values: all outcomes are followed, or the mean of a round."""
    if setting.options.engine == "step":
        raise InputError("the samples of this problem are not drawn, all outcomes are followed: use engine=exact")
    (enumerated if isinstance(ready.problem, BilevelSamples) else mean_field).check(ready)
    return "exact"


def _of_piecewise(setting: Setting, ready: setup.Setup) -> str:
    """The same on functions that are quadratic piece by piece: one exact run, where nothing in it is random."""
    wished = setting.options.engine
    if wished not in ("auto", "exact"):
        return wished
    changes = setting.recorded & piecewise_runs.CHANGES
    try:
        most = _EXACT_IN_VERDICTS if setting.options.rigorous else _EXACT_GRADIENTS
        long = piecewise_runs.followed(ready).gradients > most
    except UndecidedError as error:
        if wished == "exact":
            raise InputError(f"{error}: use engine=step") from None
        return "step"
    return "step" if long and wished == "auto" and not changes else "exact"


def expected(
    setting: Setting, ready: setup.Setup, progress: Progress | None, *, by_round: bool
) -> tuple[exact.Expectation, int | None]:
    """Expected quantities; and T where fewer rounds were followed, since a run blows up early.

    ``by_round`` wants them in every round although the statement is about means over rounds.
    """
    if isinstance(ready.problem, Piecewise):
        return _of_pieces(setting, ready), None
    if isinstance(ready.problem, PiecewiseSamples):
        return _of_mean_field(setting, ready), None
    if isinstance(ready.problem, BilevelSamples):
        return _of_outcomes(setting, ready), None
    return _of_moments(setting, ready, progress, by_round=by_round)


def _of_pieces(setting: Setting, ready: setup.Setup) -> exact.Expectation:
    try:
        return piecewise_runs.expect(ready, setting.recorded)
    except UndecidedError as error:
        raise InputError(str(error)) from None


def _of_mean_field(setting: Setting, ready: setup.Setup) -> exact.Expectation:
    """The same with noise, as middles of what is known; half the width counts as an error."""
    records, widths = mean_field.expect(ready)
    rounding = step_rounding(records, setting.statement.vocabulary)
    errors = {name: widths[name] + rounding[name] for name in records}
    weights = ready.algorithm.metric(ready.trace.rate, ready.problem.n)
    return exact.Expectation(records, errors, weights, ready.trace.rate)


def _of_outcomes(setting: Setting, ready: setup.Setup) -> exact.Expectation:
    """The same over all outcomes of samples with two values, rounded as one run is."""
    records = enumerated.expect(ready, inside=inside_rounds(setting))
    if missing := sorted(setting.recorded - {*records}):
        raise InputError(f"where outcomes are followed nothing records {', '.join(missing)}")
    errors = step_rounding(records, setting.statement.vocabulary)
    return exact.Expectation(
        records, errors, ready.algorithm.metric(ready.trace.rate, ready.problem.n), ready.trace.rate
    )


def _of_moments(
    setting: Setting, ready: setup.Setup, progress: Progress | None, *, by_round: bool
) -> tuple[exact.Expectation, int | None]:
    """The same of an affine run."""
    recorded = setting.recorded
    if ready.algorithm.beyond and not recordable(recorded):
        raise InputError(
            f"{ready.method.name} {ready.algorithm.beyond}, and nothing is known inside a round: it records "
            f"{', '.join(ready.algorithm.recorded)}, f, gap and distance2"
        )
    if any(quantities.known(name) for name in recorded):
        return quantities.expect(_followed(setting, ready), {*recorded}, progress=progress), None
    if not recordable(recorded):
        found = lemmas.expect(_followed(setting, ready), progress=progress)
        if missing := sorted(recorded - {*found.records}):
            raise InputError(f"{ready.method.name} lacks the step sizes of which {', '.join(missing)} are made")
        return found, None
    means = all(claim.metric.over is Over.MEAN_OF_ROUNDS for claim in setting.statement.claims)
    if not means or by_round or counts_rounds(setting.statement) or not long_runs.pays(ready):
        return populations.expect(_followed(setting, ready), progress=progress), None
    average = long_runs.average(ready)
    records, errors = ({k: np.array([v]) for k, v in each.items()} for each in (average.records, average.errors))
    finite, bounded = (all(math.isfinite(x) for x in each.values()) for each in (average.records, average.errors))
    if finite and (bounded or ready.T > _EARLY):
        return exact.Expectation(records, errors, average.weights, ready.trace.rate), None
    if finite:
        # Rounds one by one lose less than powers of the map.
        return populations.expect(ready, progress=progress), None
    early = replace(ready, T=min(_EARLY, ready.T))
    return populations.expect(early, progress=progress), ready.T


def simulate(setting: Setting, ready: setup.Setup, progress: Progress | None, wanted: range) -> step.Run:
    """These replicates."""
    _followed(setting, ready)
    options = setting.options

    def report(share: float) -> None:
        if progress is not None:
            progress((wanted.start + share * len(wanted)) / options.replicates)

    if inside_rounds(setting):
        return bilevel_rounds.simulate(ready, seed=options.seed, wanted=wanted, progress=report)
    return step.simulate(
        ready, seed=options.seed, first_replicate=wanted.start, replicates=len(wanted), threads=options.threads,
        progress=report,
    )  # fmt: skip


def one_run(setting: Setting, ready: setup.Setup, progress: Progress | None) -> tuple[step.Run, dict[str, Array]]:
    """A run in which nothing is random, and what is known of its rounding beside `step_rounding`."""
    if piecewise_rounds.covered(ready):
        return piecewise_rounds.simulate(_followed(setting, ready), progress or (lambda _: None))
    return simulate(setting, ready, progress, range(1)), {}


def _followed(setting: Setting, ready: setup.Setup) -> setup.Setup:
    """The run, where its rounds are few enough to follow one by one; raises `InputError` otherwise."""
    symbol = setting.statement.vocabulary.run.get("rounds", "T")
    if ready.T > _MOST_FOLLOWED:
        raise InputError(f'{symbol}={ready.T} breaks "{symbol} <= {_MOST_FOLLOWED}": this run is followed by rounds')
    return ready


def by_symbol(setting: Setting, records: Mapping[str, Array]) -> dict[str, Array]:
    """Records by the paper's symbols, and under their own names."""
    facts = setting.statement.vocabulary.facts
    return {**records, **{s: records[fact] for s, fact in facts.items() if fact in records}}


def measured(
    setting: Setting, ready: setup.Setup, symbols: Iterable[str], records: Mapping[str, Array], replicates: int
) -> dict[str, Constant]:
    """The smallest values of these constants that hold along the run; absent where there is none."""
    samples = Assumption.EVERY_SAMPLE in setting.statement.assumptions
    continues = may_continue(setting.statement)
    trajectory = Trajectory(ready, records, setting.options.seed, replicates, samples, continues)
    found = {s: MEASURES[setting.statement.vocabulary.facts[s]].largest(trajectory) for s in symbols}
    return {s: replace(constant, name=s) for s, constant in found.items()}
