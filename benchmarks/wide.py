"""How often true statements are accused, or left undecided, on valid instances far apart (docs/verdicts.md).

Up to 300 clients, 10^6 local steps and rounds, units from 10^-8 to 10^8. Usage: python benchmarks/wide.py [10000 [0]]
"""

from __future__ import annotations

import sys

from ratecheck.selftesting.wide import statements, tally


def main() -> int:
    """Print the counts, what is accused and why others stay open; 1 where anything is accused."""
    count, seed = (int(word) for word in (*sys.argv[1:], *("10000", "0")[len(sys.argv) - 1 :]))
    found = tally(statements(), count, seed)
    for outcome, number in found.counts.most_common():
        print(f"{outcome.value:15} {number}")
    print(f"undecided       {found.undecided:.2%} of those about which the statement says something")
    print(f"refused as input {found.refused.total()}")
    for part in (found.open, found.refused):
        for (key, reason), number in part.most_common():
            print(f"{number:6}  {key}: {reason}")
    for key, instance, verdict in found.accused:
        print(f"{verdict.outcome.value} {key}: {instance.fields()}")
    return 1 if found.accused else 0


if __name__ == "__main__":
    sys.exit(main())
