"""Whether a claim holds at points: an oracle for certificates, of which it reads the claim alone.

Both sides and the hypotheses are evaluated as they are written, in intervals at all points at once, and exactly where
these leave a doubt. Points where a denominator is 0, a number under a root negative, or a hypothesis broken do not
count; equalities among the hypotheses are solved for a number or a coordinate, inequalities are met by moving one
number at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from claim_values import Exact, Intervals, UndefinedError, value

DIMENSIONS = 3
SAMPLE = 24


def names(node, declared):
    """The numbers and vectors that an expression mentions."""
    if isinstance(node, str):
        return {node} & declared
    return set().union(*(names(each, declared) for each in node[1:]))


@dataclass(frozen=True)
class Judgement:
    """Points that counted, those of them where both sides were compared exactly, and one where the claim is wrong."""

    counted: int
    exact: int
    wrong: dict | None


class Points:
    """Values for the names of a claim, and its sides at them."""

    def __init__(self, data, rng, count, tight=()):
        self.data, self.rng, self.count = data, rng, count
        self.kinds = dict(data["variables"])
        self.declared = {*data["variables"], *data["vectors"]}
        self.free = self.drawn()
        self.solved = self.plan([*(each for each in data["hypotheses"] if each["relation"] == "=="), *tight])
        self.others = [each for each in data["hypotheses"] if each["relation"] != "=="]

    def drawn(self):
        """Floats for every number, by name, and for every coordinate, by name and place."""
        rng, n = self.rng, self.count
        common, free = self.sizes(), {}
        for name, kind in self.kinds.items():
            own = np.where(rng.random(n) < 0.2, common, self.sizes())
            if kind == "whole":
                own = np.where(rng.random(n) < 0.7, rng.integers(1, 5, n), np.ceil(own))
            if kind in ("nonnegative", "real"):
                own = np.where(rng.random(n) < 0.12, 0.0, own)
            free[name,] = own * (rng.choice([-1, 1], n) if kind == "real" else 1)
        shared, dimension = rng.integers(-3, 4, (DIMENSIONS, n)), np.arange(n) % DIMENSIONS
        for name in self.data["vectors"]:
            scale = rng.choice([0, 1, 1, 1, -1, 2, 0.125, 64], n)
            own = scale * np.where(rng.random(n) < 0.25, shared, rng.integers(-3, 4, (DIMENSIONS, n)))
            free |= {(name, i): np.where(dimension >= i, own[i], 0.0) for i in range(DIMENSIONS)}
        return free

    def sizes(self):
        """Positive numbers, of which many are 1, small whole numbers, or squares."""
        rng, n = self.rng, self.count
        choices = (
            np.ones(n),
            rng.integers(1, 6, n),
            rng.integers(1, 33, n) / 8,
            (rng.integers(1, 9, n) / 4) ** 2,
            2.0 ** rng.integers(-12, 13, n),
            1 + 2.0 ** -rng.integers(1, 12, n) * rng.choice([-1, 1], n),
        )
        return np.choose(rng.integers(0, len(choices), n), choices)

    def plan(self, equalities):
        """For each equality a number or coordinate that it is solved for, as itself or its reciprocal."""
        found, taken = [], set()
        for each in equalities:
            mentioned = names(each["left"], self.declared) | names(each["right"], self.declared)
            slots = [slot for slot in self.free if slot[0] in mentioned - taken and (slot[1:] in ((), (0,)))]
            self.rng.shuffle(slots)
            tried = ((tuple(slot), turn) for slot in slots for turn in (1, -1)[: 2 - (len(slot) > 1)])
            choice = next((pair for pair in tried if self.affine(each, found, *pair)), None)
            if choice is not None:
                found.append((each, *choice))
                taken |= mentioned
        return found

    def affine(self, equality, found, slot, turn):
        """Whether the difference of the sides is affine in a number, or in its reciprocal, and not constant."""
        try:
            for at in self.rng.integers(0, self.count, 2):
                numbers, vectors = self.exactly(at, found)
                ends = [
                    difference(equality, *put(numbers, vectors, slot, Fraction(k) ** turn), Exact()) for k in (1, 2, 3)
                ]
                if not all(isinstance(each, Fraction) for each in ends):
                    return False
                if ends[0] == ends[1] or ends[2] - ends[1] != ends[1] - ends[0]:
                    return False
        except UndefinedError:
            return False
        return True

    def exactly(self, at, solved=None):
        """The exact values at one point."""
        numbers = {slot[0]: Fraction(v[at]) for slot, v in self.free.items() if len(slot) == 1}
        vectors = {v: [Fraction(self.free[v, i][at]) for i in range(DIMENSIONS)] for v in self.data["vectors"]}
        for equality, slot, turn in self.solved if solved is None else solved:
            ends = [difference(equality, *put(numbers, vectors, slot, Fraction(k) ** turn), Exact()) for k in (1, 2)]
            slope = Exact().add(ends[0], Exact().multiply(Fraction(-1), ends[1]))
            # Both sides may be equal whatever the number is.
            zero = Exact().sign(slope) == Exact().sign(ends[0]) == 0
            found = Exact().add(Fraction(1), Fraction(0) if zero else Exact().divide(ends[0], slope))
            numbers, vectors = put(numbers, vectors, slot, found if turn == 1 else Exact().divide(Fraction(1), found))
        return numbers, vectors

    def intervals(self, free):
        """The values at all points; with where they have a kind that is not theirs, or none."""
        arithmetic = Intervals(self.count)
        numbers = {slot[0]: (v, v) for slot, v in free.items() if len(slot) == 1}
        vectors = {v: [(free[v, i], free[v, i]) for i in range(DIMENSIONS)] for v in self.data["vectors"]}
        for equality, slot, turn in self.solved:
            own = Intervals(self.count)  # what is undefined at 1 and 2 may be defined at the solution
            ends = [
                difference(equality, *put(numbers, vectors, slot, own.number(Fraction(k) ** turn)), own) for k in (1, 2)
            ]
            minus = own.number(Fraction(-1))
            slope = own.add(ends[0], own.multiply(minus, ends[1]))
            found = own.add(own.number(Fraction(1)), own.divide(ends[0], slope))
            found = found if turn == 1 else own.divide(own.number(Fraction(1)), found)
            numbers, vectors = put(numbers, vectors, slot, found)
            arithmetic.undefined |= own.undefined
            if len(slot) == 1:
                arithmetic.undefined |= found[1] < {"real": -np.inf, "whole": 1}.get(self.kinds[slot[0]], 0)
        return numbers, vectors, arithmetic

    def judged(self, free):
        """For every hypothesis that is not solved where it surely holds and where it is surely broken."""
        numbers, vectors, arithmetic = self.intervals(free)
        found = []
        for each in (*self.others, *(h for h in self.data["hypotheses"] if h["relation"] == "==")):
            sides = (value(each[side], numbers, vectors, arithmetic) for side in ("left", "right"))
            left, right = sides
            found.append(arithmetic.compared(left, each["relation"], right))
        return found, (numbers, vectors, arithmetic)

    def moved(self, rounds=14):
        """Moves numbers, one at a time, until the hypotheses hold at most points."""
        mentioned = {slot for each in self.others for slot in self.free if slot[0] in each_names(each, self.declared)}
        slots = sorted(mentioned - {slot for _, slot, _ in self.solved})
        rng, n = self.rng, self.count
        if not slots:
            return
        before = self.met(self.free)
        for _ in range(rounds):
            if np.mean(before < len(self.others)) < 0.1:
                return
            slot = slots[rng.integers(len(slots))]
            now = self.free[slot]
            factor = 2.0 ** rng.integers(-7, 8, n)
            new = np.where(rng.random(n) < 0.7, now * factor, self.drawn()[slot])
            if self.kinds.get(slot[0]) == "whole":
                new = np.ceil(new)
            if len(slot) > 1:
                new = np.where(np.arange(n) % DIMENSIONS >= slot[1], new, 0.0)
            changed = {**self.free, slot: new}
            after = self.met(changed)
            better = after >= before
            keep = better & ((after > before) | (rng.random(n) < 0.3))
            self.free = {**self.free, slot: np.where(keep, new, now)}
            before = np.where(keep, after, before)

    def met(self, free):
        """How many inequalities among the hypotheses surely hold, at every point."""
        found, (_, _, arithmetic) = self.judged(free)
        held = sum((sure.astype(int) for sure, _ in found[: len(self.others)]), np.zeros(self.count, int))
        return np.where(arithmetic.undefined, -1, held)


def each_names(comparison, declared):
    """The names in both sides of a comparison."""
    return names(comparison["left"], declared) | names(comparison["right"], declared)


def put(numbers, vectors, slot, new):
    """The values with another one for a number or a coordinate."""
    if len(slot) == 1:
        return {**numbers, slot[0]: new}, vectors
    name, i = slot
    return numbers, {**vectors, name: [*vectors[name][:i], new, *vectors[name][i + 1 :]]}


def difference(comparison, numbers, vectors, arithmetic):
    """The left side less the right one."""
    left, right = (value(comparison[side], numbers, vectors, arithmetic) for side in ("left", "right"))
    return arithmetic.add(left, arithmetic.multiply(arithmetic.number(Fraction(-1)), right))


def fits(kind, number):
    """Whether a number is of a kind."""
    if kind == "whole":
        return isinstance(number, Fraction) and number.denominator == 1 and number >= 1
    return kind == "real" or Exact().sign(number) >= (kind == "positive")


def holds_at(points, at):
    """Whether the claim holds at a point, exactly; None where the point does not count."""
    arithmetic, data = Exact(), points.data
    try:
        numbers, vectors = points.exactly(at)
        if not all(fits(kind, numbers[name]) for name, kind in points.kinds.items()):
            return None
        found = [
            arithmetic.holds(
                value(each["left"], numbers, vectors, arithmetic),
                each["relation"],
                value(each["right"], numbers, vectors, arithmetic),
            )
            for each in (*data["hypotheses"], data)
        ]
    except UndefinedError:
        return None
    return found[-1] if all(found[:-1]) else None


def judge(data, seed, count=1000):
    """The claim at so many points, of dimension 1, 2 and 3; at some of them hypotheses are tight, or a strict claim."""
    rng = np.random.default_rng(seed)
    weak = [each for each in data["hypotheses"] if each["relation"] in (">=", "<=")]
    rng.shuffle(weak)
    strict = [data] if data["relation"] in ("<", ">") else weak
    counted = exact = 0
    for part, tight in ((count // 2, ()), (count // 4, weak[: len(weak) // 2 + 1]), (count // 4, strict)):
        points = Points(data, rng, part, tight)
        found = judged(points)
        counted, exact = counted + found.counted, exact + found.exact
        if found.wrong:
            return Judgement(counted, exact, found.wrong)
    return Judgement(counted, exact, None)


def judged(points):
    """The claim at points that were drawn; it is looked at exactly where intervals leave a doubt."""
    data = points.data
    with np.errstate(all="ignore"):
        points.moved()
        found, (numbers, vectors, arithmetic) = points.judged(points.free)
        left, right = (value(data[side], numbers, vectors, arithmetic) for side in ("left", "right"))
        sure, broken = arithmetic.compared(left, data["relation"], right)
    out = arithmetic.undefined.copy()
    for _, refuted in found:
        out |= refuted
    # A sure violation is looked at first, then points in doubt.
    order = [*np.flatnonzero(broken & ~out)[:SAMPLE], *np.flatnonzero(~sure & ~broken & ~out)[:SAMPLE]]
    exact = 0
    for at in order:
        holds = holds_at(points, at)
        exact += holds is not None
        if holds is False:
            numbers, vectors = points.exactly(at)
            return Judgement(int(np.sum(~out)), exact, {**numbers, **vectors})
        certain = broken[at] and all(surely[at] for surely, _ in found) and not points.solved
        assert not (certain and holds), "the two arithmetics disagree"
    return Judgement(int(np.sum(~out)), exact, None)
