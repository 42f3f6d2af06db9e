"""What `ratecheck prove` proves of the catalogue: ``python benchmarks/proofs.py [--cap SECONDS] [PAPER|KEY ...]``.

For every statement about a method a line: verdict, the factor of the right side, whether for every T, processor
seconds of the proof, its size, and how many of its claims `recheck.py` accepts; or the reason why no proof is looked
for or found. Each is tried in a process of its own, which ends after ``--cap`` processor seconds, 60 by default. By
default the classics and pfl.
"""

import argparse
import multiprocessing
import resource
import sys
import time

import bounds
from ratecheck.errors import InputError
from ratecheck.proving.certificate import certificates
from ratecheck.proving.prove import PotentialProof, prove
from ratecheck.views.width import table


def row(key: str) -> tuple[str, ...]:
    """One line of the table."""
    begun = time.process_time()
    try:
        proof = prove(bounds.get(key), {})
    except InputError as error:
        return key, "not in reach", "", "", "", str(error).removeprefix(f"{key} is not in reach of a proof: ")[:90]
    factor = "" if proof.factor is None else f"{float(proof.factor):.5g}"
    seconds = f"{time.process_time() - begun:.1f}"
    return key, proof.verdict, factor, "every T" if proof.every_T else f"T={proof.values['T']:g}", seconds, size(proof)


def size(proof: PotentialProof) -> str:
    """How large the proof is."""
    parts = [part for claim in proof.claims for part in claim.parts]
    potentials = sum(len(part.plan.potentials) for part in parts)
    accepted = certificates(proof) if proof.factor is not None else []
    claims = f"{sum(bool(each['certificate']) for each in accepted)} claims accepted"
    if rejected := [each for each in accepted if each["reason"]]:
        claims += f", {len(rejected)} not: {rejected[0]['reason'][:40]}"
    return f"{potentials} potentials, {sum(1 for part in parts for _ in part.multipliers)} inequalities, {claims}"


def capped(key: str, cap: int) -> tuple[str, ...]:
    """The line of a statement that is tried in a process of its own, for so many processor seconds at most."""
    receiving, sending = multiprocessing.Pipe(duplex=False)

    def work() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (cap, cap))
        sending.send(row(key))

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    sending.close()
    try:
        found: tuple[str, ...] = receiving.recv()
    except EOFError:
        found = key, "NOT PROVED", "", "", f"> {cap}", f"no answer in {cap} processor seconds"
    process.join()
    return found


def main() -> None:
    """Print the table and how many are proved."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cap", type=int, default=60)
    parser.add_argument("names", nargs="*", default=["classics", "pfl"])
    asked = parser.parse_args()
    keys = [
        key
        for name in asked.names
        for key in (
            [name] if "/" in name else [each.key for each in bounds.statements(name) if each.algorithm is not None]
        )
    ]
    rows = []
    for key in keys:
        rows.append(capped(key, asked.cap))
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    print(table([("statement", "verdict", "factor", "rounds", "seconds", "proof or reason"), *rows]))
    proved = sum(each[1].startswith("PROVED") for each in rows)
    print(f"{proved} of {len(rows)} proved")


if __name__ == "__main__":
    main()
