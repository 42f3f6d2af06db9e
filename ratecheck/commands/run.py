"""``ratecheck run``."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import click

from ratecheck import files
from ratecheck.commands.arguments import json_option, note, print_json, say, threads_option
from ratecheck.studies import ClaimResult, Findings, RunStore, Study, judge, load, run_study
from ratecheck.studies.claims import ClaimComparison, Side
from ratecheck.studies.estimate import ConfidenceInterval
from ratecheck.studies.report import fields
from ratecheck.views.figures import check_labels, draw
from ratecheck.views.progress import progress
from ratecheck.views.text import number
from ratecheck.views.width import table


@click.command(name="run")
@click.argument("study_file", metavar="STUDY.toml", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), metavar="FOLDER", help="Default: results/NAME OF THE STUDY.")
@click.option("--replicates", type=click.IntRange(min=2), help="Replicates of every curve, instead of the file's.")
@threads_option
@click.option("--only", multiple=True, metavar="NAME", help="Only this figure; may be given several times.")
@click.option("--quick", is_flag=True, help="A smoke test: fewer rounds and replicates, verdicts marked as such.")
@json_option
def command(
    study_file: Path,
    out: Path | None,
    replicates: int | None,
    threads: int | None,
    only: tuple[str, ...],
    quick: bool,
    as_json: bool,
) -> int:
    """Run the study in STUDY.toml, check its claims and draw its figures.

    What is done is kept in FOLDER/cells: an interrupted run goes on where it stopped, and only what a changed study
    file touches is computed again. Exit code 0 where every claim is CONFIRMED, 1 where one is REFUTED or MIXED.
    """
    study = _chosen(load(study_file), only, replicates, quick)
    check_labels(study)
    folder = out or Path("results") / (study.name + ("-quick" if quick else ""))
    with progress(f"running {study.name}") as report:
        outcome = run_study(study, RunStore(folder / "cells"), threads=threads, progress=report)
    with progress(f"judging {study.name}"):
        findings = judge(study, outcome.records)
    if not as_json:
        say("\n".join(_report(findings)))
    with progress(f"drawing {study.name}"):
        figures = draw(findings, outcome, folder, together=not only)
    data = {**fields(findings), "figures": [str(path) for path in figures]}
    if as_json:
        print_json(data)
    if not only:
        files.save(folder / "claims.json", json.dumps(data, indent=2) + "\n")
    if not as_json:
        say(f"\nfigures in {folder}: {', '.join(path.name for path in figures)}")
    note(f"{outcome.computed} cells computed, {outcome.reused} found in {folder / 'cells'}")
    return 0 if findings.all_confirmed else 1


def _chosen(study: Study, only: tuple[str, ...], replicates: int | None, quick: bool) -> Study:
    study = study.only(only) if only else study
    study = study.shortened() if quick else study
    return study.with_replicates(replicates) if replicates else study


def _report(findings: Findings) -> list[str]:
    study = findings.study
    lines = [study.title, "", *_curves(findings), ""]
    for result in findings.claims:
        lines += _claim(result, findings)
    counts = Counter(result.verdict.value for result in findings.claims)
    lines.append(f"{len(findings.claims)} claims: " + ", ".join(f"{n} {verdict}" for verdict, n in counts.items()))
    lines.append(
        f"intervals: each fails with probability {findings.error:.2g}, all {study.level:g} together; "
        "ratios: second curve / first"
    )
    return lines


def _curves(findings: Findings) -> list[str]:
    rows = [("figure", "curve", "steady state", "", "drift", "within the window", "", "rounds to a share of the start")]
    for curve in findings.study.curves:
        summary = findings.summaries[curve.title]
        passages = [f"{level:g}: {number(float(rounds.mean()))}" for level, rounds in summary.passages.items()]
        state = "DIVERGED" if summary.diverged else summary.steadiness.value
        steady, drift = _interval(summary.steady), _interval(summary.drift)
        rows.append((curve.figure, curve.name, *steady, *drift, state, ", ".join(passages)))
    return table(rows).splitlines()


def _claim(result: ClaimResult, findings: Findings) -> list[str]:
    claim, mark = result.claim, " (quick)" if findings.study.quick else ""
    figure = claim.figure if claim.than is None else f"{claim.figure} / {claim.than}"
    agree = sum(comparison.side is Side.AGREES for comparison in result.comparisons)
    lines = [f"{figure}   {result.verdict.value}{mark}   {claim.says}"]
    lines.append(f"    {agree} of {len(result.comparisons)} comparisons agree")
    lines += [f"    {_comparison(comparison)}" for comparison in result.comparisons]
    noisy = [curve.title for curve in findings.unresolved(claim)]
    return [*lines, *([f"    too noisy to tell whether steady: {', '.join(noisy)}"] if noisy else []), ""]


def _comparison(comparison: ClaimComparison) -> str:
    first, second = comparison.first, comparison.second
    names = f"{first.title} : {second.title}" if first.figure != second.figure else f"{first.name} : {second.name}"
    at = "" if comparison.level is None else f" at {comparison.level:g}"
    if comparison.ratio is None:
        return f"{names}{at}   {comparison.side.value}: {comparison.reason}"
    return f"{names}{at}   ratio {' '.join(_interval(comparison.ratio))}   {comparison.side.value}"


def _interval(interval: ConfidenceInterval) -> tuple[str, str]:
    return number(interval.value), f"[{number(interval.low)}, {number(interval.high)}]"
