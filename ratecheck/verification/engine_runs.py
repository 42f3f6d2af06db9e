"""A setting's run: how it is set up, what is wanted of it, and the constants that are measured along it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from bounds.statement import Assumption, Over, number
from ratecheck.algorithms.model.algorithm import check_after
from ratecheck.aliases import Array, Progress
from ratecheck.certification.trajectory_constants import MEASURES, Trajectory
from ratecheck.certification.uncertified import may_continue
from ratecheck.engines import setup
from ratecheck.engines.monte_carlo.played import Played
from ratecheck.engines.wanted import Wanted, recordable
from ratecheck.participation import Participation
from ratecheck.problems import Constant
from ratecheck.settings.setting import Setting
from ratecheck.verification.entries import Observe


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
    ready = setup.prepare(
        method.name,
        setting.problem,
        trace,
        K=setting.steps,  # an array will do
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
    if any(claim.metric.over.further for claim in setting.statement.claims):
        check_after(ready.algorithm, setting.rounds, ready.numbers(0))
    return setup.with_law(ready, setting.options.noise)


def wanted(setting: Setting, *, by_round: bool = False) -> Wanted:
    """The records that the statement needs; ``by_round``: of every round although it is about means over rounds."""
    statement, options = setting.statement, setting.options
    means = all(claim.metric.over is Over.MEAN_OF_ROUNDS for claim in statement.claims)
    return Wanted(
        setting.recorded,
        statement.vocabulary,
        means=means and not by_round and not statement.counts_rounds,
        best_round=any(claim.metric.over is Over.BEST_ROUND for claim in statement.claims),
        proof=options.rigorous,
        seed=options.seed,
        replicates=options.replicates,
        threads=options.threads,
    )


def by_symbol(setting: Setting, records: Mapping[str, Array]) -> dict[str, Array]:
    """Records by the paper's symbols, and under their own names."""
    facts = setting.statement.vocabulary.facts
    return {**records, **{s: records[fact] for s, fact in facts.items() if fact in records}}


def measured(
    setting: Setting,
    ready: setup.Setup,
    symbols: Iterable[str],
    records: Mapping[str, Array],
    replicates: int,
    played: Played,
) -> dict[str, Constant]:
    """The smallest values of these constants that hold along the run; absent where there is none."""
    if not (symbols := tuple(symbols)):
        return {}
    samples = Assumption.EVERY_SAMPLE in setting.statement.assumptions
    continues = may_continue(setting.statement.assumptions)
    facts = setting.statement.vocabulary.facts
    smooth = Assumption.SMOOTHNESS in setting.statement.assumptions
    steep = not (smooth or any(facts.get(name, "").startswith("L") for name in setting.statement.parameters))
    trajectory = Trajectory(ready, records, setting.options.seed, replicates, samples, continues, played, steep)
    found = {s: MEASURES[facts[s]].largest(trajectory) for s in symbols}
    return {s: replace(constant, name=s) for s, constant in found.items()}
