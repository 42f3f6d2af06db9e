"""Equal clients with two-valued noise on a piecewise quadratic function: all outcomes, or the mean of a round."""

from __future__ import annotations

from typing import ClassVar

from ratecheck.aliases import Progress
from ratecheck.engines.engine import Engine, objection
from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.monte_carlo.rounding import TAKEN, step_rounding
from ratecheck.engines.outcomes import mean_field
from ratecheck.engines.setup import Setup
from ratecheck.engines.wanted import Wanted
from ratecheck.problems.problem import Known


class MeanFieldEngine(Engine):
    """Middles of what is known of the run; half the width of that counts as an error."""

    name: ClassVar[str] = "mean field"
    needs: ClassVar[frozenset[Known]] = frozenset({Known.TWO_VALUED, Known.TYPES})

    def refuses(self, setup: Setup, wanted: Wanted) -> str:
        return objection(mean_field.check, setup)

    def follow(self, setup: Setup, wanted: Wanted, progress: Progress | None = None) -> Expectation:
        records, widths = mean_field.expect(setup)
        rounding = step_rounding(records, wanted.vocabulary)
        errors = {name: widths[name] + rounding[name] for name in records}
        weights = setup.metric
        if mean_field.followed(setup):
            note = f"all outcomes of the noise are followed, each as likely as the others; {TAKEN}"
            return Expectation(records, errors, weights, setup.trace.rate, notes=(note,))
        least = (
            "for noise that has either sign with probability 1/2: the mean of a round is followed, from which "
            f"{setup.problem.n} clients are a little away"
        )
        return Expectation(records, errors, weights, setup.trace.rate, least=least)
