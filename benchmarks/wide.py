"""How often true statements are accused, or left undecided, on valid instances far apart (docs/verdicts.md).

    python benchmarks/wide.py [--instances 10000] [--seed 0] [--jobs 2] [--out results/wide.json]

Up to 300 clients, 10^6 local steps and rounds, units from 10^-8 to 10^8. Every finished part is kept beside the result
until the end, and taken up by the next run of the same code; the exit code is 1 where anything is accused.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import far_apart
import parts
from far_apart import statements, tally

from ratecheck.selftesting.kept import digest

# Instances of one part.
PART = 50


def part(first: int, last: int, seed: int) -> dict[str, Any]:
    """What is said about the instances from ``first`` to before ``last``, as data."""
    found = tally(statements(), range(first, last), seed)
    return {
        "counts": {outcome.value: count for outcome, count in found.counts.items()},
        "accused": [
            {"statement": key, "verdict": verdict.outcome.value, "instance": instance.fields()}
            for key, instance, verdict in found.accused
        ],
        "open": [[key, why, count] for (key, why), count in found.open.items()],
        "refused": [[key, why, count] for (key, why), count in found.refused.items()],
    }


def whole(found: list[dict[str, Any]]) -> dict[str, Any]:
    """All parts as one."""
    counts: Counter[str] = Counter()
    listed: dict[str, Counter[tuple[str, str]]] = {"open": Counter(), "refused": Counter()}
    for each in found:
        counts.update(each["counts"])
        for name, rows in listed.items():
            for key, why, count in each[name]:
                rows[key, why] += count
    inside = counts.total() - counts["NOT_APPLICABLE"]
    known = counts["HOLDS"] + counts["VIOLATED"]
    return {
        "counts": dict(counts.most_common()),
        "undecided": 1 - known / inside if inside else 0.0,
        "accused": [each for part in found for each in part["accused"]],
        **{name: [[key, why, count] for (key, why), count in rows.most_common()] for name, rows in listed.items()},
    }


def main() -> int:
    """Print the counts, what is accused and why others stay open; 1 where anything is accused."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--instances", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("results/wide.json"))
    given = parser.parse_args()
    code = digest(statements(), (given.seed, PART, Path(far_apart.__file__).read_text()))
    ranges = [(first, min(first + PART, given.instances)) for first in range(0, given.instances, PART)]
    found = whole(parts.done(part, [(*each, given.seed) for each in ranges], given.jobs, given.out, code))
    parts.write(given.out, {"instances": given.instances, "seed": given.seed, "code": code, **found})
    for outcome, number in found["counts"].items():
        print(f"{outcome:15} {number}")
    print(f"undecided       {found['undecided']:.2%} of those about which the statement says something")
    print(f"refused         {sum(count for *_, count in found['refused'])}")
    for key, why, count in (*found["open"], *found["refused"]):
        print(f"{count:6}  {key}: {why}")
    for each in found["accused"]:
        print(f"{each['verdict']} {each['statement']}: {each['instance']}")
    return 1 if found["accused"] else 0


if __name__ == "__main__":
    sys.exit(main())
