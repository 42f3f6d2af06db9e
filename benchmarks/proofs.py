"""What `ratecheck prove` proves of the catalogue: ``python benchmarks/proofs.py [PAPER ...]``.

For every statement about a method a line: verdict, the factor of the right side, whether for every T, the potential's
number of terms, processor seconds; or the reason why no proof is looked for. By default the classics and pfl.
"""

import sys
import time

import bounds
from ratecheck.errors import InputError
from ratecheck.proving.prove import PotentialProof, prove
from ratecheck.views.width import table


def row(key: str) -> tuple[str, ...]:
    """One line of the table."""
    begun = time.process_time()
    try:
        proof = prove(bounds.get(key), {})
    except InputError as error:
        return key, "not in reach", "", "", "", str(error).removeprefix(f"{key} is not in reach of a proof: ")[:70]
    factor = "" if proof.factor is None else f"{float(proof.factor):.5g}"
    seconds = f"{time.process_time() - begun:.1f}"
    return key, proof.verdict, factor, "every T" if proof.every_T else f"T={proof.values['T']:g}", seconds, size(proof)


def size(proof: PotentialProof) -> str:
    """How large the proof is."""
    parts = [part for claim in proof.claims for part in claim.parts]
    potentials = sum(len(part.plan.potentials) for part in parts)
    return f"{potentials} potentials, {sum(1 for part in parts for _ in part.multipliers)} inequalities"


def main(papers: list[str]) -> None:
    """Print the table and how many are proved."""
    keys = [each.key for paper in papers for each in bounds.statements(paper) if each.algorithm is not None]
    rows = []
    for key in keys:
        rows.append(row(key))
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    print(table([("statement", "verdict", "factor", "rounds", "seconds", "proof or reason"), *rows]))
    proved = sum(each[1].startswith("PROVED") for each in rows)
    print(f"{proved} of {len(rows)} proved")


if __name__ == "__main__":
    main(sys.argv[1:] or ["classics", "pfl"])
