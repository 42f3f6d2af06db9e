"""Short bilevel runs whose samples have two values: all outcomes are followed."""

from __future__ import annotations

from typing import ClassVar

from ratecheck.aliases import Progress
from ratecheck.engines.engine import Engine, objection
from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.monte_carlo.rounding import TAKEN, step_rounding
from ratecheck.engines.outcomes import enumerated
from ratecheck.engines.setup import Setup
from ratecheck.engines.wanted import Wanted
from ratecheck.errors import InputError
from ratecheck.problems.problem import Known


class OutcomeEngine(Engine):
    """Means over all outcomes of samples and participants, rounded as one run is."""

    name: ClassVar[str] = "outcomes"
    needs: ClassVar[frozenset[Known]] = frozenset({Known.TWO_VALUED})

    def refuses(self, setup: Setup, wanted: Wanted) -> str:
        return objection(enumerated.check, setup)

    def follow(self, setup: Setup, wanted: Wanted, progress: Progress | None = None) -> Expectation:
        """See `Engine.follow`; raises `InputError` also for quantities that are not recorded."""
        records = enumerated.expect(setup, inside=bool(wanted.inside))
        if missing := sorted(wanted.quantities - {*records}):
            raise InputError(f"where outcomes are followed nothing records {', '.join(missing)}")
        errors = step_rounding(records, wanted.vocabulary)
        count = enumerated.outcomes(setup)
        note = f"all {count} outcomes of samples and participants are followed, each as likely as the others; {TAKEN}"
        weights = setup.metric
        return Expectation(records, errors, weights, setup.trace.rate, notes=(note,))
