"""What scouts see of cubes: corners and random points, evolved and neighbouring ones, and the leaders among them.

Evolution is differential: children are a parent moved along the difference of two others, and take its place where they
are no worse (R. Storn and K. Price, J. Global Optimization 11, 1997).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ratecheck.aliases import Array
from ratecheck.families.cube import Cube
from ratecheck.families.family import InstanceShape
from ratecheck.families.statements import summands
from ratecheck.scouting.coefficients import Unscouted
from ratecheck.scouting.scout import Scout, Sighting
from ratecheck.verification.instance import Instance

# Members of a population.
_POPULATION = 32
# The first and the least step along a coordinate, and how many of the best steps are tried together.
_STEP, _LEAST_STEP, _TOGETHER = 0.25, 1e-5, 6
# Multiples of the last step that are tried next.
_ON = (1.0, 2.0, 4.0)
# Points of a cube that are seen at once, and how many are remembered, of which half are forgotten then.
_BATCH, _REMEMBERED = 128, 20_000
# Slack where there is none; how often more points are drawn where instances are fewer than that share of them.
_NOTHING, _MORE, _OFTEN = 2.0, 3, 0.25
# The share of coordinates that a child takes over.
_CROSSOVER = 0.7
# A term's niche are instances on which it is at least this share of the bound; others count as much worse.
NICHE = 0.3

# A point of a shape, and what a `Sighting` has of one point.
Place = tuple[InstanceShape, bytes]
Sight = tuple[float, bool, Array, Instance | None]
# The value of points by slack and shares of terms, to be minimised.
Value = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class Seen:
    """A point of a cube, its instance and slack, whether that is the slack of round 0, and the terms' shares."""

    slack: float
    cube: Cube
    point: Array
    instance: Instance
    at_start: bool
    shares: Array


def by_slack(slack: Array, _: Array) -> Array:
    """The slack itself."""
    return slack


def in_niche(term: int) -> Value:
    """1 - left/right relative to the share of a term inside its niche, and more than that outside it.

    Where the other terms are tight for no reason, as that of the start is at small steps, the slack alone would be
    least where the term is as small as the niche admits, whatever it is worth.
    """

    def value(slack: Array, shares: Array) -> Array:
        away = np.maximum(NICHE - shares[:, term], 0.0) / NICHE
        inside = 2 * slack / (1 + np.abs(slack)) / np.where(slack > 0, np.maximum(shares[:, term], NICHE), 1.0)
        return np.where(away > 0, slack + away + 1 / NICHE, inside)

    return value


@dataclass
class Scouts:
    """The scouts of cubes that have one, and what they saw; ``rest`` are the other cubes.

    ``proceed`` is called before every batch, and may raise; ``fewest`` are the rounds of an instance. ``known`` is what
    another look saw of the same statement, by shape and point; what has as many rounds is not evaluated again.
    """

    cubes: Sequence[Cube]
    proceed: Callable[[], None]
    fewest: int = 1
    known: Mapping[Place, Sight] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    rest: list[Cube] = field(default_factory=list)
    count: int = 0
    met: int = 0
    # What of `count` and `met` was counted already.
    told: tuple[int, int] = (0, 0)
    # The first look, for another one.
    looked: dict[Place, Sight] = field(default_factory=dict)
    _scouts: dict[int, Scout] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for cube in self.cubes:
            try:
                self._scouts[id(cube)] = Scout(cube)
            except Unscouted:
                self.rest.append(cube)

    @property
    def scouted(self) -> list[Cube]:
        """The cubes that have a scout."""
        return [cube for cube in self.cubes if id(cube) in self._scouts]

    def look(self, points: Callable[[Cube, np.random.Generator], Iterator[Array]], each: int, seed: int) -> None:
        """The first points of every cube; a cube whose instances have no scout after all joins the others."""
        rngs = {id(cube): np.random.default_rng([seed, number]) for number, cube in enumerate(self.scouted)}
        streams = {id(cube): points(cube, rngs[id(cube)]) for cube in self.scouted}
        for done in range(0, each, _BATCH):
            size = min(_BATCH, each - done)
            for cube in self.scouted:
                slack, _ = self._see(cube, np.array([*itertools.islice(streams[id(cube)], size)]), looking=True)
                for _ in range(_MORE):
                    # Where conditions leave little, more is drawn.
                    if np.mean(slack < _NOTHING) > _OFTEN or id(cube) not in self._scouts:
                        break
                    drawn = np.array([cube.drawn(rngs[id(cube)]) for _ in range(size)])
                    slack, _ = self._see(cube, drawn, looking=True)

    def unseen(self) -> Iterator[tuple[Cube, Array]]:
        """Points that are known to be hard, but not to the scouts, which do not see their constants.

        None on graphs, which are many and have several such points each: they took a third of a search.
        """
        for cube in self.scouted:
            for point in cube.hard() if cube.family.continued and not cube.shape.graph else ():
                if not np.isfinite(self._scouts[id(cube)].sight(point[None], self.fewest).slack).any():
                    yield cube, point

    def _see(self, cube: Cube, points: Array, *, looking: bool = False) -> tuple[Array, Array]:
        """Slack, 2 where there is none, and shares at points; instances are kept, and all of the first look."""
        self.proceed()
        scout = self._scouts.get(id(cube))
        if scout is None:
            return np.full(len(points), _NOTHING), np.zeros((len(points), len(summands(cube.statement.claims[0]))))
        try:
            found = self._sighted(cube, scout, points) if looking else scout.sight(points, self.fewest)
        except Unscouted:
            del self._scouts[id(cube)]
            self.rest.append(cube)
            return np.full(len(points), _NOTHING), np.zeros((len(points), len(summands(cube.statement.claims[0]))))
        self.count += len(points)
        self.met += int(np.isfinite(found.slack).sum())
        for k in np.flatnonzero(np.isfinite(found.slack)).tolist():
            instance = found.instances[k]
            assert instance is not None
            self.seen.append(
                Seen(float(found.slack[k]), cube, points[k], instance, bool(found.at_start[k]), found.shares[k])
            )
        if len(self.seen) > _REMEMBERED:
            self._forget()
        return np.where(np.isfinite(found.slack), found.slack, _NOTHING), found.shares

    def _sighted(self, cube: Cube, scout: Scout, points: Array) -> Sighting:
        """What the scout finds at points, of which some are known from another look."""
        places = [(cube.shape, point.tobytes()) for point in points]
        old = {k: self.known[place] for k, place in enumerate(places) if place in self.known}
        new = [k for k in range(len(points)) if k not in old]
        found = old | dict(zip(new, _sights(scout.sight(points[new], self.fewest)) if new else (), strict=True))
        rows = [found[k] for k in range(len(points))]
        self.looked |= dict(zip(places, rows, strict=True))
        slack, start, shares, instances = zip(*rows, strict=True)
        return Sighting(np.array(slack), np.array(start), np.array(shares), instances)

    def of_rounds(self, fewest: int) -> dict[Place, Sight]:
        """What was seen in the first look of instances with so many rounds at least."""
        name = self.cubes[0].statement.vocabulary.run.get("rounds", "")
        return {
            place: sight for place, sight in self.looked.items()
            if sight[3] is not None and sight[3].given.get(name, 0) >= fewest
        }  # fmt: skip

    def _forget(self) -> None:
        """Keep the best of all that was seen, and of every term's niche."""
        terms = len(summands(self.cubes[0].statement.claims[0]))
        share = _REMEMBERED // (2 * (terms + 1))
        values = (by_slack, *(in_niche(term) for term in range(terms)))
        kept = {id(each): each for value in values for each in self.ranked(value)[:share]}
        self.seen = [*kept.values()]

    def ranked(self, value: Value = by_slack) -> list[Seen]:
        """All that was seen, best first."""
        if not self.seen:
            return []
        values = value(np.array([each.slack for each in self.seen]), np.array([each.shares for each in self.seen]))
        return [self.seen[k] for k in np.argsort(values, kind="stable")]

    def evolve(self, cube: Cube, points: int, seed: Sequence[int], value: Value = by_slack) -> None:
        """Differential evolution from the best points that are known of a cube."""
        rng = np.random.default_rng(seed)
        size = int(min(_POPULATION, max(points // 3, 4)))
        known = [each for each in self.ranked(value) if each.cube is cube][:size]
        population = np.array([*(each.point for each in known), *(cube.drawn(rng) for _ in range(size - len(known)))])
        slack = np.array([each.slack for each in known])
        shares = np.array([each.shares for each in known]).reshape(len(known), len(summands(cube.statement.claims[0])))
        values = np.full(size, np.inf)
        values[: len(known)] = value(slack, shares)
        evolve(lambda child: value(*self._see(cube, child)), population, values, max(points // size, 1), rng)

    def compass(self, cube: Cube, points: int, value: Value = by_slack) -> None:
        """Steps along the coordinates from the best point of a cube, all at once, and along the best of them together.

        Further steps are along the last one (R. Hooke and T. A. Jeeves, J. ACM 8, 1961); all are quartered where none
        is better.
        """
        start = next((each for each in self.ranked(value) if each.cube is cube), None)
        if start is None:
            return
        x, step, spent = start.point, _STEP, 0
        last = np.zeros_like(x)
        best = float(value(np.array([start.slack]), start.shares[None])[0])
        while spent < points and step > _LEAST_STEP and id(cube) in self._scouts:
            moves = np.concatenate([step * np.eye(len(x)), -step * np.eye(len(x)), np.outer(_ON, last)])
            tried = np.clip(x + moves, 0.0, 1.0)
            moves = (tried - x)[(tried != x).any(axis=1)]
            found = self._valued(cube, x + moves, value)
            spent += len(moves)
            order = [k for k in np.argsort(found, kind="stable").tolist() if found[k] < best][:_TOGETHER]
            if not order:
                step, last = step / 4, np.zeros_like(x)
                continue
            tried, values = x + moves[order[:1]], found[order[:1]]
            if len(order) > 1:
                together = np.clip(x + np.cumsum(moves[order], axis=0)[1:], 0.0, 1.0)
                more = self._valued(cube, together, value)
                tried, values = np.concatenate([tried, together]), np.append(values, more)
                spent += len(together)
            k = int(values.argmin())
            x, best, last = tried[k], float(values[k]), tried[k] - x

    def _valued(self, cube: Cube, points: Array, value: Value) -> Array:
        """The values of points (..., coordinates)."""
        flat = points.reshape(-1, points.shape[-1])
        return np.asarray(value(*self._see(cube, flat))).reshape(points.shape[:-1])

    def shorter(self, other: Seen) -> Seen | None:
        """The best of a cube whose run has a tenth of the local steps of another's at most; None without one."""
        most = _length(other) / 10
        return min(
            (each for each in self.seen if each.cube is other.cube and _length(each) <= most),
            key=lambda each: each.slack,
            default=None,
        )

    def leaders(self, most: int, each: int) -> list[Seen]:
        """The best instances, at most so many of each cube and in all; and the best of every term's niche."""
        found: dict[int, Seen] = {}
        counts: dict[int, int] = {}
        ranked = self.ranked()
        terms = len(summands(self.cubes[0].statement.claims[0]))
        niches = [in_niche(term) for term in range(terms)] if terms > 1 else []
        best = [next(iter(self.ranked(value)), None) for value in niches]
        several = next((one for one in ranked if one.cube.shape.n > 1), None)
        part = next((one for one in ranked if one.cube.shape.size < one.cube.shape.n), None)
        for one in (*best, several, part):
            if one is not None:
                found[id(one)] = one
        last: dict[int, float] = {}
        for one in ranked:
            key = id(one.cube)
            if len(found) >= most:
                break
            # What differs by rounding is one instance in disguise.
            if counts.get(key, 0) < each and abs(one.slack - last.get(key, np.inf)) > 1e-9:
                counts[key], last[key] = counts.get(key, 0) + 1, one.slack
                found[id(one)] = one
        return sorted(found.values(), key=lambda one: one.slack)


def _sights(found: Sighting) -> Iterator[Sight]:
    """What was found, point by point."""
    yield from zip(found.slack.tolist(), found.at_start.tolist(), found.shares, found.instances, strict=True)


def _length(each: Seen) -> float:
    """Local steps of a client in all rounds, by the instance's numbers."""
    run, given = each.cube.statement.vocabulary.run, each.instance.given
    return float(np.prod([np.max(given.get(run.get(role, ""), 1.0)) for role in ("rounds", "local_steps")]))


def evolve(
    valued: Callable[[Array], Array], population: Array, values: Array, generations: int, rng: np.random.Generator
) -> None:
    """Show ``valued`` the children (members, coordinates) of that many generations.

    ``values`` (members,) are those of the ``population``, the least being the best, and infinite where they are not
    known.
    """
    size = len(population)
    for _ in range(generations):
        best = population[int(np.argmin(values))]
        a, b = (population[rng.integers(size, size=size)] for _ in range(2))
        scale = rng.uniform(0.4, 1.0, (size, 1))
        # Half of the children start from the best point, the others from their parent on the way to it.
        base = np.where(rng.random((size, 1)) < 0.5, best, population + scale * (best - population))
        child = base + scale * (a - b)
        taken = rng.random(child.shape) < _CROSSOVER
        taken[np.arange(size), rng.integers(child.shape[1], size=size)] = True
        child = np.where(taken, child, population)
        # What leaves the cube comes back between its parent and the side that it crossed.
        side = np.clip(child, 0.0, 1.0)
        child = np.where(child == side, child, np.where(rng.random(child.shape) < 0.5, side, (side + population) / 2))
        new = valued(child)
        better = new <= values
        population, values = np.where(better[:, None], child, population), np.where(better, new, values)
