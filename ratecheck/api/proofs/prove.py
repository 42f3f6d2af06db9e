"""``rc.prove``, the command ``prove``."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bounds.statement import Statement
from ratecheck import files
from ratecheck.api.given import Parameter, Parameters, StatementLike, one
from ratecheck.api.given import parameters as numbers
from ratecheck.api.result import Result
from ratecheck.errors import InputError
from ratecheck.falsification.falsified import Falsified
from ratecheck.falsification.falsify import falsify_to_the_end
from ratecheck.falsification.search import Budget
from ratecheck.inputs import whole
from ratecheck.outcome import Outcome
from ratecheck.plain import picked_or_none
from ratecheck.proving import certificate as certificates
from ratecheck.proving.prove import PotentialProof
from ratecheck.proving.prove import prove as found_proof
from ratecheck.settings.applicability import check_expectations
from ratecheck.views.checks.falsify import falsified_text
from ratecheck.views.progress import progress
from ratecheck.views.proofs.prove import prove_fields, prove_text


@dataclass(frozen=True, eq=False, repr=False)
class ProveResult(Result):
    """A ``proof`` of a statement at numbers, or what of it was found; ``file`` is where its certificate is.

    ``search`` is what a short search for violations at any numbers found, None where there was none.
    """

    proof: PotentialProof
    search: Falsified | None = None
    file: str = ""

    @property
    def refuted(self) -> bool:
        """Whether an instance violates the statement, at the same numbers or at others."""
        return self.search is not None and self.search.outcome is Outcome.VIOLATED

    @property
    def verdict(self) -> str:
        """REFUTED, PROVED, PROVED UP TO 1e-9, or NOT PROVED."""
        return "REFUTED" if self.refuted else self.proof.verdict

    @property
    def proved(self) -> bool:
        """Whether the right side is proved, or 1 + 1e-9 of it where no proof has room, and nothing refutes it."""
        return self.verdict.startswith("PROVED")

    @property
    def certificate(self) -> dict[str, Any]:
        """What has to hold and the fractions for which it does, as `ratecheck.proving.certificate.check` reads it."""
        return certificates.certificate(self.proof)

    def __str__(self) -> str:
        lines = [prove_text(self.proof)]
        if self.search is not None and self.refuted:
            lines = ["REFUTED, by an instance:", falsified_text(self.search), *lines]
        elif self.search is not None and self.search.tightness is not None:
            lines.append(f"  no instance violates it among {self.search.evaluations}: left/right up to {self._found}")
        return "\n".join([*lines, *([f"  certificate: {self.file}"] if self.file else [])])

    @property
    def _found(self) -> str:
        assert self.search is not None
        return f"{self.search.tightness:.6g}"

    def _headline(self) -> str:
        factor = self.proof.factor
        said = "" if factor is None else f", {float(factor):.6g} times the right side"
        return f"{self.proof.statement.key}: {self.verdict}{said}"

    def _fields(self) -> dict[str, Any]:
        search = picked_or_none(self.search, "outcome", "tightness", "evaluations")
        return {**prove_fields(self.proof), "verdict": self.verdict, "search": search, "certificate": self.file}


def prove(
    statement: StatementLike,
    /,
    *,
    evaluations: int = 300,
    seed: int = 0,
    certificate: str | Path | None = None,
    parameters: Parameters | None = None,
    **named: Parameter,
) -> ProveResult:
    """A proof of a statement at given numbers from its method alone: a potential that is found, checked exactly.

    From the method's four functions one round is played on vectors of a Hilbert space of random variables; what
    functions of the assumed class satisfy at every pair of points, the noise's independence and the draw of the clients
    are all that is known of them. A semidefinite program finds a potential and multipliers, which are rounded to
    fractions, so that the verdict is one of exact arithmetic. Numbers that are not given are of order 1; decimals are
    taken as they are written. ``evaluations`` instances of any numbers are then searched for a violation, 0 for none: a
    theorem that is wrong elsewhere only is REFUTED so. ``certificate`` is a file for what was found. Raises
    `InputError` for statements that are not in reach, such as those of methods that compress or mix on a graph, and
    where a condition is broken.

    >>> import ratecheck as rc
    >>> found = rc.prove("pfl/theorem-3.7", n=10, m=3, K=2, T=40, evaluations=0)
    >>> found.proof.verdict, found.proof.factor < 1/3
    ('PROVED', True)
    """
    wanted = one(statement)
    check_expectations(wanted, "prove")
    with progress("looking for a proof"):
        proof = found_proof(wanted, numbers(parameters, named, wanted.vocabulary))
    result = ProveResult(proof, _searched(wanted, evaluations, seed))
    if certificate is None or proof.factor is None:
        return result
    with result.kept():
        files.save(Path(certificate), json.dumps(result.certificate, indent=1) + "\n")
    return ProveResult(proof, result.search, str(certificate))


def _searched(statement: Statement, evaluations: int, seed: int) -> Falsified | None:
    """A search for violations; None without evaluations, and where a statement has no instances to search."""
    if not whole("evaluations", evaluations, 0):
        return None
    with progress("searching"), contextlib.suppress(InputError):
        return falsify_to_the_end(statement, Budget(evaluations, functions=False), seed=seed)
    return None
