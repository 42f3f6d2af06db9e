"""The data of a report on a study: runs, claims and findings, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ratecheck.plain import picked
from ratecheck.studies.claims import ClaimVerdict, Findings
from ratecheck.studies.estimate import Steadiness
from ratecheck.studies.report import fields
from ratecheck.studies.storage.store import code_version
from ratecheck.studies.study import ClaimKind, Effect, Study, StudyClaim

# Letters of the hash of the code, as in the index of a store.
_CODE = 12


def report_fields(findings: Findings, left_out: Sequence[str] = ()) -> dict[str, Any]:
    """Everything that a report says; ``left_out`` are figures of the file that were not requested."""
    study = findings.study
    found = fields(findings)
    for claim, entry in zip(study.claims, found["claims"], strict=True):
        entry["judged"] = judged(claim, study)
    file = Path(study.path).name
    verdicts = Counter(result.verdict.value for result in findings.claims)
    return {
        "of": study.name,
        "title": study.title,
        "file": file,
        "counts": {
            "claims": len(study.claims),
            "verdicts": {verdict.value: verdicts[verdict.value] for verdict in ClaimVerdict},
            "curves": len(study.curves),
            "comparisons": sum(len(result.comparisons) for result in findings.claims),
        },
        "panels": [picked(figure, "name", "title", "metric", "vary", "repeats") for figure in study.figures],
        **picked(study, "seed", "window", "tolerance"),
        "code": code_version()[:_CODE],
        **{name: value for name, value in found.items() if name not in ("study", "title")},
        "not_checked": [*_not_checked(findings, left_out)],
        "commands": [*_commands(study, file)],
    }


_MEASURED = {
    ClaimKind.ERROR: "the mean of the metric over the last rounds",
    ClaimKind.BELOW: "the mean of the metric over the last rounds",
    ClaimKind.MEAN: "the mean of the metric over all rounds",
    ClaimKind.LAST: "the mean of the metric over the last rounds, steady or not",
    ClaimKind.UNREST: "the change of the metric from round to round at the end",
    ClaimKind.LOWEST: "the least value of the metric in any round",
    ClaimKind.SPEED: "how soon the metric falls to {levels} of its start",
    ClaimKind.ROUNDS: "how soon the metric is at {targets}",
}
# By whether less is said of the time to a level.
_GROWS = {
    (Effect.RISES, False): "larger for the larger {vary}",
    (Effect.FALLS, False): "smaller for the larger {vary}",
    (Effect.RISES, True): "sooner for the larger {vary}",
    (Effect.FALLS, True): "later for the larger {vary}",
    (Effect.NONE, False): "the same for every {vary}, up to {margin}",
    (Effect.NONE, True): "the same for every {vary}, up to {margin}",
    (Effect.BOUNDED, False): "no larger for the larger {vary}, up to {margin}",
    (Effect.BOUNDED, True): "no later for the larger {vary}, up to {margin}",
}


def judged(claim: StudyClaim, study: Study) -> str:
    """The comparison of a claim and its predicted result, in one sentence."""
    timed = claim.kind in (ClaimKind.SPEED, ClaimKind.ROUNDS)
    words = {
        "levels": _listed(f"{level:g}" for level in claim.levels),
        "targets": _listed(f"{target:g}" for target in dict.fromkeys(claim.targets)),
        "vary": _listed(dict.fromkeys(study.figure(name).vary for name in claim.over)),
        "margin": f"{claim.margin:.3g} of it",
    }
    what = _MEASURED[claim.kind].format(**words)
    if claim.power:
        what += f", divided by {words['vary']}^{claim.power:g},"
    return f"{what} is {_outcome(claim, words, timed=timed)}{_of_several(claim)}"


def _outcome(claim: StudyClaim, words: dict[str, str], *, timed: bool) -> str:
    """The claimed result of a comparison."""
    if claim.effect is None:
        return f"smaller in {_listed(claim.over)} than in {claim.than}, {words['vary']} by {words['vary']}"
    if claim.curves:
        these, those = (_listed(map(str, some)) for some in (claim.curves, claim.against))
        less = "sooner" if timed else "smaller"
        if claim.effect is Effect.BETTER:
            by = f" by a factor of at least {claim.factor:g}" if claim.factor != 1 else ""
            return f"{less} for {these} than for {those}{by}"
        if claim.effect is Effect.NO_WORSE:
            return f"for {these} no {'later' if timed else 'larger'} than for {those}, up to {words['margin']}"
        if claim.effect is Effect.NONE:
            return f"the same for {these} as for {those}, up to {words['margin']}"
    return _GROWS[claim.effect, timed].format(**words)


def _of_several(claim: StudyClaim) -> str:
    if claim.average:
        return ", on average over all comparisons"
    return ", in more than half of the figures" if claim.most else ", in every comparison"


def _listed(words: Any) -> str:
    *others, last = [*words] or ["nothing"]
    return f"{', '.join(others)} and {last}" if others else last


def _not_checked(findings: Findings, left_out: Sequence[str]) -> Iterator[str]:
    """The limits of the report, the most important first."""
    study = findings.study
    if study.quick:
        yield "A smoke test has fewer rounds and replicates than the study has: it says nothing about the study."
    if left_out:
        yield f"Figures of the file that were left out, with the claims about them: {', '.join(left_out)}."
    yield "Other problems, data, sizes and step sizes than those below: a confirmed claim is one about these."
    if study.chosen:
        yield "Whether what was chosen where the source leaves a choice is what its authors took."
    yield "Sentences of the source that are no claim of the file."
    open_ = [result.claim.name for result in findings.claims if result.verdict is ClaimVerdict.UNRESOLVED]
    if open_:
        yield f"Undecided, more replicates or rounds might tell: {', '.join(open_)}."
    yield from _curves(findings)
    yield from _theorems(findings)


def _curves(findings: Findings) -> Iterator[str]:
    """Curves that could not be used, or only in part."""
    summaries = {curve.title: findings.summaries[curve.title] for curve in findings.study.curves}
    diverged = [title for title, each in summaries.items() if each.diverged]
    if diverged:
        yield f"Diverged, and compared with nothing: {', '.join(diverged)}."
    wanted = {
        curve.title for result in findings.claims if result.claim.about_steady_state
        for comparison in result.comparisons for curve in (comparison.first, comparison.second)
    }  # fmt: skip
    for state, said in (
        (Steadiness.UNSTEADY, "Still drifting at the end, so that no steady state is compared"),
        (Steadiness.UNRESOLVED, "Too noisy to tell whether they are steady"),
    ):
        these = [title for title in summaries if title in wanted and summaries[title].steadiness is state]
        these = [title for title in these if title not in diverged]
        if these:
            yield f"{said}: {', '.join(these)}."


def _theorems(findings: Findings) -> Iterator[str]:
    if not findings.theory:
        yield "No theorem is compared with the curves: the file names none, or none about their methods."
        return
    outside = [each for each in findings.theory if not each.admissible]
    if outside:
        yield (
            f"{len(outside)} of {len(findings.theory)} bounds are evaluated where their theorem does not apply: these "
            f"bound nothing."
        )


def _commands(study: Study, file: str) -> Iterator[dict[str, str]]:
    quick = " --quick" if study.quick else ""
    yield {"what": "Run it again, judge the claims and draw the figures", "command": f"ratecheck run {file}{quick}"}
    folder = f"results/{study.name}{'-quick' if study.quick else ''}"
    yield {"what": "Every curve with its settings and steady state", "command": f"ratecheck results {folder}"}
    yield {"what": "This report", "command": f"ratecheck report {file}{quick} --out report.html"}
