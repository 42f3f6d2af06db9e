"""How many wrong statements the search for counterexamples catches, and whether it accuses a true one.

    python benchmarks/caught.py [--jobs 2] [--seed 0] [--out results/caught.json] [KEY]...

The statements are the pairs of `bounds.papers.textbook.pairs` and, so that there are as many true ones, those of the
self-test's textbook; each is searched with the default budget. Every finished one is kept beside the result until the
end, and taken up by the next run of the same code; the exit code is 1 where a true statement is accused.
"""

from __future__ import annotations

import argparse
import math
import re
import statistics
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import parts

from bounds.papers.textbook.pairs import PAIRS
from bounds.papers.textbook.statements import STATEMENTS as TEXTBOOK
from ratecheck.falsification.falsified import Shrunk
from ratecheck.falsification.falsify import Budget, falsify
from ratecheck.falsification.shrink import shrunk
from ratecheck.outcome import Outcome
from ratecheck.selftesting.kept import digest
from ratecheck.views.checks.counterexample import WrittenCounterexample

STATEMENTS = {each.key: each for each in (*(each for pair in PAIRS for each in (pair.true, pair.wrong)), *TEXTBOOK)}


def part(key: str, seed: int) -> dict[str, Any]:
    """What the search says of a statement, as data."""
    found = shrunk(falsify(STATEMENTS[key], Budget(), seed=seed))
    tightness = found.tightness
    return {
        "key": key,
        "outcome": found.outcome.value,
        "tightness": tightness if tightness is None or math.isfinite(tightness) else "inf",
        "evaluations": found.evaluations,
        "applicable": found.applicable,
        "shape": found.shape and str(found.shape),
        "reasons": [*found.reasons],
        **({"counterexample": _counterexample(found.shrunk)} if found.shrunk else {}),
    }


def _counterexample(found: Shrunk) -> dict[str, Any]:
    """How large it is: clients, variables, rounds, local steps, and digits of the longest numerator or denominator."""
    text = WrittenCounterexample(found.instance, found.verdict).text
    # Both sides, which follow from the rest, stand after the last colon.
    digits = max((len(run) for run in re.findall(r"\d+", text.rpartition(": ")[0])), default=0)
    clients, variables, rounds, steps, _ = found.after
    return {
        "clients": clients, "variables": variables, "rounds": rounds, "steps": steps, "digits": digits, "text": text,
    }  # fmt: skip


def rows(found: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per statement, with the kind and what else is known of its pair."""
    listed: dict[str, dict[str, Any]] = {}
    for pair in PAIRS:
        for each, true in ((pair.true, True), (pair.wrong, False)):
            if each.key in found:
                what = {"true": True} if true else {"true": False, "kind": pair.kind.name.lower(), "hard": pair.hard}
                listed.setdefault(each.key, {"key": each.key, **what, **found[each.key]})
    for each in TEXTBOOK:
        if each.key in found:
            listed.setdefault(each.key, {"key": each.key, "true": True, **found[each.key]})
    return [*listed.values()]


def main() -> int:
    """Print what is caught by kind, what is missed and what is accused; 1 where a true statement is accused."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("keys", nargs="*", default=[*STATEMENTS])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("results/caught.json"))
    given = parser.parse_args()
    tasks = [(key, given.seed) for key in given.keys]
    code = digest([], (given.seed, *given.keys))
    listed = rows({each["key"]: each for each in parts.done(part, tasks, given.jobs, given.out, code)})
    parts.write(given.out, listed)
    wrong = [each for each in listed if not each["true"]]
    missed = [each for each in wrong if each["outcome"] != Outcome.VIOLATED.value]
    accused = [each for each in listed if each["true"] and each["outcome"] == Outcome.VIOLATED.value]
    silent = [each for each in listed if each["outcome"] == Outcome.NOT_APPLICABLE.value]
    asked, open_ = (Counter(each["kind"] for each in some) for some in (wrong, missed))
    for kind, count in asked.items():
        print(f"{kind:15} {count - open_[kind]:3} of {count}")
    print(f"{'all':15} {len(wrong) - len(missed):3} of {len(wrong)}; {len(listed) - len(wrong)} true ones")
    written = [each["counterexample"] for each in wrong if "counterexample" in each]
    if written:
        names = ("clients", "variables", "rounds", "steps", "digits")
        sizes = {name: sorted(each[name] for each in written) for name in names}
        said = ", ".join(f"{name} {statistics.median(size):g} (at most {size[-1]})" for name, size in sizes.items())
        print(f"{len(written)} counterexamples, medians: {said}")
    for each in missed:
        print(f"missed {each['key']}: tightness {each['tightness']}; {each['hard'] or 'within reach'}")
    for each in silent:
        print(f"not applicable {each['key']}: {'; '.join(each['reasons'])}")
    for each in accused:
        print(f"ACCUSED {each['key']}: tightness {each['tightness']}, {each['shape']}")
    return 1 if accused else 0


if __name__ == "__main__":
    sys.exit(main())
