"""ratecheck: is a convergence theorem right, how tight is it, and which step sizes does it admit.

Every command is a function of the same name here (``list`` is `catalogue`), and returns a frozen result with the
command's text as `str` and its JSON as ``to_dict()``. The names are loaded when first used, so that the command line's
help costs no numerical imports.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bounds import get
    from bounds.statement import Evaluation, Statement
    from ratecheck import algorithms, participation, problems
    from ratecheck.api.checks.falsify import FalsifyResult, WorstCaseResult, falsify
    from ratecheck.api.checks.rates import RatesResult, rates
    from ratecheck.api.checks.review import ReviewResult, review
    from ratecheck.api.checks.scaling import ScalingResult, scaling
    from ratecheck.api.checks.selftest import SelftestResult, selftest
    from ratecheck.api.checks.verify import VerifyResult, verify
    from ratecheck.api.proofs.audit import AuditResult, MutationResult, audit
    from ratecheck.api.proofs.implications import ImplicationsResult, implications
    from ratecheck.api.proofs.proof import ProofResult, proof
    from ratecheck.api.proofs.sharpen import SharpenResult, sharpen
    from ratecheck.api.records.plot import PlotResult, RegionResult, plot, plot_region
    from ratecheck.api.records.report import ReportResult, report
    from ratecheck.api.records.results import ResultsResult, results
    from ratecheck.api.records.run import RunResult, ShardResult, run
    from ratecheck.api.result import DrawnResult, Result
    from ratecheck.api.theory.bound import BoundResult, bound
    from ratecheck.api.theory.catalogue import CatalogueResult, catalogue
    from ratecheck.api.theory.compare import CompareResult, compare
    from ratecheck.api.theory.diff import DiffResult, diff
    from ratecheck.api.theory.lint import LintResult, lint, statement_schema
    from ratecheck.api.theory.new import NewResult, new
    from ratecheck.api.theory.rounds import RoundsResult, rounds
    from ratecheck.api.theory.show import ShowResult, show
    from ratecheck.api.theory.stepsize import StepsizeResult, stepsize
    from ratecheck.api.theory.tables import TablesResult, tables
    from ratecheck.engines import exact_average
    from ratecheck.engines import exact_moments as exact
    from ratecheck.engines import run_steps as simulate
    from ratecheck.engines.expectation import Expectation
    from ratecheck.engines.monte_carlo.step import Run
    from ratecheck.engines.types.averages import Average
    from ratecheck.errors import InputError
    from ratecheck.outcome import Outcome
    from ratecheck.verification.instance import Instance
    from ratecheck.verification.verdict import Comparison, Verdict

    __version__: str

_PUBLIC: dict[str, tuple[str, str | None]] = {
    "AuditResult": ("ratecheck.api.proofs.audit", "AuditResult"),
    "Average": ("ratecheck.engines.types.averages", "Average"),
    "BoundResult": ("ratecheck.api.theory.bound", "BoundResult"),
    "CatalogueResult": ("ratecheck.api.theory.catalogue", "CatalogueResult"),
    "CompareResult": ("ratecheck.api.theory.compare", "CompareResult"),
    "Comparison": ("ratecheck.verification.verdict", "Comparison"),
    "DiffResult": ("ratecheck.api.theory.diff", "DiffResult"),
    "DrawnResult": ("ratecheck.api.result", "DrawnResult"),
    "Evaluation": ("bounds.statement", "Evaluation"),
    "Expectation": ("ratecheck.engines.expectation", "Expectation"),
    "FalsifyResult": ("ratecheck.api.checks.falsify", "FalsifyResult"),
    "ImplicationsResult": ("ratecheck.api.proofs.implications", "ImplicationsResult"),
    "InputError": ("ratecheck.errors", "InputError"),
    "Instance": ("ratecheck.verification.instance", "Instance"),
    "LintResult": ("ratecheck.api.theory.lint", "LintResult"),
    "MutationResult": ("ratecheck.api.proofs.audit", "MutationResult"),
    "NewResult": ("ratecheck.api.theory.new", "NewResult"),
    "Outcome": ("ratecheck.outcome", "Outcome"),
    "PlotResult": ("ratecheck.api.records.plot", "PlotResult"),
    "ProofResult": ("ratecheck.api.proofs.proof", "ProofResult"),
    "RatesResult": ("ratecheck.api.checks.rates", "RatesResult"),
    "RegionResult": ("ratecheck.api.records.plot", "RegionResult"),
    "ReportResult": ("ratecheck.api.records.report", "ReportResult"),
    "Result": ("ratecheck.api.result", "Result"),
    "ResultsResult": ("ratecheck.api.records.results", "ResultsResult"),
    "ReviewResult": ("ratecheck.api.checks.review", "ReviewResult"),
    "RoundsResult": ("ratecheck.api.theory.rounds", "RoundsResult"),
    "Run": ("ratecheck.engines.monte_carlo.step", "Run"),
    "RunResult": ("ratecheck.api.records.run", "RunResult"),
    "ScalingResult": ("ratecheck.api.checks.scaling", "ScalingResult"),
    "SelftestResult": ("ratecheck.api.checks.selftest", "SelftestResult"),
    "ShardResult": ("ratecheck.api.records.run", "ShardResult"),
    "SharpenResult": ("ratecheck.api.proofs.sharpen", "SharpenResult"),
    "ShowResult": ("ratecheck.api.theory.show", "ShowResult"),
    "Statement": ("bounds.statement", "Statement"),
    "StepsizeResult": ("ratecheck.api.theory.stepsize", "StepsizeResult"),
    "TablesResult": ("ratecheck.api.theory.tables", "TablesResult"),
    "Verdict": ("ratecheck.verification.verdict", "Verdict"),
    "VerifyResult": ("ratecheck.api.checks.verify", "VerifyResult"),
    "WorstCaseResult": ("ratecheck.api.checks.falsify", "WorstCaseResult"),
    "algorithms": ("ratecheck.algorithms", None),
    "audit": ("ratecheck.api.proofs.audit", "audit"),
    "bound": ("ratecheck.api.theory.bound", "bound"),
    "catalogue": ("ratecheck.api.theory.catalogue", "catalogue"),
    "compare": ("ratecheck.api.theory.compare", "compare"),
    "diff": ("ratecheck.api.theory.diff", "diff"),
    "exact": ("ratecheck.engines", "exact_moments"),
    "exact_average": ("ratecheck.engines", "exact_average"),
    "falsify": ("ratecheck.api.checks.falsify", "falsify"),
    "get": ("bounds", "get"),
    "implications": ("ratecheck.api.proofs.implications", "implications"),
    "lint": ("ratecheck.api.theory.lint", "lint"),
    "new": ("ratecheck.api.theory.new", "new"),
    "participation": ("ratecheck.participation", None),
    "plot": ("ratecheck.api.records.plot", "plot"),
    "plot_region": ("ratecheck.api.records.plot", "plot_region"),
    "problems": ("ratecheck.problems", None),
    "proof": ("ratecheck.api.proofs.proof", "proof"),
    "rates": ("ratecheck.api.checks.rates", "rates"),
    "report": ("ratecheck.api.records.report", "report"),
    "results": ("ratecheck.api.records.results", "results"),
    "review": ("ratecheck.api.checks.review", "review"),
    "rounds": ("ratecheck.api.theory.rounds", "rounds"),
    "run": ("ratecheck.api.records.run", "run"),
    "scaling": ("ratecheck.api.checks.scaling", "scaling"),
    "selftest": ("ratecheck.api.checks.selftest", "selftest"),
    "sharpen": ("ratecheck.api.proofs.sharpen", "sharpen"),
    "show": ("ratecheck.api.theory.show", "show"),
    "simulate": ("ratecheck.engines", "run_steps"),
    "statement_schema": ("ratecheck.api.theory.lint", "statement_schema"),
    "stepsize": ("ratecheck.api.theory.stepsize", "stepsize"),
    "tables": ("ratecheck.api.theory.tables", "tables"),
    "verify": ("ratecheck.api.checks.verify", "verify"),
}


def require_own_bounds() -> None:
    """Raise `ImportError` with one line where the imported ``bounds`` is an unrelated package of the same name."""
    bounds = importlib.import_module("bounds")
    if getattr(bounds, "DISTRIBUTION", None) != "ratecheck":
        place = getattr(bounds, "__file__", None) or "an unknown place"
        raise ImportError(
            f"the package 'bounds' at {place} is not ratecheck's: remove it, or install ratecheck elsewhere"
        )


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("ratecheck")
    if name not in _PUBLIC:
        raise AttributeError(f"module 'ratecheck' has no attribute {name!r}")
    require_own_bounds()
    module, attribute = _PUBLIC[name]
    loaded = importlib.import_module(module)
    return loaded if attribute is None else getattr(loaded, attribute)


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "AuditResult",
    "Average",
    "BoundResult",
    "CatalogueResult",
    "CompareResult",
    "Comparison",
    "DiffResult",
    "DrawnResult",
    "Evaluation",
    "Expectation",
    "FalsifyResult",
    "ImplicationsResult",
    "InputError",
    "Instance",
    "LintResult",
    "MutationResult",
    "NewResult",
    "Outcome",
    "PlotResult",
    "ProofResult",
    "RatesResult",
    "RegionResult",
    "ReportResult",
    "Result",
    "ResultsResult",
    "ReviewResult",
    "RoundsResult",
    "Run",
    "RunResult",
    "ScalingResult",
    "SelftestResult",
    "ShardResult",
    "SharpenResult",
    "ShowResult",
    "Statement",
    "StepsizeResult",
    "TablesResult",
    "Verdict",
    "VerifyResult",
    "WorstCaseResult",
    "__version__",
    "algorithms",
    "audit",
    "bound",
    "catalogue",
    "compare",
    "diff",
    "exact",
    "exact_average",
    "falsify",
    "get",
    "implications",
    "lint",
    "new",
    "participation",
    "plot",
    "plot_region",
    "problems",
    "proof",
    "rates",
    "report",
    "results",
    "review",
    "rounds",
    "run",
    "scaling",
    "selftest",
    "sharpen",
    "show",
    "simulate",
    "statement_schema",
    "stepsize",
    "tables",
    "verify",
]
