"""The symbols of the classics: those of theorems on one objective, subgradients, epochs and momentum."""

from __future__ import annotations

from bounds.analysis import ANALYSIS
from bounds.symbols import Domain, Role, Vocabulary

VOCABULARY = Vocabulary(ANALYSIS)
VOCABULARY.define(
    "M",
    "M",
    "bound on the norms of subgradients: the Lipschitz constant of the f_i",
    Domain.POSITIVE,
    Role.CONSTANT,
    1,
    -1,
)
VOCABULARY.facts["M"] = "lipschitz"
VOCABULARY.define("epochs", "E", "epochs of n rounds", Domain.POSITIVE_INTEGER, Role.FREE, 0, 0, default=3.0)
for _name, _latex, _meaning in (
    ("momentum", r"\beta", "share of the last move that is made once more"),
    ("lookahead", r"\gamma_y", "share of the last move by which the gradient's point is ahead"),
    ("extrapolation", r"\delta", "share of the last move by which the answer is ahead"),
    ("conditioning", "q", "the inverse condition number mu/L as the method takes it"),
):
    VOCABULARY.define(_name, _latex, _meaning, Domain.POSITIVE, Role.STEP_SIZE, 0, 0)
