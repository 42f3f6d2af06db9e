#!/usr/bin/env bash
# latex2sympy2_extended 1.10.2 (antlr4-python3-runtime 4.11.1, SymPy 1.14.0).
#
# A number to the power T loses its exponent: ^T is read as the transpose of a matrix, which is the identity on a
# number, so that a linear rate (1 - mu)^T becomes the constant 1 - mu, without a warning. With t, K or 2 as exponent
# the power stays. Capital letters of symbols become small ones on the way, so that L and l are one symbol.
#
# Seen:
#   (1-\mu)^T F_0  ->  f_0*(1 - mu)
#   (1-\mu)^t F_0  ->  f_0*(1 - mu)**t
#   L - l          ->  -l + l
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet latex2sympy2_extended==1.10.2 antlr4-python3-runtime==4.11.1 sympy==1.14.0
"$folder/venv/bin/python" - <<'END'
from latex2sympy2_extended import latex2sympy

seen = {text: str(latex2sympy(text)) for text in (r"(1-\mu)^T F_0", r"(1-\mu)^t F_0", "L - l")}
for text, found in seen.items():
    print(text, " -> ", found)
assert seen == {r"(1-\mu)^T F_0": "f_0*(1 - mu)", r"(1-\mu)^t F_0": "f_0*(1 - mu)**t", "L - l": "-l + l"}
END
