r"""LaTeX formulas as one line of Unicode or ASCII.

``\frac1T\sum_{t=0}^{T-1}\mathbb{E}\|\nabla f(x^t)\|^2`` becomes ``(1/T) Σ_{t=0}^{T-1} E‖∇f(xᵗ)‖²``. For the notation
of papers: letters and accents, fractions, sums, sub- and superscripts. A command that is not known keeps its name.
"""

from __future__ import annotations

import re

_GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "zeta": "ζ", "eta": "η",
    "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "phi": "φ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ",
    "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}  # fmt: skip
# Each with its ASCII form.
_SIGNS = {
    "sum": ("Σ", "sum"), "nabla": ("∇", "grad "), "in": ("∈", " in "), "le": (" ≤ ", " <= "), "ge": (" ≥ ", " >= "),
    "langle": ("⟨", "<"), "rangle": ("⟩", ">"), "|": ("‖", "||"), "cdot": ("·", "*"), "inf": ("inf ", "inf "),
    "max": ("max", "max"), "min": ("min", "min"), "ell": ("ℓ", "l"), "partial": ("∂", "d"), "infty": ("∞", "inf"),
    "times": ("×", "x"), "to": (" → ", " -> "), "dots": ("…", "..."), "log": ("log ", "log "), "exp": ("exp ", "exp "),
    "left": ("", ""), "right": ("", ""), ",": (" ", " "), " ": (" ", " "), ";": (" ", " "), "!": ("", ""),
    "{": ("{", "{"), "}": ("}", "}"), "quad": ("  ", "  "),
}  # fmt: skip
_ACCENTS = {
    "bar": ("\u0304", "_bar"), "overline": ("\u0304", "_bar"), "hat": ("\u0302", "_hat"), "tilde": ("\u0303", "_tilde"),
    "widetilde": ("\u0303", "_tilde"), "widehat": ("\u0302", "_hat"), "dot": ("\u0307", "_dot"),
}  # fmt: skip
_FONTS = frozenset({"mathcal", "mathbb", "mathbf", "mathrm", "text", "mathit", "boldsymbol", "operatorname"})
_UPRIGHT = frozenset({"mathrm", "operatorname"})
_RAISED = str.maketrans("0123456789+-()abcdefghijklmnoprstuvwxyz", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")
_HIGH = frozenset(map(chr, _RAISED.values()))
_LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def plain(latex: str, *, unicode: bool) -> str:
    """A LaTeX formula as one line of text."""
    return _Converter(latex, unicode=unicode).until()


def raised(text: str, *, unicode: bool) -> str:
    """The text as a superscript."""
    high = text.translate(_RAISED)
    if unicode and not set(text) & set(high):
        return high
    return f"^{text}" if re.fullmatch(r"\w+", text) else f"^({text})"


def has_superscript(text: str) -> bool:
    """Whether a text ends in something raised, so that a power would be taken for a part of it."""
    return text[-1] in {"'", "*"} or text[-1] in _HIGH or "^" in text


class _Converter:
    """Reads tokens one after the other; a piece is a letter or sign with everything that hangs on it."""

    def __init__(self, latex: str, *, unicode: bool) -> None:
        # TeX ignores spaces.
        self._tokens = [sign for sign in re.findall(r"\\[A-Za-z]+|\\.|.", latex) if sign != " "]
        self._at = 0
        self._unicode = unicode
        self._scripts = 0

    def until(self, closing: str = "") -> str:
        """The text up to the closing sign, or up to the end."""
        pieces: list[str] = []
        while self._at < len(self._tokens) and self._tokens[self._at] != closing:
            sign = self._tokens[self._at]
            piece = self._next()
            if sign in {"^", "_", "'"} and pieces:
                pieces[-1] = pieces[-1].rstrip() + piece + pieces[-1][len(pieces[-1].rstrip()) :]
            elif sign in {"+", "-", "="} and pieces and pieces[-1] not in {"(", "["} and not self._scripts:
                pieces.append(f" {piece} ")
            else:
                pieces.append(piece)
        self._at += 1
        return self._joined(pieces)

    def _joined(self, pieces: list[str]) -> str:
        text = ""
        for piece in filter(None, pieces):
            apart = text and not self._scripts and (text[-1].isalnum() or text[-1] in "}'*" or _is_mark(text[-1]))
            begins = piece[0].isalpha() or (piece[0] in "∇(" and text.endswith("}"))
            text += " " + piece if apart and begins else piece
        return re.sub(" +", " ", text).strip()

    def _next(self) -> str:
        sign = self._tokens[self._at]
        self._at += 1
        if sign == "{":
            return self.until("}")
        if sign in "^_":
            return self._script(sign)
        if sign == "-" and self._unicode and not self._scripts:
            return "−"
        return self._command(sign[1:]) if sign.startswith("\\") else sign

    def _argument(self) -> str:
        return self._next() if self._at < len(self._tokens) else ""

    def _command(self, name: str) -> str:
        if name in _GREEK:
            return _GREEK[name] if self._unicode else name
        if name in _ACCENTS:
            inside, (mark, word) = self._argument(), _ACCENTS[name]
            return inside[:1] + mark + inside[1:] if self._unicode else inside.rstrip() + word
        if name in _FONTS:
            inside = self._argument()
            # Upright it is a name, not a product of letters.
            return inside.replace(" ", "") if name in _UPRIGHT else inside
        if name == "frac":
            above, below = self._argument(), self._argument()
            inside = f"{_bracketed(above)}/{_bracketed(below)}"
            closed = self._at >= len(self._tokens) or self._tokens[self._at] in {"}", ")", "]"}
            return inside if closed else f"({inside}) "
        if name == "sqrt":
            return ("√" if self._unicode else "sqrt") + f"({self._argument()})"
        return _SIGNS[name][not self._unicode] if name in _SIGNS else name

    def _script(self, kind: str) -> str:
        self._scripts += 1
        inside = self._argument()
        self._scripts -= 1
        if kind == "^" and inside == "*":
            return inside
        moved = inside.translate(_RAISED if kind == "^" else _LOWERED)
        if self._unicode and not set(inside) & set(moved):
            return moved
        return kind + (inside if re.fullmatch(r"[^\W_]+", inside) else f"{{{inside}}}")


def _is_mark(character: str) -> bool:
    return character in "⁰¹²³⁴⁵⁶⁷⁸⁹⁾₀₁₂₃₄₅₆₇₈₉\u0302\u0303\u0304\u0307"


def _bracketed(text: str) -> str:
    return f"({text})" if re.search(r"[\s+]|\w−", text) else text
