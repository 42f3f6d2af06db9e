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
    from ratecheck.api.audit import AuditResult, MutationResult, audit
    from ratecheck.api.bound import BoundResult, bound
    from ratecheck.api.catalogue import CatalogueResult, catalogue
    from ratecheck.api.compare import CompareResult, compare
    from ratecheck.api.diff import DiffResult, diff
    from ratecheck.api.falsify import FalsifyResult, WorstCaseResult, falsify
    from ratecheck.api.implications import ImplicationsResult, implications
    from ratecheck.api.lint import LintResult, lint, statement_schema
    from ratecheck.api.new import NewResult, new
    from ratecheck.api.plot import PlotResult, RegionResult, plot, plot_region
    from ratecheck.api.proof import ProofResult, proof
    from ratecheck.api.rates import RatesResult, rates
    from ratecheck.api.report import ReportResult, report
    from ratecheck.api.result import DrawnResult, Result
    from ratecheck.api.results import ResultsResult, results
    from ratecheck.api.review import ReviewResult, review
    from ratecheck.api.rounds import RoundsResult, rounds
    from ratecheck.api.run import RunResult, ShardResult, run
    from ratecheck.api.scaling import ScalingResult, scaling
    from ratecheck.api.selftest import SelftestResult, selftest
    from ratecheck.api.sharpen import SharpenResult, sharpen
    from ratecheck.api.show import ShowResult, show
    from ratecheck.api.stepsize import StepsizeResult, stepsize
    from ratecheck.api.tables import TablesResult, tables
    from ratecheck.api.verify import VerifyResult, verify
    from ratecheck.engines import exact_average
    from ratecheck.engines import exact_moments as exact
    from ratecheck.engines import run_steps as simulate
    from ratecheck.engines.moments.averages import Average
    from ratecheck.engines.moments.exact import Expectation
    from ratecheck.engines.monte_carlo.step import Run
    from ratecheck.errors import InputError
    from ratecheck.outcome import Outcome
    from ratecheck.verification.instance import Instance
    from ratecheck.verification.verdict import Comparison, Verdict

    __version__: str

_PUBLIC: dict[str, tuple[str, str | None]] = {
    "AuditResult": ("ratecheck.api.audit", "AuditResult"),
    "Average": ("ratecheck.engines.moments.averages", "Average"),
    "BoundResult": ("ratecheck.api.bound", "BoundResult"),
    "CatalogueResult": ("ratecheck.api.catalogue", "CatalogueResult"),
    "CompareResult": ("ratecheck.api.compare", "CompareResult"),
    "Comparison": ("ratecheck.verification.verdict", "Comparison"),
    "DiffResult": ("ratecheck.api.diff", "DiffResult"),
    "DrawnResult": ("ratecheck.api.result", "DrawnResult"),
    "Evaluation": ("bounds.statement", "Evaluation"),
    "Expectation": ("ratecheck.engines.moments.exact", "Expectation"),
    "FalsifyResult": ("ratecheck.api.falsify", "FalsifyResult"),
    "ImplicationsResult": ("ratecheck.api.implications", "ImplicationsResult"),
    "InputError": ("ratecheck.errors", "InputError"),
    "Instance": ("ratecheck.verification.instance", "Instance"),
    "LintResult": ("ratecheck.api.lint", "LintResult"),
    "MutationResult": ("ratecheck.api.audit", "MutationResult"),
    "NewResult": ("ratecheck.api.new", "NewResult"),
    "Outcome": ("ratecheck.outcome", "Outcome"),
    "PlotResult": ("ratecheck.api.plot", "PlotResult"),
    "ProofResult": ("ratecheck.api.proof", "ProofResult"),
    "RatesResult": ("ratecheck.api.rates", "RatesResult"),
    "RegionResult": ("ratecheck.api.plot", "RegionResult"),
    "ReportResult": ("ratecheck.api.report", "ReportResult"),
    "Result": ("ratecheck.api.result", "Result"),
    "ResultsResult": ("ratecheck.api.results", "ResultsResult"),
    "ReviewResult": ("ratecheck.api.review", "ReviewResult"),
    "RoundsResult": ("ratecheck.api.rounds", "RoundsResult"),
    "Run": ("ratecheck.engines.monte_carlo.step", "Run"),
    "RunResult": ("ratecheck.api.run", "RunResult"),
    "ScalingResult": ("ratecheck.api.scaling", "ScalingResult"),
    "SelftestResult": ("ratecheck.api.selftest", "SelftestResult"),
    "ShardResult": ("ratecheck.api.run", "ShardResult"),
    "SharpenResult": ("ratecheck.api.sharpen", "SharpenResult"),
    "ShowResult": ("ratecheck.api.show", "ShowResult"),
    "Statement": ("bounds.statement", "Statement"),
    "StepsizeResult": ("ratecheck.api.stepsize", "StepsizeResult"),
    "TablesResult": ("ratecheck.api.tables", "TablesResult"),
    "Verdict": ("ratecheck.verification.verdict", "Verdict"),
    "VerifyResult": ("ratecheck.api.verify", "VerifyResult"),
    "WorstCaseResult": ("ratecheck.api.falsify", "WorstCaseResult"),
    "algorithms": ("ratecheck.algorithms", None),
    "audit": ("ratecheck.api.audit", "audit"),
    "bound": ("ratecheck.api.bound", "bound"),
    "catalogue": ("ratecheck.api.catalogue", "catalogue"),
    "compare": ("ratecheck.api.compare", "compare"),
    "diff": ("ratecheck.api.diff", "diff"),
    "exact": ("ratecheck.engines", "exact_moments"),
    "exact_average": ("ratecheck.engines", "exact_average"),
    "falsify": ("ratecheck.api.falsify", "falsify"),
    "get": ("bounds", "get"),
    "implications": ("ratecheck.api.implications", "implications"),
    "lint": ("ratecheck.api.lint", "lint"),
    "new": ("ratecheck.api.new", "new"),
    "participation": ("ratecheck.participation", None),
    "plot": ("ratecheck.api.plot", "plot"),
    "plot_region": ("ratecheck.api.plot", "plot_region"),
    "problems": ("ratecheck.problems", None),
    "proof": ("ratecheck.api.proof", "proof"),
    "rates": ("ratecheck.api.rates", "rates"),
    "report": ("ratecheck.api.report", "report"),
    "results": ("ratecheck.api.results", "results"),
    "review": ("ratecheck.api.review", "review"),
    "rounds": ("ratecheck.api.rounds", "rounds"),
    "run": ("ratecheck.api.run", "run"),
    "scaling": ("ratecheck.api.scaling", "scaling"),
    "selftest": ("ratecheck.api.selftest", "selftest"),
    "sharpen": ("ratecheck.api.sharpen", "sharpen"),
    "show": ("ratecheck.api.show", "show"),
    "simulate": ("ratecheck.engines", "run_steps"),
    "statement_schema": ("ratecheck.api.lint", "statement_schema"),
    "stepsize": ("ratecheck.api.stepsize", "stepsize"),
    "tables": ("ratecheck.api.tables", "tables"),
    "verify": ("ratecheck.api.verify", "verify"),
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
