"""What the documentation computes: tables of the registries and of what is kept, and the outputs of the examples.

`everything` runs before Sphinx reads a page and writes to ``docs/_generated``, from where the pages include.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import examples
import first_page
import proof_tables as proofs
import registry_tables as registry
import reviews
import run_tables as runs
import statement_pages
from examples import GENERATED, HERE
from sphinx.application import Sphinx

# Files that are put beside the built pages as they are.
EXTRA = HERE / "_extra"
# Where what had a page of its own is now.
MOVED = {
    **{f"audit-{paper}": f"{paper}.html#audit" for paper in reviews.PAPERS},
    **{f"rates-{paper}": f"{paper}.html#rates" for paper in reviews.PAPERS},
    "benchmarks": "running.html#how-fast-it-is",
    "certificates": "audit.html#certificates",
    "classics": "catalogue.html#classics",
    "commands": "reference.html#commands",
    "comparing": "stepsizes.html#how-many-rounds-and-which-bound-is-smaller",
    "house": "design.html#where-is-what",
    "implications": "audit.html#implications",
    "left-out": "catalogue.html#left-out",
    "notation": "reference.html#notation",
    "proofs": "audit.html#proofs-as-graphs",
    "rates-planted": "rates.html#wrong-exponents-that-are-planted",
    "scaling": "rates.html#scaling",
    "scope": "audit.html#what-is-proved-and-what-is-printed",
    "tables": "rates.html#tables-of-rates",
    "tightness": "falsify.html#tightness",
}


def everything(_: Sphinx | None = None) -> None:
    """Write all tables and run all examples."""
    GENERATED.mkdir(exist_ok=True)
    tables: dict[str, Callable[[], str]] = {
        "notation": registry.notation,
        "counts": registry.counts,
        "found": registry.found_in_papers,
        "results": first_page.results,
        "methods": registry.methods,
        "variables": registry.variables,
        "parameters": registry.parameters,
        "constants": registry.constants,
        "tables": registry.rate_tables,
        "left-out-baselines": lambda: registry.left_out("baselines"),
        "classics-left-out": lambda: registry.left_out("classics"),
        "implications": proofs.implied,
        "selftest": proofs.self_test,
        "audit": proofs.audit_counts,
        "slack": proofs.slack_counts,
        "mutants": proofs.mutants,
        "one-core": lambda: runs.measured("one-core"),
        "two-cores": lambda: runs.measured("two-cores"),
        "method-times": runs.methods,
        "twins": runs.twins,
        **{f"coverage-{kind}": functools.partial(runs.coverage, kind) for kind in ("rigorous", "spread", "kurtosis")},
        "tightness": runs.tightness,
        "tightness-by-term": runs.tightness_by_term,
        "claims": runs.claims,
        "quarter": runs.quarter,
        "rates-planted": runs.planted_rates,
        "caught": runs.caught,
        "classics": runs.classic_rows,
        "reach": runs.reach,
        "polish": runs.polish,
    }
    for paper in reviews.PAPERS:
        tables[f"audit-{paper}"] = functools.partial(proofs.ledger, paper)
        tables[f"rates-{paper}"] = functools.partial(runs.rate_cards, paper)
        tables[f"left-out-{paper}"] = functools.partial(registry.left_out, paper)
    # The examples are processes of their own and run beside the tables, the pages with most of them first. Before these
    # the kernels are compiled, which takes most of a minute, and beside that come pages that need none.
    early = {name: place for place, name in enumerate(("start", "stepsizes", "reference"))}
    pages = sorted(
        HERE.glob("*.md"),
        key=lambda page: (early.get(page.stem, len(early)), -len(examples.examples(page)), page.name),
    )
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running = [pool.submit(examples.run_page, page) for page in pages if not examples.is_kept(page)]
        for name, made in tables.items():
            _write(GENERATED / f"{name}.md", made())
        statement_pages.write(_write)
        _write(EXTRA / "ratecheck.ipynb", examples.notebook(HERE / "python.md"))
        for old, new in MOVED.items():
            _write(
                EXTRA / f"{old}.html", f'<meta http-equiv="refresh" content="0; url={new}"><a href="{new}">moved</a>\n'
            )
        for page in running:
            page.result()


def _write(path: Path, text: str) -> None:
    """Write only what changed, so that Sphinx rebuilds only what changed."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
