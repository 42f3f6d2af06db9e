"""Certificates as text, with the hypotheses that they use, and how many proofs leave as certificates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ratecheck import recheck


def certificate_text(answer: Mapping[str, Any]) -> str:
    """One certificate line by line, or why there is none; "" for a step that is not proved."""
    found = answer["certificate"]
    if found is None:
        return f"  no certificate to hand on: {answer['reason']}" if answer["reason"] else ""
    lines = [f"  claim {found['digest'][:16]}: {recheck.line(found)}"]
    lines += [f"  hypothesis {turn}: {recheck.line(each)}" for turn, each in enumerate(found["hypotheses"], 1)]
    whole = [x for x, sign in found["variables"].items() if sign == "whole"]
    lines += [f"  hypothesis {x}: {x} is a whole number, so {x} - 1 >= 0" for x in whole]
    if not found["proofs"]:
        lines.append("  both sides, over one denominator, expand to the same")
    for number, proof in enumerate(found["proofs"]):
        side = f", {('left side at least the right', 'at most')[number]}" if len(found["proofs"]) > 1 else ""
        lines += [f"  certificate{side}:", *(f"    {line}" for line in _proof(proof))]
    return "\n".join(lines)


def leaving_text(answers: Sequence[Mapping[str, Any]], file: str, what: str = "steps") -> str:
    """The number of proved steps of each paper with a certificate in the file, and the reasons of the others."""
    lines = []
    papers = [each.get("file") or each["id"].partition("/")[0] for each in answers]
    for paper in dict.fromkeys(papers):
        own = [each for each, its in zip(answers, papers, strict=True) if its == paper]
        count = sum(each["certificate"] is not None for each in own)
        reasons = Counter(each["reason"] for each in own if each["reason"])
        without = "".join(f"; {number} without: {reason}" for reason, number in reasons.most_common())
        proved = count + reasons.total()
        lines.append(f"{paper}: {count} of {proved} proved {what} with a certificate in {file}{without}")
    return "\n".join(lines)


def _proof(node: Mapping[str, Any]) -> Iterator[str]:
    if node["by"] == "terms":
        multiplier = f"{polynomial_text(node['multiplier'])} times " if "multiplier" in node else ""
        yield f"{multiplier}the difference of the sides is the sum of"
        for term in node["terms"]:
            yield f"  {_term(term)}"
            if "proof" in term:
                yield "    where the factor is nonnegative:"
                yield from (f"      {line}" for line in _proof(term["proof"]))
    elif node["by"] == "substitution":
        x, kind = node["variable"], node["kind"]
        value = f"C*(1 + {x}')" if kind.endswith("relative") else f"C + {x}'"
        yield f"{x if kind.startswith('least') else f'1/{x}'} = {value}, where hypothesis {node['hypothesis']} gives C"
        yield from _proof(node["then"])
    elif node["by"] == "cases":
        for number, each in enumerate(node["cases"]):
            yield f"case {number + 1} of {node['variable']} ({('0, negative or 1', 'the rest')[number]}):"
            yield from (f"  {line}" for line in _proof(each))
    else:
        yield f"nothing is left, since hypothesis {node['hypothesis']} cannot hold:"
        yield from (f"  {line}" for line in _proof(node["proof"]))


def _term(term: Mapping[str, Any]) -> str:
    parts = [polynomial_text(term["factor"])]
    if "square" in term:
        parts.append(f"({polynomial_text(term['square'])})^2")
    if "norm" in term:
        form = " + ".join(f"({polynomial_text(c)})*{recheck.shown(v)}" for c, v in term["norm"])
        parts.append(f"|{form}|^2")
    parts += [
        f"hypothesis {name.removeprefix('-')}{' turned' * name.startswith('-')}" for name in term.get("hypotheses", ())
    ]
    return " times ".join(parts)


def polynomial_text(data: Sequence[Any]) -> str:
    """A polynomial of a file in plain characters."""
    terms = []
    for c, monomial, *pairs in data:
        powers = ((recheck.shown(name), e) for name, e in monomial.items())
        factors = [name if e == "1" else f"{name}^{e}" if e.isdigit() else f"{name}^({e})" for name, e in powers]
        factors += [recheck.shown(["dot", *pair]) for pair in (pairs[0] if pairs else [])]
        terms.append(
            "*".join(([c] if c not in ("1", "-1") or not factors else []) + factors)
            if c != "-1" or not factors
            else "-" + "*".join(factors)
        )
    return " + ".join(terms).replace("+ -", "- ") or "0"
