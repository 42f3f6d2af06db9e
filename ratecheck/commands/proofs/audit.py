"""``ratecheck audit``."""

from __future__ import annotations

from typing import Any

import click

from ratecheck.api.proofs.audit import AuditResult, audit
from ratecheck.api.proofs.proof import proof
from ratecheck.auditing.finding import StepVerdict
from ratecheck.auditing.graph import Grade
from ratecheck.commands import arguments
from ratecheck.commands.exit_codes import DONE, FINDING, OPEN
from ratecheck.errors import InputError


@click.command(name="audit")
@click.argument("paper", metavar="[PAPER|KEY|FILE.py]", required=False)
@click.option("--step", metavar="ID", help="Only the step of this id, in detail.")
@click.option("--room", is_flag=True, help="Also which hypotheses are not needed, and what slack constants have.")
@click.option("--mutate", is_flag=True, help="Change every number, the direction and what is compared, one at a time.")
@arguments.certificates_option
@arguments.coq_option
@click.option("--graph", metavar="FILE", help="What KEY follows from, drawn (.svg, .pdf, .png), and what is missing.")
@arguments.workers_option
@arguments.scheduler_option
@arguments.json_option
def command(
    paper: str | None, graph: str | None, workers: int | None, scheduler: str | None, as_json: bool, **options: Any
) -> int:
    """Check every step of the proofs of a PAPER, or of all papers.

    KEY is a statement: its steps, and those of the statements that it follows from. FILE.py has statements of your own
    and STEPS, the steps of their proofs; FILE.py:NAME is one of these statements.
    Each step is PROVED with a certificate or on a solver's word, CHECKED on instances, or refuted by numbers.
    Then follows what this means for each statement, and a list of errata. Exit code 1 where a step is false, 3 where
    one is not decided. With --room, which takes several times as long, and with --step it also says which hypotheses a
    step holds without, and by how much each of its constants can be made sharper.
    """
    spread: dict[str, Any] = {"workers": workers, "scheduler": scheduler}
    if graph is not None:
        if paper is not None and ".py" in paper:
            # A file has lines of proofs only, none of the implications between them that are drawn.
            raise InputError("graphs are drawn for statements of the catalogue only: leave out --graph")
        if paper is None or "/" not in paper or options["step"] is not None or any(options.values()):
            raise InputError(
                "--graph is of one statement: give KEY --graph FILE, without --step, --mutate and the like"
            )
        with arguments.printed_first(as_json=as_json):
            drawn = proof(paper, file=graph, **spread)
        arguments.print_result(drawn, as_json=as_json)
        return int(drawn.graph.grade is Grade.FALSE)
    with arguments.printed_first(as_json=as_json):
        found = audit(paper, **options, **spread)
    arguments.print_result(found, as_json=as_json)
    # Of changed numbers none is a finding about a paper.
    if not isinstance(found, AuditResult):
        return DONE
    undecided = any(each.verdict is StepVerdict.UNKNOWN for each in found.steps)
    return FINDING if found.false else OPEN if undecided else DONE
