"""What is kept of the studies' findings, ``docs/kept/claims.json``: the verdict on every claim, without the curves.

    ratecheck run experiments/NAME.toml
    python docs/claims.py results/NAME/claims.json ...

Studies that are not named keep what they have there. What a claim says is in the file of the study.
"""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path
from typing import Any

import kept

# Twice as many digits as are shown, so that nothing is rounded twice.
_short = functools.partial(kept.short, digits=6)


def summary(found: dict[str, Any]) -> dict[str, Any]:
    """One study: per claim how many comparisons agree, the span of ratios and of their limits; bounds beside curves."""
    claims = [
        {**{key: each[key] for key in ("name", "verdict", "noisy")}, **_span(each["comparisons"])}
        for each in found["claims"]
    ]
    same = ("figure", "curve", "statement", "admissible")
    theory = [
        {**{key: each[key] for key in same}, **{key: _short(each[key]) for key in ("bound", "metric_bound", "mean")}}
        for each in found["theory"]
    ]
    return {"claims": claims, "theory": theory}


def _span(comparisons: list[dict[str, Any]]) -> dict[str, Any]:
    ratios = [each["ratio"] for each in comparisons if each["ratio"] is not None]
    highs = [ratio["high"] for ratio in ratios]
    return {
        "comparisons": len(comparisons),
        "agree": sum(each["side"] == "agrees" for each in comparisons),
        "oppose": sum(each["side"] == "opposes" for each in comparisons),
        "ratios": [_short(end(r["value"] for r in ratios)) for end in (min, max)] if ratios else None,
        # An unbounded limit is None.
        "limits": [_short(min(r["low"] for r in ratios)), None if None in highs else _short(max(highs))]
        if ratios
        else None,
    }


if __name__ == "__main__":
    every = kept.load("claims")
    for path in sys.argv[1:]:
        one = json.loads(Path(path).read_text())
        if one["quick"]:
            sys.exit(f"{path} is of a smoke test")
        every[one["study"]] = summary(one)
    kept.save("claims", dict(sorted(every.items())))
