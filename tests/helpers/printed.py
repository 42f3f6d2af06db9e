"""Reads printed formulas back: two-dimensional Unicode and LaTeX as numbers at given values of the symbols.

Written without the printers: what is compared is what a reader would compute from the print.
"""

from __future__ import annotations

import math
import re
import unicodedata

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_FUNCTIONS = {"max": max, "min": min, "log": math.log, "exp": math.exp}
_OPEN, _CLOSE = "⎛⎜⎝", "⎞⎟⎠"


def value(text, names, values):
    """The number that a one-line formula stands for; ``names`` maps print to name, a space multiplies."""
    codes = {}
    for glyph in sorted([*_FUNCTIONS, *names], key=len, reverse=True):
        code = chr(0xE000 + len(codes))
        codes[code] = glyph
        text = text.replace(glyph, code)
    signs = re.findall(r"\d+|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+|\S", text.replace("−", "-"))
    code, scope, before = "", {"sqrt": math.sqrt}, ""
    for k, sign in enumerate(signs):
        starts = sign.isdecimal() or sign in codes or sign in "(√"
        if starts and before and (before[-1] not in "+-/*^(,√" and codes.get(before) not in _FUNCTIONS):
            code += "*"
        if sign in codes and codes[sign] not in _FUNCTIONS:
            scope[f"s{ord(sign)}"] = values[names[codes[sign]]]
            piece = f"s{ord(sign)}"
        elif sign in codes:
            scope[codes[sign]] = _FUNCTIONS[codes[sign]]
            piece = codes[sign]
        else:
            piece = {"√": "sqrt", "^": "**"}.get(sign, sign)
            if sign[0] in "⁰¹²³⁴⁵⁶⁷⁸⁹⁻":
                piece = f"**({sign.translate(_SUPERSCRIPTS)})"
        if before == "√" and sign != "(":
            piece = f"({piece})"
        code, before = code + piece, sign
        assert sign not in {"_", "{", "}", "\\"}, f"{sign} in {text!r} at {k} is no part of a formula"
    return float(eval(code, {"__builtins__": {}}, scope))  # noqa: S307  # built from the signs above


def cells(line):
    """The columns of a line, combining marks with the letter before."""
    found = []
    for character in line:
        if unicodedata.combining(character):
            found[-1] += character
        else:
            found.append(character)
    return found


def linear(lines):
    """A formula drawn on several lines, none of its sums broken, as one line."""
    grid = [cells(line) for line in lines]
    assert len({len(row) for row in grid}) == 1, "lines of unequal width"
    return _region(grid)


def _region(grid):
    if not any(cell.strip() for row in grid for cell in row):
        return ""
    if len(grid) == 1:
        return "".join(grid[0])
    b, c, text = _baseline(grid), 0, ""
    while c < len(grid[b]):
        cell = grid[b][c]
        if cell == "─":
            end = c
            while end < len(grid[b]) and grid[b][end] == "─":
                end += 1
            halves = [_region([row[c:end] for row in rows]) for rows in (grid[:b], grid[b + 1 :])]
            assert all(half.strip() for half in halves), "a fraction with half of it missing"
            text += f"(({halves[0]})/({halves[1]}))"
            c = end
        elif cell in _OPEN:
            top, bottom, end = _bracket(grid, b, c)
            text += f"({_region([row[c + 1 : end] for row in grid[top : bottom + 1]])})"
            c = end + 1
            while top != b and c < len(grid[top]) and grid[top][c].strip() and grid[top][c] not in _OPEN + _CLOSE:
                text += grid[top][c]
                c += 1
        else:
            text += cell
            c += 1
    return text


def _bracket(grid, row, column):
    """Top, bottom and closing column of the bracket that covers the row and opens in the column."""
    top = bottom = row
    while grid[top][column] != "⎛":
        top -= 1
    while grid[bottom][column] != "⎝":
        bottom += 1
    depth, end = 0, column
    while True:
        depth += (grid[row][end] in _OPEN) - (grid[row][end] in _CLOSE)
        if depth == 0:
            return top, bottom, end
        end += 1


def _baseline(grid):
    """The row on which a formula stands: that of its first sign, or what is inside of its first bracket."""
    column = next(c for c in range(len(grid[0])) if any(row[c].strip() for row in grid))
    rows = [r for r, row in enumerate(grid) if row[column].strip()]
    if len(rows) == 1:
        return rows[0]
    top, bottom, end = _bracket(grid, rows[0], column)
    return top + _baseline([row[column + 1 : end] for row in grid[top : bottom + 1]])


def from_latex(latex, names):
    """LaTeX as a one-line formula for `value`, with the names that it uses there."""
    codes, glyphs = {}, sorted(names, key=len, reverse=True)
    # Names of one letter come after the commands, which have letters too.
    for glyph in [glyph for glyph in glyphs if len(glyph) > 1]:
        codes[chr(0xF000 + len(codes))] = glyph
        latex = latex.replace(glyph, chr(0xF000 + len(codes) - 1))
    latex = re.sub(r"\\(left|right)\b|\\(begin|end)\{gathered\}|\\\\", " ", latex)
    latex = latex.replace(r"\{", "(").replace(r"\}", ")")
    latex = re.sub(r"\\operatorname\{(\w+)\}", r"\1", latex)
    commands = {
        r"\frac": "\uf8f0",
        r"\sqrt": "√",
        **{f"\\{name}": chr(0xF8E0 + k) for k, name in enumerate(_FUNCTIONS)},
    }
    for command, code in commands.items():
        latex = latex.replace(command, code)
    for glyph in [glyph for glyph in glyphs if len(glyph) == 1]:
        codes[chr(0xF000 + len(codes))] = glyph
        latex = latex.replace(glyph, chr(0xF000 + len(codes) - 1))
    text = _latex(latex)
    for k, name in enumerate(_FUNCTIONS):
        text = text.replace(chr(0xF8E0 + k), name)
    return text, {code: names[glyph] for code, glyph in codes.items()}


def _latex(text):
    result, k = "", 0
    while k < len(text):
        if text[k] == "\uf8f0":
            above, k = _argument(text, k + 1)
            below, k = _argument(text, k)
            result += f"(({_latex(above)})/({_latex(below)}))"
        elif text[k] == "√":
            inside, k = _argument(text, k + 1)
            result += f"√({_latex(inside)})"
        elif text[k] == "^":
            exponent, k = _argument(text, k + 1)
            result += f"^({_latex(exponent)})"
        else:
            result += text[k]
            k += 1
    return result


def _argument(text, k):
    """The group in braces, or the single sign, at a position; and the position after it."""
    if text[k] != "{":
        return text[k], k + 1
    depth, start = 0, k
    while True:
        depth += (text[k] == "{") - (text[k] == "}")
        k += 1
        if depth == 0:
            return text[start + 1 : k - 1], k
