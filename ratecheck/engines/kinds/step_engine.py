"""The engine that simulates runs, whose local steps `ratecheck.engines.monte_carlo.stepwise` takes one by one.

One run where nothing is random, else replicates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ratecheck.aliases import Array, Progress
from ratecheck.engines import setup as runs
from ratecheck.engines.engine import Engine, objection
from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.monte_carlo import bilevel_rounds, own_rounds, piecewise_rounds, stepwise
from ratecheck.engines.monte_carlo.rounding import TAKEN, step_rounding
from ratecheck.engines.monte_carlo.stepwise import Run
from ratecheck.engines.records import recorded
from ratecheck.engines.setup import Setup
from ratecheck.engines.wanted import Wanted
from ratecheck.problems.problem import Known


class StepEngine(Engine):
    """Simulation in floating point, whose rounding is an estimate."""

    name: ClassVar[str] = "steps"
    option: ClassVar[str] = "step"

    def refuses(self, setup: Setup, wanted: Wanted) -> str:
        if Known.TWO_VALUED in setup.problem.knows:
            return "the samples of this problem are not drawn, all outcomes are followed: use engine=exact"
        if reason := objection(runs.check_clients, setup) or wanted.too_long(setup.T):
            return reason
        if not wanted.inside and not wanted.recordable:
            return _unrecorded(setup, wanted)
        if wanted.best_round and runs.is_random(setup):
            return (
                "which round has the least expectation is not decided by replicates: use a quadratic problem, "
                "engine=exact"
            )
        return ""

    def follow(self, setup: Setup, wanted: Wanted, progress: Progress | None = None) -> Expectation:
        """See `Engine.follow`: where nothing is random one run says all, up to its rounding."""
        told = progress or (lambda _: None)
        more: Mapping[str, Array | float] = setup.problem.doubts
        moved: Mapping[str, Array] = {}
        if matters := own_rounds.rounding_matters(setup):
            # The run itself is the one beside which others are moved.
            own, moved = own_rounds.with_rounding(setup, report=lambda rounds: told(rounds / setup.T))
        if piecewise_rounds.covered(setup):
            run, more = piecewise_rounds.simulate(setup, told)
            own = run.records
        elif wanted.inside or not matters:
            own = self.sample(setup, wanted, range(1), progress).records
        errors = step_rounding(own, wanted.vocabulary)
        errors = {name: array + more.get(name, 0.0) for name, array in errors.items()}
        if matters:
            errors = {name: array + moved[name] for name, array in errors.items()}
        note = f"nothing is random: one run, whose {TAKEN}"
        if matters:
            note += ", and more where runs whose gradients are moved by rounding part from it"
        records, errors = ({name: array[0] for name, array in each.items()} for each in (own, errors))
        return Expectation(records, errors, {}, setup.trace.rate, notes=(note,))

    def sample(self, setup: Setup, wanted: Wanted, replicates: range, progress: Progress | None = None) -> Run:

        def report(share: float) -> None:
            if progress is not None:
                progress((replicates.start + share * len(replicates)) / wanted.replicates)

        if wanted.inside:
            return bilevel_rounds.simulate(setup, seed=wanted.seed, wanted=replicates, progress=report)
        return stepwise.simulate(
            setup, seed=wanted.seed, first_replicate=replicates.start, replicates=len(replicates),
            threads=wanted.threads, progress=report,
        )  # fmt: skip


def _unrecorded(setup: Setup, wanted: Wanted) -> str:
    """The line about a quantity that is not recorded: which are, and which option would do."""
    symbols = {fact: name for name, fact in wanted.vocabulary.facts.items()}
    known = recorded(setup)
    missing, listed = (
        ", ".join(symbols.get(name, name) for name in names)
        for names in (sorted(wanted.quantities - {*known}) or sorted(wanted.quantities), known)
    )
    reason = f"the step engine does not record {missing}, only {listed}"
    if setup.algorithm.linear:
        return f"{reason}: use a quadratic problem, engine=exact"
    return f"{reason}; no other engine runs {setup.method.spoken}, which is not linear: state it in these"
