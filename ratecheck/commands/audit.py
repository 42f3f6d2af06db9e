"""``ratecheck audit``."""

from __future__ import annotations

import dataclasses

import click

import bounds
from ratecheck.auditing.conclusions import conclude, errata
from ratecheck.auditing.finding import StepVerdict
from ratecheck.auditing.ledger import audit, has_ledger, module_of, mutate, position
from ratecheck.auditing.mutation.analysis import summarise
from ratecheck.commands.arguments import json_option, print_json, say
from ratecheck.errors import InputError
from ratecheck.views.audit import findings_fields, ledger_text, mutation_text, step_text
from ratecheck.views.progress import progress


@click.command(name="audit")
@click.argument("paper", required=False)
@click.option("--step", metavar="ID", help="Only the step of this id, in detail.")
@click.option("--mutate", is_flag=True, help="Change every printed constant, exponent and direction, one at a time.")
@json_option
def command(paper: str | None, step: str | None, mutate: bool, as_json: bool) -> int:
    """Check every step of the proofs of a PAPER, or of all papers.

    Each step is proved with a certificate, proved on a solver's word, checked on instances, or refuted by numbers.
    Then follows what this means for each statement, and a list of errata. Exit code 1 where a step is false.
    """
    papers = _papers(paper, step)
    modules = [module_of(name) for name in papers]
    statements = [statement for name in papers for statement in bounds.statements(name)]
    if mutate:
        return _mutate(modules, step, as_json)
    with progress("auditing") as report:
        findings = audit(modules, progress=report)
    conclusions = conclude(findings, statements)
    if step is not None:
        ids = [finding.id for finding in findings]
        position(step, ids)
        findings = [finding for finding in findings if finding.id == step]
    if as_json:
        print_json(findings_fields(findings, conclusions))
    elif step is not None:
        say(step_text(findings[0], conclusions[findings[0].of]))
    else:
        say(ledger_text(findings, conclusions, errata(findings, conclusions, statements)))
    return int(any(finding.verdict is StepVerdict.FALSE for finding in findings))


def _mutate(modules: list[str], step: str | None, as_json: bool) -> int:
    """Whether changes of printed numbers are noticed; the exit code is 0, whatever comes out."""
    with progress("changing numbers") as report:
        tested = mutate(modules, only=step, progress=report)
    papers = dict.fromkeys(each.paper for each in tested)
    summaries = [summarise([each for each in tested if each.paper == paper], paper) for paper in papers]
    if len(summaries) > 1:
        summaries.append(dataclasses.replace(summarise(tested, "all papers"), survivors=()))
    if as_json:
        print_json([summary.fields() for summary in summaries])
    else:
        say(mutation_text(summaries))
    return 0


def _papers(paper: str | None, step: str | None) -> list[str]:
    """The papers to look at: those with a ledger, where none is named."""
    if step is not None:
        prefix = step.partition("/")[0]
        if paper is not None and prefix != paper:
            raise InputError(f"step {step!r} is not one of {paper}: ids begin with the paper, such as {paper}/...")
        paper = prefix
    if paper is not None:
        bounds.statements(paper)
        if not has_ledger(paper):
            raise InputError(f"{paper} has no ledger of its proofs yet; {_those_with()}")
        return [paper]
    return [name for name in bounds.PAPERS if has_ledger(name)]


def _those_with() -> str:
    found = [name for name in bounds.PAPERS if has_ledger(name)]
    return f"there is one of {', '.join(found)}" if found else "there is none yet"
