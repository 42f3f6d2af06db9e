"""Affine runs round by round, by the moments of all clients' states."""

from __future__ import annotations

from typing import ClassVar

from ratecheck.aliases import Progress
from ratecheck.engines import setup as runs
from ratecheck.engines.engine import Engine, objection
from ratecheck.engines.expectation import Expectation
from ratecheck.engines.moments import exact, lemmas, quantities
from ratecheck.engines.setup import Setup
from ratecheck.engines.types import populations
from ratecheck.engines.wanted import Wanted
from ratecheck.errors import InputError

# A state larger than this makes moments slower than sampling.
_LARGEST_STATE = 1500


class MomentEngine(Engine):
    """Means and covariances by a linear recursion; also of the quantities of lemmas."""

    name: ClassVar[str] = "moments"

    def refuses(self, setup: Setup, wanted: Wanted) -> str:
        """See `Engine.refuses`."""
        return objection(runs.check_clients, setup) or not_affine(setup, wanted) or wanted.too_long(setup.T)

    def cost(self, setup: Setup, wanted: Wanted) -> float:
        """See `Engine.cost`: by the entries of the state."""
        return setup.problem.d * (2 + 2 * setup.problem.n) / _LARGEST_STATE

    def follow(self, setup: Setup, wanted: Wanted, progress: Progress | None = None) -> Expectation:
        """See `Engine.follow`; raises `InputError` also for quantities that the method does not have."""
        names = wanted.quantities
        if wanted.recordable:
            return populations.expect(setup, progress=progress)
        if setup.algorithm.beyond:
            raise InputError(
                f"{setup.method.name} {setup.algorithm.beyond}, and nothing is known inside a round: it records "
                f"{', '.join(setup.algorithm.recorded)}, f, gap and distance2"
            )
        if any(quantities.known(name) for name in names):
            return quantities.expect(setup, {*names}, progress=progress)
        found = lemmas.expect(setup, progress=progress)
        if missing := sorted(names - {*found.records}):
            raise InputError(f"{setup.method.name} lacks the step sizes of which {', '.join(missing)} are made")
        return found


def not_affine(setup: Setup, wanted: Wanted) -> str:
    """Why moments do not give what is wanted: the run is not affine, or it is about what happens inside a round."""
    if wanted.inside:
        return f"the exact engine does not have {', '.join(sorted(wanted.inside))}: use engine=step"
    return objection(populations.check if wanted.recordable else exact.check_exact, setup)
