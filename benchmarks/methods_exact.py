"""Expectations of the exact engine beside means of runs by steps, for every method of the catalogue.

``python benchmarks/methods_exact.py [--only NAME ...]``: 6 clients, 4 variables, noise, two local steps where a method
may take several, half of the clients drawn where it may be. The mean over the rounds of every recorded quantity, in
standard errors of 20,000 runs. Prints the largest of every method and of all, and the methods without an exact engine.
"""

from __future__ import annotations

import argparse

import methods
import numpy as np

import ratecheck as rc
from ratecheck.algorithms import METHODS
from ratecheck.participation import Graph, Trace, Uniform

CLIENTS, VARIABLES, STEPS, ROUNDS, RUNS, SEED = 6, 4, 2, 8, 20_000, 1
# What is not random agrees up to rounding.
ROUNDING = 1e-9


def compared(name: str) -> dict[str, float]:
    """By how many standard errors the mean over the rounds is off, of every quantity."""
    method = METHODS[name]
    problem = methods.problem_of(method, argparse.Namespace(clients=CLIENTS, variables=VARIABLES))
    trace = Trace.full(CLIENTS) if method.full else Uniform(CLIENTS, CLIENTS // 2)
    if method.algorithm.uses_delay and not method.full:
        # Delays are followed on the participants that are drawn beforehand.
        trace = Trace(np.random.default_rng(0).random((ROUNDS, CLIENTS)) < 1 / 2)
    if method.algorithm.mixed:
        trace = Graph.named("ring", CLIENTS)
    sizes = [each for each in method.step_sizes if each not in method.algorithm.optional]
    given = {each: methods.OTHER.get(each, 0.1) for each in sizes} | methods.noise_of(method)
    given |= {"K": int(method.fixed.get("K", STEPS)), "T": ROUNDS}
    expected = rc.exact(name, problem, trace, **given)
    run = rc.simulate(name, problem, trace, replicates=RUNS, seed=SEED, threads=1, **given)
    found = {}
    for record, expectation in expected.records.items():
        means, scale = run.records[record].mean(axis=1), np.abs(expectation).mean()
        off = abs(means.mean() - expectation.mean())
        spread = means.std(ddof=1) / np.sqrt(RUNS)
        found[record] = 0.0 if off <= ROUNDING * scale else float(off / spread) if spread else np.inf
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", help="these methods alone")
    found: dict[str, float] = {}
    count = 0
    for name in parser.parse_args().only or METHODS:
        try:
            row = compared(name)
        except rc.InputError as error:
            print(f"{name:<36}{'-':>8}  {error}", flush=True)
            continue
        count += len(row)
        found[name] = max(row.values(), default=0.0)
        print(f"{name:<36}{found[name]:>8.2f}  {max(row, key=row.__getitem__)}", flush=True)
    worst = max(found, key=found.__getitem__)
    print(f"largest of {count} quantities of {len(found)} methods: {found[worst]:.2f} ({worst})")


if __name__ == "__main__":
    main()
