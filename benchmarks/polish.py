"""How a search ends best: local methods, with and without gradients, from the same points with as many evaluations.

    python benchmarks/polish.py [--evaluations 500] [--seeds 2] [--jobs 1] [--out results/polish.json] [KEY]...

For each statement and seed the search looks around once and evolves the best shapes once; from there every way goes on
alone. An *ideal* gradient costs one evaluation, so that a value with its gradient costs two, which is what an adjoint
takes at best. It is made of differences that are not counted; those of whole numbers have a span that changes them,
where an adjoint has none. Ways without evolution in their names leave it out. All ways ask for an instance that they
know without spending on it.

Kept: for each way the largest left side over right side after each evaluation at which it grew.
"""

# ruff: noqa: SLF001  # The phases of a search are compared one by one.
from __future__ import annotations

import argparse
import contextlib
import copy
import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from momentum import STATEMENTS as MOMENTUM
from parts import done, write
from reach import THEOREMS

import bounds
from bounds.statement import Statement
from ratecheck.aliases import Array
from ratecheck.falsification import falsify as search
from ratecheck.families.cube import Cube
from ratecheck.families.registry import shapes

KEYS = (
    "pfl/theorem-3.7", "pfl/theorem-4.5", "pfl/fedavg-full", "fedsum/theorem-d.1-repaired",
    "fedsum/theorem-e.1-repaired", "flame/theorem-2-unbiased-repaired", "simfbo/theorem-1-repaired",
)  # fmt: skip
OWN = {
    each.key: each
    for each in (*(THEOREMS[name][0] for name in ("values, convex", "distances, strongly convex")), *MOMENTUM[1::2])
}
# Of differences: in the cube, and of whole numbers of rounds and local steps.
_STEP, _WHOLE = 1e-5, 0.03

Descend = Callable[[Callable[[Array], float], Array, int], None]


@dataclass
class _Followed(search._Search):
    """A search that writes down how far it is after each evaluation at which it came further."""

    reached: list[tuple[int, float]] = field(default_factory=list)

    def slack(self, cube: Cube, point: Array) -> float:
        try:
            return super().slack(cube, point)
        finally:
            if self.best is not None and (not self.reached or self.best[0] < self.reached[-1][1]):
                self.reached.append((self.spent, self.best[0]))

    def branch(self) -> _Followed:
        """A copy that goes its own way."""
        lists = {name: copy.copy(getattr(self, name)) for name in ("known", "points", "reasons", "reached", "evolved")}
        return replace(self, **lists)


def _by_scipy(method: str, limit: str, **options: Any) -> Descend:
    def descend(slack: Callable[[Array], float], point: Array, evaluations: int) -> None:
        from scipy.optimize import minimize

        begun = point.clip(0.0, 1.0)
        minimize(slack, begun, method=method, bounds=[(0.0, 1.0)] * len(point), options={limit: evaluations, **options})

    return descend


def _with_gradient(method: str) -> Descend:
    def descend(slack: Callable[[Array], float], point: Array, evaluations: int) -> None:
        from scipy.optimize import minimize

        searching, cube = slack.func.__self__, slack.args[0]  # type: ignore[attr-defined]
        begun, end = point.clip(0.0, 1.0), searching.spent + evaluations
        whole = np.array([name in ("rounds", "local_steps") for name in cube.coordinates])

        def both(at: Array) -> tuple[float, Array]:
            value = slack(at)
            if searching.spent >= end:
                raise StopIteration
            gradient = _uncounted(searching, cube, at, value, np.where(whole, _WHOLE, _STEP))
            searching.spent += 1
            return value, gradient

        try:
            minimize(both, begun, jac=True, method=method, bounds=[(0.0, 1.0)] * len(point))
        except StopIteration:
            return

    return descend


def _uncounted(searching: _Followed, cube: Cube, at: Array, value: float, steps: Array) -> Array:
    """The gradient by differences, inwards at the ends of the cube, without a trace in the search."""
    aside = searching.branch()
    aside.budget, aside.spent, aside.requests = search.Budget(10**9), 0, 0
    gradient = np.zeros(len(at))
    for k, step in enumerate(steps):
        signed = -step if at[k] + step > 1 else step
        moved = at.copy()
        moved[k] += signed
        try:
            other = aside.slack(cube, moved)
        except search._Over:
            continue
        if max(value, other) < search._NOTHING:
            gradient[k] = (other - value) / signed
    return gradient


# Ways to end a search after evolution, and without it.
WAYS: dict[str, Descend] = {
    "Nelder-Mead": search.descend,
    "Powell": _by_scipy("Powell", "maxfev"),
    "COBYQA": _by_scipy("COBYQA", "maxfev", initial_tr_radius=0.1),
    "L-BFGS-B, differences": _by_scipy("L-BFGS-B", "maxfun", eps=_STEP),
    "L-BFGS-B, ideal gradient": _with_gradient("L-BFGS-B"),
    "SLSQP, ideal gradient": _with_gradient("SLSQP"),
}
ALONE = ("Nelder-Mead", "L-BFGS-B, ideal gradient")


def statement_of(key: str) -> Statement:
    return OWN.get(key) or bounds.get(key)


def compared(key: str, seed: int, evaluations: int) -> dict[str, Any]:
    """What each way reaches of a statement, by evaluations."""
    statement = statement_of(key)
    cubes = [Cube(statement, shape, {}) for shape in shapes(statement)]
    budget = search.Budget(evaluations)
    looked = _Followed(statement, budget, search.SEARCHED, lambda *_: None, 0.0)
    rng = np.random.default_rng(seed)
    looked.look(cubes, rng)
    evolved = looked.branch()
    evolved.evolve(copy.deepcopy(rng))
    found = {f"evolution, {name}": _ended(evolved, way) for name, way in WAYS.items()}
    found |= {name: _ended(looked, WAYS[name]) for name in ALONE}
    return {
        "key": key,
        "seed": seed,
        "evaluations": evaluations,
        "looked": looked.spent,
        "evolved": evolved.spent,
        "ways": found,
    }


def _ended(begun: _Followed, way: Descend) -> list[tuple[int, float]]:
    """Evaluations, and left side over right side from then on."""
    searching = begun.branch()
    with patch.object(search, "descend", way), contextlib.suppress(search._Over):
        searching.polish()
    return [(spent, (1 - slack) / (1 + slack)) for spent, slack in searching.reached]


def main() -> None:
    """Compare, keep and print how much of the best each way reaches."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("keys", nargs="*")
    parser.add_argument("--evaluations", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("results/polish.json"))
    given = parser.parse_args()
    tasks = [(key, seed, given.evaluations) for seed in range(given.seeds) for key in given.keys or (*KEYS, *OWN)]
    code = inspect.getsource(inspect.getmodule(main)) + inspect.getsource(search)  # type: ignore[arg-type]
    write(given.out, done(compared, tasks, given.jobs, given.out, hashlib.sha256(code.encode()).hexdigest()))


if __name__ == "__main__":
    main()
