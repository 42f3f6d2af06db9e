"""Whether the rate card finds wrong exponents (docs/rates.md).

    python benchmarks/planted.py [--jobs 2] [--out results/planted.json] [KEY]...

Each term of each statement falls by x^(1/4) too fast, then too slowly, in each size of the run and each delay. The exit
code is 1 where that is missed.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import parts
import planted_rates
from planted_rates import PlantedRate, parameters, rates

import bounds
from ratecheck.selftesting.kept import digest

KEYS = (
    "pfl/theorem-3.7", "pfl/corollary-3.8", "pfl/theorem-3.11-tuned", "pfl/theorem-4.5", "pfl/corollary-4.6",
    "fedsum/theorem-c.1-repaired", "fedsum/theorem-d.1-repaired", "fedsum/theorem-e.1-repaired",
    "fedsum/theorem-4.1-repaired", "fedsum/theorem-g.1-repaired",
    "fedsum/corollary-g.1-case-1", "fedsum/corollary-g.1-case-2-repaired", "fedsum/corollary-g.1-case-3",
    "fedsum/corollary-g.1-case-4",
    "flame/theorem-2-unbiased-wide-repaired", "flame/theorem-2-biased-wide-repaired",
    "simfbo/theorem-1-order", "simfbo/theorem-1-order-full", "simfbo/theorem-1-order-partial", "simfbo/theorem-2-order",
)  # fmt: skip


def row(each: PlantedRate) -> dict[str, Any]:
    """One planted exponent, as data."""
    violation, exponents = each.found.violation, each.found.exponents
    return {
        "statement": each.key,
        "row": each.true.row.name,
        "parameter": each.parameter,
        "power": each.power,
        "true": each.true.finding.value,
        "wanted": each.wanted.value,
        "found": each.found.finding.value,
        "caught": each.caught,
        "term": exponents and round(exponents[0], 4),
        "worst": exponents and round(exponents[1], 4),
        "at": violation and violation.at,
        "left": violation and violation.left,
        "bound": violation and violation.bound,
        "verify": violation and violation.verdict and violation.verdict.value,
        "reason": "" if each.caught and each.found.finding is not each.true.finding else each.found.reason,
    }


def part(key: str, parameter: str) -> dict[str, Any]:
    """All rows of one statement in one parameter, and the seconds of CPU of the slowest."""
    found, slowest, before = [], 0.0, time.process_time()
    for each in rates(key, parameter):
        slowest, before = max(slowest, time.process_time() - before), time.process_time()
        found.append(row(each))
    return {"rows": found, "slowest": slowest}


def main() -> int:
    """Write all, print those that are missed; 1 where there are any."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("keys", nargs="*", default=KEYS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("results/planted.json"))
    given = parser.parse_args()
    tasks = [(key, name) for key in given.keys for name in parameters(bounds.get(key))]
    code = digest([], (tuple(given.keys), Path(planted_rates.__file__).read_text()))
    found = parts.done(part, tasks, given.jobs, given.out, code)
    rows = [each for one in found for each in one["rows"]]
    parts.write(given.out, rows)
    missed = [each for each in rows if not each["caught"]]
    print(f"{len(rows) - len(missed)} of {len(rows)} as wanted; slowest {max(one['slowest'] for one in found):.0f} s")
    for each in missed:
        print(f"{each['statement']} {each['row']} in {each['parameter']} {each['power']:+}: wanted {each['wanted']}")
        print(f"    {each['found']}: {each['reason']}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
