"""What ``docs/claims.json`` keeps of the studies' findings: every claim with its verdict, without the curves.

    ratecheck run experiments/NAME.toml
    python docs/claims.py results/NAME/claims.json ...

Studies that are not named keep what they have there.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

KEPT = Path(__file__).parent / "claims.json"


def summary(found: dict[str, Any]) -> dict[str, Any]:
    """One study: its choices; per claim how many comparisons agree, and the span of ratios and of their limits."""
    claims = [{**_named(claim), **_span(claim["comparisons"])} for claim in found["claims"]]
    kept = ("figure", "curve", "statement", "bound", "metric_bound", "admissible", "mean")
    theory = [{key: each[key] for key in kept} for each in found["theory"]]
    return {"title": found["title"], "chosen": found["chosen"], "claims": claims, "theory": theory}


def _named(claim: dict[str, Any]) -> dict[str, Any]:
    return {key: claim[key] for key in ("name", "figure", "says", "source", "verdict", "noisy")}


def _span(comparisons: list[dict[str, Any]]) -> dict[str, Any]:
    ratios = [each["ratio"] for each in comparisons if each["ratio"] is not None]
    highs = [ratio["high"] for ratio in ratios]
    return {
        "comparisons": len(comparisons),
        "agree": sum(each["side"] == "agrees" for each in comparisons),
        "oppose": sum(each["side"] == "opposes" for each in comparisons),
        "ratios": [min(r["value"] for r in ratios), max(r["value"] for r in ratios)] if ratios else None,
        # An unbounded limit is None.
        "limits": [min(r["low"] for r in ratios), None if None in highs else max(highs)] if ratios else None,
    }


if __name__ == "__main__":
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for path in sys.argv[1:]:
        one = json.loads(Path(path).read_text())
        if one["quick"]:
            sys.exit(f"{path} is of a smoke test")
        kept[one["study"]] = summary(one)
    KEPT.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")
