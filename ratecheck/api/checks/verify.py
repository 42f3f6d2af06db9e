"""``rc.verify``, the command ``verify``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bounds.statement import Statement
from ratecheck.algorithms.model.asking import MethodError
from ratecheck.aliases import Progress
from ratecheck.api.given import Parameter, Parameters, StatementLike, place_of, select, unused, whole_paper
from ratecheck.api.given import parameters as numbers
from ratecheck.api.result import Result
from ratecheck.errors import InputError
from ratecheck.noise import NoiseLaw
from ratecheck.outcome import Outcome
from ratecheck.problems import Constant
from ratecheck.settings.alternatives import instead
from ratecheck.settings.prepare import ParticipationLike, ProblemLike, prepare_with
from ratecheck.settings.prepare import unused as unused_by_run
from ratecheck.settings.setting import Options
from ratecheck.verification import instance as instances
from ratecheck.verification.instance import Instance
from ratecheck.verification.proof import VerdictProof
from ratecheck.verification.shifted_index import with_shift
from ratecheck.verification.verdict import NO_ENGINE, Comparison, Verdict
from ratecheck.verification.verify import verify as verdict_on
from ratecheck.views.checks.verdict import outcome_text, proof_text, verdict_fields, verdict_table, verdict_text
from ratecheck.views.numbers import number
from ratecheck.views.progress import progress

# Proofs are imported where one is requested: most verdicts are given without.
if TYPE_CHECKING:
    from ratecheck.proving.bracket import ProvedBracket

# The worse, the earlier.
_ORDER = (Outcome.VIOLATED, Outcome.DIVERGED, Outcome.INCONCLUSIVE, Outcome.NOT_APPLICABLE, Outcome.HOLDS)


@dataclass(frozen=True, eq=False, repr=False)
class VerifyResult(Result):
    """Whether statements hold on a problem.

    There is one verdict per statement; ``several`` says that more than one was requested, or a paper. ``outcome``,
    ``slack`` and the others are those of `verdict`, the worst of them. ``proof`` is what interval arithmetic proves,
    where a saved instance was evaluated. ``bracket`` is what is proved at the constants of the problem, where that was
    requested.
    """

    verdicts: tuple[Verdict, ...]
    several: bool = False
    proof: VerdictProof | None = None
    bracket: ProvedBracket | None = None

    @property
    def verdict(self) -> Verdict:
        """The verdict; of several the one with the worst outcome, and among these the least slack."""
        return min(self.verdicts, key=lambda v: (_ORDER.index(v.outcome), float("inf") if v.slack is None else v.slack))

    @property
    def outcome(self) -> Outcome:
        """HOLDS, VIOLATED, NOT_APPLICABLE, INCONCLUSIVE or DIVERGED."""
        return self.verdict.outcome

    @property
    def slack(self) -> float | None:
        """The smallest right side / left side over the claims; None where there is none."""
        return self.verdict.slack

    @property
    def worst(self) -> Comparison | None:
        """Both sides of the claim with the least slack."""
        return self.verdict.worst

    @property
    def left(self) -> float | None:
        """The left side of the claim with the least slack."""
        return None if self.worst is None else self.worst.left

    @property
    def right(self) -> float | None:
        """The right side of the claim with the least slack."""
        return None if self.worst is None else self.worst.right

    @property
    def constants(self) -> dict[str, Constant]:
        """The certified constants of the statement's assumptions, by symbol."""
        return self.verdict.constants

    @property
    def table(self) -> str:
        """One row per verdict."""
        return verdict_table(self.verdicts)

    def __str__(self) -> str:
        parts = [*map(verdict_text, self.verdicts), *([self.table] if len(self.verdicts) > 1 else [])]
        beyond = [f"  of all instances: {fields['text']}" for fields in self._bracket_fields().values()]
        return "\n".join(["\n\n".join(parts), *([] if self.proof is None else [proof_text(self.proof)]), *beyond])

    def _headline(self) -> str:
        if self.several:
            counts = {o.value: sum(v.outcome is o for v in self.verdicts) for o in _ORDER}
            return ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        slack = "" if self.slack is None else f", slack {number(self.slack)}"
        return f"{self.verdict.statement.key}: {outcome_text(self.verdict)}{slack}"

    def _fields(self) -> dict[str, Any]:
        fields = [verdict_fields(verdict) for verdict in self.verdicts]
        if self.several:
            return {"verdicts": fields}
        rigorous = {} if self.proof is None else {"rigorous": self.proof.fields()}
        return {**fields[0], **rigorous, **self._bracket_fields()}

    def _bracket_fields(self) -> dict[str, Any]:
        if self.bracket is None:
            return {}
        from ratecheck.views.proofs.prove import bracket_fields

        return {"bracket": bracket_fields(self.bracket)}


def verify(
    *statements: StatementLike,
    problem: ProblemLike | None = None,
    participation: ParticipationLike | None = None,
    engine: str = "auto",
    seed: int = 0,
    replicates: int = 1024,
    threads: int | None = None,
    level: float = 0.01,
    traces: int = 3,
    instance: str | Path | Instance | None = None,
    ignore_conditions: bool = False,
    noise: str | NoiseLaw | None = None,
    prove: bool = False,
    each: Callable[[VerifyResult], None] | None = None,
    parameters: Parameters | None = None,
    **named: Parameter,
) -> VerifyResult:
    """Compare both sides of statements on a problem and certify every assumption.

    Parameters
    ----------
    *statements
        Keys, ``path/to/file.py:name`` or `Statement` objects; a paper's name stands for all of its statements.
    problem
        One of `ratecheck.problems`, or a name: quadratic, logistic, bilevel, digits, breast_cancer, libsvm:PATH,
        the path of an .npz file with arrays H (n, d, d), g (n, d) and the number shared, or ``path/to/file.py:name``,
        a problem that this file defines. By default the synthetic problem of the kind that the statement's method is
        about.
    participation
        One of `ratecheck.participation`, or a name: full, uniform, cyclic, reshuffled, largest, sine, bernoulli:P,
        markov:JOIN,LEAVE, or a .csv or .npz file with a matrix (T, n). By default what the statement assumes.
    engine
        "exact" (second moments, on quadratics), "step" (Monte Carlo) or "auto".
    seed
        Seed of the run's random streams.
    replicates
        Monte Carlo runs at most; fewer where they decide.
    threads
        Threads of Monte Carlo; all by default. Results do not depend on it.
    level
        Probability of a wrong Monte Carlo verdict, over all statements together.
    traces
        Number of sampled participation traces of a statement about any participation; each is a check of its own.
    instance
        An instance that `falsify` found, or its file, to evaluate again; at most one statement, and no parameters then.
    ignore_conditions
        Compare even where a step size breaks the statement's conditions.
    noise
        Law of the noise, one of `ratecheck.noise`, or its name with its numbers: gaussian, signs, uniform, sphere,
        student:NU, pareto:ALPHA,P, relative:RHO. By default that of the problem, Gaussian for most.
    prove
        Whether `prove` looks for a proof for all instances with the constants of this one; of a single statement.
    each
        Called with the result of every statement as soon as there is one.
    parameters, **named
        Numbers by the paper's symbols (n, m, K, T, sigma_u, gamma, ...) and parameters of a problem by name, such as
        coupling=0.3; ``parameters`` is a mapping, for names that are taken, such as a problem's seed.

    Raises
    ------
    InputError
        For input that cannot be used. Among several statements one that does not fit is NOT_APPLICABLE instead.

    Examples
    --------
    >>> import ratecheck as rc
    >>> rc.verify("pfl/theorem-3.7", n=10, m=9, K=25, T=50).outcome.value
    'HOLDS'
    """
    options = Options(engine, seed, replicates, level, ignore_conditions, threads, traces, noise=noise)
    if instance is not None:
        return _again(instance, statements, {**(parameters or {}), **named}, options)
    chosen = select(statements)
    # Clients may take different numbers of local steps, which a statement is about or not.
    steps = [statement.vocabulary.run.get("local_steps", "") for statement in chosen]
    given = numbers(parameters, named, *(statement.vocabulary for statement in chosen), many=steps)
    # Many checks in one run share one error budget.
    options = replace(options, level=level / len(chosen))
    verdicts = []
    for statement in chosen:
        try:
            verdicts.append(_verdict(statement, problem, given, options, participation, alone=len(chosen) == 1))
        except InputError as error:
            # Among several statements one that does not fit the request is a result; alone it is an error.
            if len(chosen) == 1:
                raise
            name = "-" if problem is None else problem if isinstance(problem, str) else type(problem).__name__
            verdicts.append(Verdict(statement, Outcome.NOT_APPLICABLE, name, NO_ENGINE, {}, reasons=(str(error),)))
        bracket = _bracket(verdicts[-1]) if prove and len(chosen) == 1 else None
        if each is not None:
            each(VerifyResult(tuple(verdicts[-1:]), bracket=bracket))
    remarks = unused(chosen[0].key, unused_by_run(chosen[0], given)) if len(chosen) == 1 else ()
    several = len(statements) > 1 or whole_paper(statements[0])
    return VerifyResult(tuple(verdicts), several=several, bracket=bracket, remarks=remarks)


def _bracket(verdict: Verdict) -> ProvedBracket:
    """What is proved of all instances with the constants of the one that was verified."""
    from ratecheck.proving.bracket import proved_bracket

    statement = verdict.statement
    known = {*statement.parameters, "n", "m", "K", "T"} - {*statement.settings}
    return proved_bracket(statement, {name: x for name, x in verdict.values.items() if name in known})


def _verdict(
    statement: Statement,
    problem: ProblemLike | None,
    given: dict[str, Any],
    options: Options,
    participation: ParticipationLike | None,
    *,
    alone: bool,
) -> Verdict:
    inputs = prepare_with(statement, problem, given, participation)

    def judged(each: Statement, report: Progress | None = None) -> Verdict:
        try:
            return verdict_on(
                each, inputs.problem, inputs.values, options,
                participation=inputs.participation, name=inputs.name, progress=report,
            )  # fmt: skip
        except MethodError as error:
            d = sum(inputs.problem.layout.values())
            raise MethodError(f"{error}, on a problem of {d} variables: d=... or --problem takes another") from None

    with progress(f"verifying {statement.key}") as report:
        found = with_shift(judged(statement, report), judged)
    if not alone or found.outcome is not Outcome.NOT_APPLICABLE:
        return found
    others = instead(statement, inputs.problem, inputs.participation, any_problem=problem is None)
    return replace(found, notes=(*found.notes, others)) if others else found


def saved_instance(saved: str | Path | Instance, statement: Statement | None) -> tuple[Instance, str]:
    """An instance or the one in a file, of another statement if wished, and what it is called in a verdict.

    Raises `InputError` for a file that is missing, damaged or no instance.
    """
    if isinstance(saved, Instance):
        return saved if statement is None else replace(saved, statement=statement), "the instance"
    return instances.load(place_of("instance", saved), statement), str(saved)


def _again(
    saved: str | Path | Instance, statements: tuple[StatementLike, ...], given: Parameters, options: Options
) -> VerifyResult:
    """The verdict on an instance, in floating point and in interval arithmetic."""
    if given or len(statements) > 1:
        wrong = next(iter(given), None) or statements[0]
        raise InputError(f"{wrong!r} and --instance: the file says which problem and numbers")
    statement = select(statements)[0] if statements else None
    found, name = saved_instance(saved, statement)
    with progress(f"verifying {found.statement.key}") as report:
        verdict = found.verdict(options, name=name, progress=report)
        verdict = with_shift(verdict, lambda each: replace(found, statement=each).verdict(options))
        proof = found.proof(options)
    return VerifyResult((proof.decides(verdict),), proof=proof)
