"""Whether what is proved of changed statements is ever violated: ``proofs_wrong.py [--seconds S] [--seed FIRST]``.

Right statements of the catalogue get other numbers, step sizes beyond their conditions, and right sides whose terms are
scaled by random factors or left out. Of each the smallest multiple of the right side that is proved is held against the
left side of runs: of the hardest instances that are known at these numbers, where there are some, and of random
quadratic functions of the class. A proof of a multiple is one of every right side that is at least as large at these
numbers: of each proof eight further right sides of other factors and missing terms are decided so, and each that is
PROVED is held against the same runs. Prints after each 100 sets of numbers, of a seed of their own, how many right
sides were changed, proved and searched since the first, by how many runs, and each violation; exit code 1 if there is
one. With another FIRST a long run goes on where it ended.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

import bounds
from bounds.statement import Over, Statement
from bounds.symbols import Role
from ratecheck.algorithms.model.algorithm import TermOver
from ratecheck.errors import InputError
from ratecheck.exponents.hard_instances import worst
from ratecheck.falsification.terms import in_parts
from ratecheck.proving.prove import completed, proved_at
from ratecheck.proving.question import Question

# Of statements that are proved in little time.
_KEYS = (
    "gradient-descent-distances", "gradient-descent-gradients-from-gap", "gradient-descent-values", "sgd-nearer",
    "heavy-ball-values", "constant-momentum-values", "strongly-convex-distances", "strongly-convex-values",
    "strongly-convex-values-polyak", "sgd-distances", "nonconvex-best-gradient", "nonconvex-mean-gradient",
    "gradient-dominated-values", "nonconvex-sgd", "subgradient-best-value-any-step", "fast-gradient-values",
    "clients-values", "sampled-gradients", "sampled-values", "sampled-distances", "local-sgd-gradients",
    "fedavg-sampled-gradients", "fedavg-sampled-values", "fedavg-sampled-distances", "scaffold-values",
    "scaffold-distances", "compressed-sgd-gradients", "ef-sgd-gradients", "ef21-gradients", "ef21-gradient-dominated",
    "coordinate-descent-gradients", "coordinate-descent-values", "dsgd-consensus", "dsgd-gradients",
    "dsgd-random-consensus",
)  # fmt: skip
_INSTANCES, _MARGIN = 40, 1e-7
# Further right sides that a proof decides, and sets of numbers of one seed.
_RIGHT_SIDES, _SETS = 8, 100
Floats = NDArray[np.float64]


def changed(statement: Statement, rng: np.random.Generator) -> tuple[Statement, dict[str, float]] | None:
    """A statement like this one that may be wrong, with numbers; None where these do not fit together."""
    names = {name for name in ("n", "m", "K", "T") if name not in statement.settings and name in statement.parameters}
    given: dict[str, float] = {name: float(rng.integers(1, 5)) for name in names}
    given["T"] = float(rng.integers(1, 7)) if "T" not in statement.settings else given.get("T", 1.0)
    if "n" in given and "m" in given:
        given["n"] = max(given["n"], given["m"])
    for name, quantity in ((each.name, each) for each in statement.vocabulary if each.name in statement.parameters):
        if quantity.role is Role.CONSTANT and name not in statement.settings and rng.random() < 0.5:
            given[name] = float(f"{rng.choice([0.1, 0.3, 0.7, 1.0, 2.0]):g}")
    try:
        values, _ = completed(statement, {k: v for k, v in given.items() if k in statement.vocabulary})
    except (InputError, ValueError):
        return None
    values = {
        name: value * float(rng.choice([1.0, 1.0, 1.5, 2.5, 0.5]))
        if statement.vocabulary[name].role is Role.STEP_SIZE
        else value
        for name, value in values.items()
    }
    claim = in_parts(replace(statement, claims=statement.claims[:1])).claims[0]
    weights = rng.choice([1.0, 1.0, 0.0, 0.1, 0.5, 3.0], size=len(claim.terms))
    if not weights.any():
        weights[0] = 1.0
    bound = sum(float(w) * term for w, term in zip(weights, claim.terms.values(), strict=True))
    wrong = replace(claim, terms={"right side": bound})
    return replace(statement, claims=(wrong,), conditions=(), step_rules=()), values


def runs(q: Question, rng: np.random.Generator) -> Iterator[dict[int | None, float]]:
    """Left sides, by round, of runs on random convex quadratics within the constants, without noise or sampling."""
    b, n, T = q.shared, q.n, q.T
    if q.sampled or q.L is None or q.algorithm.compressed or len(q.blocks) > 1 or q.proximal or q.second_classes:
        return
    tables = [[None if each is None else np.array(each[b], dtype=float) for each in q.tables(t)] for t in range(T)]
    start_client, start_server = (np.array(table[b], dtype=float) for table in q.start_tables)
    least = max(0.0, *(float(getattr(kind, "mu", 0) or 0) for kind in (*q.classes, *q.mean_classes)), float(q.pl or 0))
    rate = math.sqrt(float(q.contraction)) if q.algorithm.mixed else 0.0
    for _ in range(_INSTANCES):
        a = rng.choice([least, float(q.L), rng.uniform(least, float(q.L))], size=n)
        a = np.full(n, a[0]) if q.dissimilarity is not None else a
        if not a.mean() > 0:
            continue
        c = rng.normal(size=n) * rng.choice([0.0, 1.0])
        minimiser = float(a @ c / a.sum())
        c, x = c - minimiser, float(rng.choice([-1.0, 1.0]) * rng.uniform(0.1, 2.0))
        limits = [
            (q.F_0, a.mean() / 2 * x**2),
            (q.R_0, x**2),
            (q.B_0, ((a * (x - c)) ** 2).sum()),
            (None if q.dissimilarity is None else q.dissimilarity**2, np.var(a * c)),
            (None if q.heterogeneity is None else q.heterogeneity**2, ((a * c) ** 2).mean()),
        ]
        if q.steepest is not None:
            return
        scale = min(
            [math.sqrt(float(limit) / size) for limit, size in limits if limit is not None and size > 0] or [1.0]
        )
        yield _Run(q, a, c * scale, x * scale, tables, (start_client, start_server), rate).lefts()


@dataclass(frozen=True)
class _Run:
    """A run on f_i(x) = a_i/2 (x - c_i)^2, whose mean is least at 0, from x; ``rate`` is what mixing leaves."""

    q: Question
    a: Floats
    c: Floats
    x: float
    tables: list[list[Floats | None]]
    starts: tuple[Floats, Floats]
    rate: float

    def lefts(self) -> dict[int | None, float]:
        """The left side of the claim by round, or of all rounds together; none where a quantity is not known here."""
        q, n = self.q, self.q.n
        start_client, start_server = self.starts
        client = np.array([start_client @ [self.x, self.a[i] * (self.x - self.c[i])] for i in range(n)]).reshape(n, -1)
        server, found = start_server @ [self.x, *client.mean(0)], {}
        weights = {each.round: each.weights for each in q.compared}
        for t in range(q.T):
            measured = self._measured(server, client)
            wanted = weights.get(t, weights.get(None, {}))
            if any(name not in measured for name in wanted):
                return {}
            if wanted:
                found[t] = sum(float(w) * measured[name] for name, w in wanted.items())
            server, client = self._round(t, server, client)
        if q.over is Over.MEAN_OF_ROUNDS:
            return {None: float(np.mean([*found.values()]))}
        return {None: min(found.values())} if q.over is Over.BEST_ROUND else {**found}

    def _measured(self, server: Floats, client: Floats) -> dict[str, float]:
        """What is measured at the server's point."""
        q, n = self.q, self.q.n
        group, slot = q.recorded_slots[q.shared]
        if group != "server":
            return {}
        point = float(server[slot])
        inputs = np.column_stack([np.tile(server, (n, 1)), client, self.a * (point - self.c)])
        measured = {"gap": float(self.a.mean()) / 2 * point**2, "distance2": point**2}
        for name, terms in q.records.items():
            if any(term.over is TermOver.VALUES for term in terms):
                continue
            measured[name] = 0.0
            for term in terms:
                left, right = (inputs @ np.array(side, dtype=float) for side in (term.left, term.right))
                both = (left * right).mean() if term.over is TermOver.CLIENTS else left.mean() * right.mean()
                measured[name] += float(term.factor) * float(both)
        return measured

    def _round(self, t: int, server: Floats, client: Floats) -> tuple[Floats, Floats]:
        """The states after a round."""
        q, n = self.q, self.q.n
        begin, step, finish, aggregate = (self.tables[t][k] for k in (0, 1, 2, 4))
        assert begin is not None
        assert step is not None
        assert finish is not None
        assert aggregate is not None
        local = np.array([begin @ [*server, *client[i]] for i in range(n)])
        for _ in range(q.K):
            local = np.array([step @ [*local[i], self.a[i] * (local[i, 0] - self.c[i])] for i in range(n)])
        out = np.array([finish @ [*server, *client[i], *local[i]] for i in range(n)])
        client, message = out[:, : q.slots("client")], out[:, q.slots("client") :]
        for k, name in enumerate(q.variables("client", q.shared)):
            if name in q.algorithm.mixed:
                client[:, k] = client[:, k].mean() + self.rate * (client[:, k] - client[:, k].mean())
        return aggregate @ [*server, *message.sum(0)], client


def left_sides(
    statement: Statement, values: Mapping[str, float], rng: np.random.Generator
) -> Iterator[tuple[str, float]]:
    """Ratios of left to right sides, with what they are of."""
    q = Question(statement, values)
    right = {each.round: float(each.right) for each in q.compared}
    for found in runs(q, rng):
        yield from (("quadratic", left / right[t]) for t, left in found.items() if right.get(t, 0.0) > 0)
    if len(right) == 1 and right.get(None, 0.0) > 0:
        try:
            yield "hardest known", worst(statement, values).left / right[None]
        except (InputError, ValueError, ArithmeticError):
            return


def right_sides(
    original: Statement, made: Statement, values: Mapping[str, float], rng: np.random.Generator
) -> Iterator[float]:
    """Right sides of other factors and with missing terms, relative to that of ``made`` where it is smallest so."""
    claim = in_parts(replace(original, claims=original.claims[:1])).claims[0]
    terms = [
        _rights(replace(made, claims=(replace(made.claims[0], terms={"": each}),)), values)
        for each in claim.terms.values()
    ]
    own = _rights(made, values)
    for _ in range(_RIGHT_SIDES):
        weights = np.exp(rng.uniform(-3, 3, size=len(terms))) * rng.choice([0.0, 1.0, 1.0], size=len(terms))
        yield min(
            float(weights @ np.array(each)) / right for *each, right in zip(*terms, own, strict=True) if right > 0
        )


def _rights(statement: Statement, values: Mapping[str, float]) -> list[float]:
    """The right side, by round."""
    return [float(each.right) for each in Question(statement, values).compared]


@dataclass
class Counts:
    """How many right sides were changed, proved and searched, the left sides, and what was found."""

    changed: int = 0
    proved: int = 0
    searched: int = 0
    lefts: int = 0
    bad: int = 0
    nearest: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.changed} changed right sides, {self.proved} proved, {self.searched} of them searched, "
            f"{self.lefts} left sides; largest left side over what is proved: {self.nearest:.6f}; {self.bad} violations"
        )

    def add(self, rng: np.random.Generator) -> None:
        """One set of numbers: a proof, what it decides, and runs that it is held against."""
        original = bounds.get(f"classics/{rng.choice(_KEYS)}").written
        made = changed(original, rng)
        if made is None:
            return
        try:
            proof = proved_at(*made)
            shares = [1.0, *right_sides(original, *made, rng)]
        except (InputError, ValueError, ArithmeticError):
            return
        self.changed += len(shares)
        if proof.factor is None:
            return
        factor = float(proof.factor)
        # The first is proved with a factor of its own, the others where they are as large as what it proves.
        proved = [factor, *(share for share in shares[1:] if share >= factor)]
        ratios = [*left_sides(*made, rng)]
        self.proved += len(proved)
        self.searched += len(proved) * bool(ratios)
        self.lefts += len(proved) * len(ratios)
        for limit in proved:
            for what, ratio in ratios:
                self.nearest = max(self.nearest, ratio / limit) if limit > 0 else self.nearest
                if ratio > limit * (1 + _MARGIN) + _MARGIN * 1e-3:
                    self.bad += 1
                    print(f"VIOLATED {made[0].key} {what}: {ratio:.9g} > {limit:.9g} at {made[1]}")
                    print(f"  right side {made[0].claims[0].bound}", flush=True)
                    break


def main() -> int:
    """Change, prove and search until the time is over."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    counts, seed = Counts(), asked.seed
    while time.process_time() < asked.seconds:
        rng = np.random.default_rng(seed)
        for _ in range(_SETS):
            counts.add(rng)
        print(f"seed {seed}: {counts}", flush=True)
        seed += 1
    return bool(counts.bad)


if __name__ == "__main__":
    sys.exit(main())
