"""The file that ``ratecheck new theorem`` writes: a theorem in one sentence."""

from __future__ import annotations

_HEAD = '''\
"""A theorem of my own; for example: ratecheck verify {file}:{name}"""

from bounds.theorem import theorem

# 'ratecheck list methods' and 'ratecheck list symbols' have the words; docs/own.md says what else may stand where.
'''
_LONGEST = 116


def template(file: str, name: str, sentence: str, **fields: str) -> str:
    """The text of a file called ``file`` that assigns the theorem of a sentence, with its other fields, to ``name``."""
    text, others = _literal(sentence), [f"{field}={_literal(value)}" for field, value in fields.items() if value]
    written = f"{name} = theorem({', '.join([text, *others])})\n"
    if len(written) > _LONGEST:
        written = f"{name} = theorem(\n    {text},\n    {', '.join(others)},\n)\n"
    return _HEAD.format(file=file, name=name) + written


def _literal(text: str) -> str:
    plain = text.isprintable() and '"' not in text and not text.endswith("\\")
    raw = "r" if "\\" in text else ""
    return f'{raw}"{text}"' if plain else repr(text)
