"""``rc.prove``, the command ``prove``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ratecheck import files
from ratecheck.api.given import Parameter, Parameters, StatementLike, one
from ratecheck.api.given import parameters as numbers
from ratecheck.api.result import Result
from ratecheck.proving import certificate as certificates
from ratecheck.proving.prove import Proof
from ratecheck.proving.prove import prove as found_proof
from ratecheck.views.progress import progress
from ratecheck.views.proofs.prove import prove_fields, prove_text


@dataclass(frozen=True, eq=False, repr=False)
class ProveResult(Result):
    """A ``proof`` of a statement at numbers, or what of it was found; ``file`` is where its certificate is."""

    proof: Proof
    file: str = ""

    @property
    def proved(self) -> bool:
        """Whether the right side itself is proved, or 1 + 1e-9 of it where no proof has room."""
        return self.proof.verdict != "NOT PROVED"

    @property
    def certificate(self) -> dict[str, Any]:
        """What has to hold and the fractions for which it does, as `ratecheck.proving.certificate.check` reads it."""
        return certificates.certificate(self.proof)

    def __str__(self) -> str:
        return prove_text(self.proof) + (f"\n  certificate: {self.file}" if self.file else "")

    def _headline(self) -> str:
        factor = self.proof.factor
        said = "" if factor is None else f", {float(factor):.6g} times the right side"
        return f"{self.proof.statement.key}: {self.proof.verdict}{said}"

    def _fields(self) -> dict[str, Any]:
        return {**prove_fields(self.proof), "certificate": self.file}


def prove(
    statement: StatementLike,
    /,
    *,
    certificate: str | Path | None = None,
    parameters: Parameters | None = None,
    **named: Parameter,
) -> ProveResult:
    """A proof of a statement at given numbers from its method alone: a potential that is found, checked exactly.

    From the method's four functions one round is played on vectors of a Hilbert space of random variables; what
    functions of the assumed class satisfy at every pair of points, the noise's independence and the draw of the clients
    are all that is known of them. A semidefinite program finds a potential and multipliers, which are rounded to
    fractions, so that the verdict is one of exact arithmetic. Numbers that are not given are of order 1; decimals are
    taken as they are written. ``certificate`` is a file for what was found. Raises `InputError` for statements that are
    not in reach, such as those of methods that compress or mix on a graph, and where a condition is broken.

    >>> import ratecheck as rc
    >>> found = rc.prove("pfl/theorem-3.7", n=10, m=3, K=2, T=40)
    >>> found.proof.verdict, found.proof.factor < 1/3
    ('PROVED', True)
    """
    wanted = one(statement)
    with progress("looking for a proof"):
        proof = found_proof(wanted, numbers(parameters, named, wanted.vocabulary))
    result = ProveResult(proof)
    if certificate is None or proof.factor is None:
        return result
    with result.kept():
        files.save(Path(certificate), json.dumps(result.certificate, indent=1) + "\n")
    return ProveResult(proof, str(certificate))
