"""The one error that a user's input can cause.

Every message is a single line: the value, the condition that it breaks with both sides evaluated, and what is
admissible.
The command line turns it into exit code 2, or 3 where the input is usable and out of reach; nothing else in the project
is allowed to reach the user as a traceback.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterable

# Of a long list of names so many characters are shown.
_SHOWN = 180
# Control characters, formats such as those that reverse the direction, lone surrogates, separators of lines.
_ACTED_ON = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def printable(text: str) -> str:
    r"""The text with what a terminal would act on instead of showing it, such as escape sequences, written out.

    >>> printable("red: \x1b[31m")
    'red: \\x1b[31m'
    """
    return "".join(
        c.encode("unicode_escape").decode() if unicodedata.category(c) in _ACTED_ON and c not in "\n\t" else c
        for c in text
    )


def brief(value: object) -> str:
    """The value in a message of one line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:60] + "..."


def unread(error: ValueError) -> str:
    """Why a text is no TOML or no JSON, in one line."""
    said = " ".join(str(error).split())
    # Python's advice is about its own settings.
    return "it has a whole number of thousands of digits" if "set_int_max_str_digits" in said else said


class InputError(ValueError):
    """The input cannot be used: the message says which value, why, and what is admissible, as `printable` text."""

    def __init__(self, message: str = "") -> None:
        super().__init__(printable(message))


class NoValueError(InputError):
    """A rule of a statement has no value at the given numbers, such as 1/tau_max where tau_max is 0."""


class BeyondFloatsError(InputError):
    """A formula of a statement leaves the range of floating-point numbers, whatever the step sizes."""


class OutOfReachError(InputError):
    """The input can be used, and nothing is said of it: the message says why. The exit code is 3."""


def did_you_mean(word: str, known: Iterable[str], *, as_given: bool = False) -> str:
    """A hint such as ``did you mean 'sigma_u'?``, or what there is when nothing is close (a part of a long list).

    The list is by the alphabet, or ``as_given`` where what is wanted most comes first.
    """
    names = list(dict.fromkeys(known)) if as_given else sorted({*known})
    import difflib

    close = [name for name in names if name.lower() == word.lower()]
    close = close or difflib.get_close_matches(word, names, n=2, cutoff=0.6)
    close = close or [name for name in names if _abbreviates(word, name)]
    if close:
        return "did you mean " + " or ".join(repr(name) for name in close) + "?"
    ends = itertools.accumulate(len(name) + 2 for name in names)
    shown = names[: max(sum(end <= _SHOWN for end in ends), 1)]
    return "known: " + ", ".join(shown) + (", ..." if len(names) > len(shown) else "")


def _abbreviates(word: str, name: str) -> bool:
    """Whether a word is the first letters of a name's words, as ``PL`` of ``polyak_lojasiewicz``, or one of them."""
    words, given = name.lower().split("_"), word.lower()
    return len(words) > 1 and (given == "".join(each[:1] for each in words) or (len(given) > 3 and given in words))
