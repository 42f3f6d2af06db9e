"""``rc.prove``, the command ``prove``."""

from __future__ import annotations

import contextlib
import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bounds.sentences import words
from bounds.statement import Statement
from ratecheck.api.given import Parameter, Parameters, StatementLike, one
from ratecheck.api.given import parameters as numbers
from ratecheck.api.proofs.proof_files import ProofFiles
from ratecheck.api.result import DrawnResult, Result
from ratecheck.auditing.export.certificates import file_data
from ratecheck.complexity.compare import read_axes
from ratecheck.errors import InputError
from ratecheck.falsification.cube_search import Budget
from ratecheck.falsification.falsified import Falsified
from ratecheck.falsification.falsify import falsify_to_the_end
from ratecheck.inputs import whole
from ratecheck.outcome import Outcome
from ratecheck.plain import picked_or_none
from ratecheck.proving.bracket import Bracket, bracket
from ratecheck.proving.certificate import certificates as answered
from ratecheck.proving.improve import BestValue, SharpTerm
from ratecheck.proving.improve import best as best_value
from ratecheck.proving.improve import sharpest as sharper_terms
from ratecheck.proving.prove import PotentialProof
from ratecheck.proving.prove import prove as found_proof
from ratecheck.proving.ranges.range_claims import range_certificates
from ratecheck.proving.ranges.range_proof import RangeProof, prove_on_range
from ratecheck.views.checks.falsify import falsified_text
from ratecheck.views.drawing.brackets import bracket_figure
from ratecheck.views.progress import progress
from ratecheck.views.proofs.improve import improved_fields, improved_lines
from ratecheck.views.proofs.prove import prove_fields, prove_text, proved_sides
from ratecheck.views.proofs.ranges import range_fields, range_lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Values of a parameter at which a proof is looked for, where no number is given.
_POINTS = 9


@dataclass(frozen=True, eq=False, repr=False)
class ProveResult(DrawnResult):
    """A ``proof`` of a statement at numbers, or what of it was found; ``certificates`` names the files of it.

    ``search`` is what a short search for violations at any numbers found, None where there was none. ``sharpest`` are
    the terms of the right side with their smallest proved factors, ``best`` is the value of a parameter with the
    smallest proved bound, and ``bracket`` what is found and proved along a range, where these were requested; the
    picture is that of the bracket. ``within`` is the proof on a whole range, None where none was requested.
    """

    proof: PotentialProof
    search: Falsified | None = None
    certificates: str = ""
    sharpest: tuple[SharpTerm, ...] = ()
    best: BestValue | None = None
    bracket: Bracket | None = None
    within: RangeProof | None = None

    @property
    def refuted(self) -> bool:
        """Whether an instance violates the statement, at the same numbers or at others."""
        return self.search is not None and self.search.outcome is Outcome.VIOLATED

    @property
    def verdict(self) -> str:
        """REFUTED, PROVED, PROVED UP TO 1e-9, or NOT PROVED: on the whole range where one is given."""
        if self.refuted:
            return "REFUTED"
        return self.proof.verdict if self.within is None else self.within.verdict

    @property
    def proved(self) -> bool:
        """True where the right side is proved, or 1 + 1e-9 of it where proofs have no slack, and nothing refutes it."""
        return self.verdict.startswith("PROVED")

    @property
    def certificate(self) -> dict[str, Any]:
        """The claims that make up the proof with their certificates, as the data of a file for `recheck.py`."""
        return file_data(self.answers)

    @property
    def answers(self) -> list[dict[str, Any]]:
        """The claims at the numbers, and those on the range, each with its certificate or why there is none."""
        found = [] if self.proof.factor is None else answered(self.proof)
        return found if self.within is None else [*found, *range_certificates(self.within)]

    def __str__(self) -> str:
        lines = [prove_text(self.proof)]
        if self.search is not None and self.refuted:
            elsewhere = ["at other numbers than those of the instance:"] * (self.proof.factor is not None)
            lines = ["REFUTED, by an instance:", falsified_text(self.search), *elsewhere, *lines]
        elif self.search is not None and self.search.tightness is not None:
            among = f"{self.search.evaluations} at the search's own numbers"
            lines.append(f"  no instance violates the statement among {among}: left/right up to {self._found}")
        lines += [] if self.within is None else [f"  {line}" for line in range_lines(self.within)]
        lines += improved_lines(self.sharpest, self.best, self.bracket)
        return "\n".join([*lines, *([f"  certificate: {self.certificates}"] if self.certificates else [])])

    @property
    def _found(self) -> str:
        assert self.search is not None
        return f"{self.search.tightness:.6g}"

    def _headline(self) -> str:
        said = "" if self.proof.factor is None else f", {proved_sides(self.proof)}"
        return f"{self.proof.statement.key}: {self.verdict}{said}"

    def _fields(self) -> dict[str, Any]:
        search = picked_or_none(self.search, "outcome", "tightness", "evaluations")
        return {
            **prove_fields(self.proof),
            "verdict": self.verdict,
            "search": search,
            "certificate": self.certificates,
            **({} if self.within is None else {"within": range_fields(self.within)}),
            **improved_fields(self.sharpest, self.best, self.bracket),
        }

    def _draw(self) -> Figure:
        if self.bracket is None:
            raise InputError("a proof is drawn over the values of a parameter: give over, as in over='K=1:16'")
        return bracket_figure(self.proof.statement, self.bracket)

    def _repr_html_(self) -> str:
        return Result._repr_html_(self) if self.bracket is None else super()._repr_html_()


def prove(
    statement: StatementLike,
    /,
    *,
    evaluations: int = 300,
    seed: int = 0,
    certificate: str | Path | None = None,
    coq: str | Path | None = None,
    sharpest: bool = False,
    best: str | None = None,
    over: str | None = None,
    within: str | None = None,
    potential: str = "",
    parameters: Parameters | None = None,
    **named: Parameter,
) -> ProveResult:
    """A proof of a statement at given numbers from its method alone: a potential that is found, checked exactly.

    From the method's four functions one round is played on vectors of a Hilbert space of random variables; what
    functions of the assumed class satisfy at every pair of points, the noise's independence and the draw of the clients
    are all that is known of them. A semidefinite program finds a potential and multipliers, which are rounded to
    fractions, so that the verdict is one of exact arithmetic. Numbers that are not given are of order 1; decimals are
    taken as they are written. ``evaluations`` instances of any numbers are then searched for a violation, 0 for none: a
    theorem that is wrong elsewhere only is REFUTED so. ``certificate`` is a file for `recheck.py` of every claim that
    makes up the proof, ``coq`` one of lemmas for Coq (``.v``). ``sharpest`` finds for each term of the right side the
    smallest factor that is proved, the other terms as they are; ``best``, a parameter such as a step size, its value
    with the smallest proved bound; ``over``, such as ``"K=1:16"``, what is proved along a range beside the worst
    instances that are known there, of which the result draws a picture. ``within``, such as ``"gamma=0:1/L"``, looks
    for a proof for all values of a parameter in a range, whose ends are numbers or formulas. ``potential`` is one of
    your own, to be checked, such as ``"gap + 3/8*(x - before)**2"``. Raises `InputError` for statements that are not in
    reach, such as those of methods that are not linear, and where a condition is broken.

    >>> import ratecheck as rc
    >>> found = rc.prove("pfl/theorem-3.7", n=10, m=3, K=2, T=40, evaluations=0)
    >>> found.proof.verdict, found.proof.factor < 1/3
    ('PROVED', True)
    """
    targets = ProofFiles.of(certificate, coq)
    wanted = one(statement)
    given = numbers(parameters, named, wanted.vocabulary)
    axes = read_axes([wanted], [over] if over else [], points=_POINTS)
    with progress("looking for a proof"):
        proof = found_proof(wanted, given, potential=potential)
    basic, kept = words.basic(wanted), {"T": proof.values["T"], **words.basic_names(wanted, given)}
    result = ProveResult(
        proof,
        _by_run(proof) or _searched(wanted, evaluations, seed),
        sharpest=tuple(sharper_terms(basic, proof.values)) if sharpest else (),
        best=None if best is None else best_value(basic, kept, _basic_name(wanted, best)),
        within=None if within is None else prove_on_range(wanted, given, within),
        bracket=None if not axes else bracket(basic, kept, axes[0], [_basic_name(wanted, n) for n in axes[0].names]),
    )
    if not targets.wanted or not result.answers:
        return result
    with result.kept():
        return dataclasses.replace(result, certificates=targets.save(result.answers))


def _basic_name(statement: Statement, name: str) -> str:
    """The name of a parameter in the basic vocabulary."""
    return next(iter(words.basic_names(statement, {name: 1.0})))


def _by_run(proof: PotentialProof) -> Falsified | None:
    """The run at the numbers of a proof that violates the statement; None without one."""
    found = proof.trials
    if found.refuting is None:
        return None
    return Falsified(proof.statement, found.against, found.refuting, None, found.tried, found.compared, proof.seconds)


def _searched(statement: Statement, evaluations: int, seed: int) -> Falsified | None:
    """A search for violations; None without evaluations, and where a statement has no instances to search."""
    if not whole("evaluations", evaluations, 0):
        return None
    with progress("searching"), contextlib.suppress(InputError):
        return falsify_to_the_end(statement, Budget(evaluations, functions=False), seed=seed)
    return None
