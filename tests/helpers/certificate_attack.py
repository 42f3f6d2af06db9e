"""An attack on `ratecheck.recheck`: certificates are changed or drawn, and what is accepted has to be true.

Each is given a digest and, mostly, as much of a proof as `certificate_prover` finds with the checker's own algebra.
Whether an accepted claim is true is judged by `claim_points`, which knows nothing of this.
"""

from __future__ import annotations

import contextlib
import copy
import types
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from certificate_changes import Changes
from certificate_prover import REJECTED, Prover
from claim_points import judge
from drawn_claims import Drawn

from ratecheck import recheck

# What is drawn is small: claims that need more are passed over.
WORK = 60_000
MADE = ("identity", "squares", "young", "caps", "any", "quotient", "pairings", *["small"] * 6)


def checker(*patches):
    """The checker as a module of its own, with pieces of its text replaced; each has to be found once."""
    source = Path(recheck.__file__).read_text()
    for old, new in patches:
        assert source.count(old) == 1, f"the checker does not have once: {old}"
        source = source.replace(old, new)
    module = types.ModuleType("patched")
    exec(compile(source, recheck.__file__, "exec"), module.__dict__)  # noqa: S102
    module.WORK = WORK
    return module


@dataclass
class Tally:
    """What an attack came to: how many certificates were tried, accepted, judged, and the claims that are false."""

    count: Counter = field(default_factory=Counter)
    # Accepted certificates by what they were made from and how they were changed, and the rules of their proofs.
    accepted: Counter = field(default_factory=Counter)
    rules: Counter = field(default_factory=Counter)
    wrong: list = field(default_factory=list)


def accepts(module, data):
    """Whether a checker accepts a certificate."""
    try:
        module.step(data, WORK)
    except REJECTED:
        return False
    return True


def digest(module, data):
    """The digest of a claim; None where it has none."""
    try:
        return module.digest(data)
    except REJECTED:
        return None


def rules(node):
    """The rules that a proof uses."""
    for each in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from rules(each)
    if isinstance(node, dict):
        yield from ({node.get("by"), "norm", "square", "multiplier", "proof"} & {*node, node.get("by")}) - {None}


def attack(module, bases, axes, cases, *, stop=False, points=1000):
    """Tries certificates on a checker, each drawn from its own seed: the axes and its number among ``cases``."""
    tally = Tally()
    for turn in cases:
        drawn = Drawn(f"{axes} {turn}")
        data, before, made = certificate(module, bases, drawn, tally)
        tally.count["tried"] += 1
        new = digest(module, data)
        if new is None or (new != before and drawn.chance(0.1)):
            tally.count["another digest"] += 1
            assert not accepts(module, {**data, "digest": before}), f"case {turn}: the digest is that of another claim"
        if new is None or not accepts(module, {**data, "digest": new}):
            continue
        judgement = judge(data, [turn, len(axes)], points)
        tally.count.update(accepted=1, points=judgement.counted, exact=judgement.exact)
        tally.count["at a tenth of the points"] += judgement.counted >= points / 10
        tally.accepted.update(made)
        tally.rules.update(set(rules(data["proofs"])))
        if judgement.wrong:
            tally.wrong.append((turn, data, judgement.wrong))
            if stop:
                break
    return tally


def certificate(module, bases, drawn, tally):
    """A certificate without a digest, the digest before it was changed, and what it was made by."""
    origin = "base" if bases and drawn.chance(0.4) else drawn.rng.choice(MADE)
    data = copy.deepcopy(drawn.rng.choice(bases)) if origin == "base" else getattr(drawn, origin)()
    data.pop("digest", None)
    before, made, changes = digest(module, data), [origin], Changes(drawn)
    for _ in range(drawn.rng.choice((1, 1, 1, 2, 2, 3)) - (origin != "base" and drawn.chance(0.3))):
        with contextlib.suppress(*REJECTED):  # where there is nothing of this kind to change
            made.append(changes.change(data))
    if origin != "base" or drawn.chance(0.7):
        with contextlib.suppress(*REJECTED):
            data = Prover(module, drawn).mended(data)
    tally.count["changes"] += len(made) - 1
    return data, before, made
