"""The engine of affine runs, whose expectations `ratecheck.engines.moments.expectation` computes without sampling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from ratecheck.algorithms.model.algorithm import U
from ratecheck.aliases import Array, Progress
from ratecheck.engines import setup as runs
from ratecheck.engines.engine import Engine, objection
from ratecheck.engines.expected_records import Expectation
from ratecheck.engines.moments import expectation, lemmas, quantities
from ratecheck.engines.setup import Setup
from ratecheck.engines.types import alike, fastest, populations, separate
from ratecheck.engines.wanted import Wanted
from ratecheck.errors import InputError

# Forms of quantities that compare the states before and after a round, whatever happens in it.
_BETWEEN = ("change", "step")
# A state larger than this makes moments slower than sampling.
_LARGEST_STATE = 1500


class MomentEngine(Engine):
    """Means and covariances by a linear recursion; also of the quantities of lemmas."""

    name: ClassVar[str] = "moments"

    def refuses(self, setup: Setup, wanted: Wanted) -> str:
        return objection(runs.check_clients, setup) or not_affine(setup, wanted) or wanted.too_long(setup.T)

    def cost(self, setup: Setup, wanted: Wanted) -> float:
        """See `Engine.cost`: by the entries of the state."""
        return setup.problem.d * (2 + 2 * setup.problem.n) / _LARGEST_STATE

    def follow(self, setup: Setup, wanted: Wanted, progress: Progress | None = None) -> Expectation:
        """See `Engine.follow`; raises `InputError` also for quantities that the method does not have."""
        names = wanted.quantities
        if wanted.recordable:
            return fastest.expect(setup, progress=progress)
        if setup.algorithm.beyond or not setup.problem.potential:
            return _between_rounds(setup, names, progress)
        if any(quantities.known(name) for name in names):
            return quantities.expect(setup, {*names}, progress=progress)
        found = _of_lemmas(setup, names, progress)
        if missing := sorted(names - {*found.records}):
            raise InputError(f"{setup.method.spoken} lacks the step sizes of which {', '.join(missing)} are made")
        return found

    def follow_each(
        self, setups: Sequence[Setup], wanted: Wanted, progress: Progress | None = None
    ) -> list[Expectation]:
        """See `Engine.follow_each`."""
        if wanted.recordable:
            return fastest.expect_each(setups, progress=progress)
        return super().follow_each(setups, wanted, progress)


def _of_lemmas(setup: Setup, names: frozenset[str], progress: Progress | None) -> Expectation:
    """Quantities of lemmas, each of which is a sum over the coordinates: of shared and personal variables apart."""
    runs = separate.of_blocks(setup) or [setup]

    def followed(k: int, run: Setup) -> Expectation:
        told = None if progress is None else lambda share: progress((k + share) / len(runs))
        recursion = alike.moments if alike.pays(run) else None
        return lemmas.expect(run, names, recursion=recursion, progress=told)

    return separate.together(followed(k, run) for k, run in enumerate(runs))


def _between_rounds(setup: Setup, names: frozenset[str], progress: Progress | None) -> Expectation:
    """Changes from one round to the next of a run whose rounds are not local steps and a mean alone.

    Raises `InputError` for quantities that are about what happens inside a round.
    """
    moved = next((name for name, block in setup.algorithm.server.items() if block == U), None)
    moved = setup.algorithm.point.get(U, moved) if setup.algorithm.point else moved
    known = {"descent": "change:f"} | ({"du2": f"step:{moved}"} if moved in setup.algorithm.server else {})
    asked = {name: known.get(name, name) for name in names}
    recorded = {*setup.algorithm.recorded, "f", "gap", "distance2"}
    if not all(each in recorded or each.partition(":")[0] in _BETWEEN for each in asked.values()):
        raise InputError(
            f"{setup.method.spoken} {setup.algorithm.beyond or 'follows an operator'}, and nothing is known inside a "
            "round: it records "
            f"{', '.join(setup.algorithm.recorded)}, f, gap and distance2, and how these change from round to round"
        )
    changes = {each for each in asked.values() if each not in recorded}
    records = tuple(dict.fromkeys((*setup.records, *(each for each in asked.values() if each in recorded))))
    found = quantities.expect(replace(setup, records=records), changes, progress=progress)

    def named(parts: Mapping[str, Array]) -> dict[str, Array]:
        return {**parts, **{name: parts[each] for name, each in asked.items() if each in parts}}

    return replace(found, records=named(found.records), errors=named(found.errors), sizes=named(found.sizes))


def not_affine(setup: Setup, wanted: Wanted) -> str:
    """Why moments do not give what is wanted: the run is not affine, or it is about what happens inside a round."""
    if wanted.inside:
        return f"the exact engine does not have {', '.join(sorted(wanted.inside))}: use engine=step"
    return objection(populations.check if wanted.recordable else expectation.check_exact, setup)
