"""``ratecheck bound``."""

from __future__ import annotations

import math

import click

import bounds
from ratecheck.commands.arguments import json_option, key_argument, note, parse_values, print_json, say, values_argument
from ratecheck.commands.audited import audit_fields, warn_of
from ratecheck.errors import InputError
from ratecheck.verification.negative_bounds import of_evaluation
from ratecheck.views.text import evaluation_text


@click.command(name="bound")
@key_argument
@values_argument
@json_option
def command(key: str, assignments: tuple[str, ...], as_json: bool) -> int:
    """Evaluate the bound of statement KEY and check its conditions.

    Step sizes that the statement itself sets are filled in. A step size outside its condition is reported with the
    largest admissible value, and the exit code is 2: the number printed then bounds nothing. So it is for a bound that
    is infinite or leaves the range of floats. Exit code 1 where all conditions hold and the bound is negative although
    what it bounds never is.
    """
    statement = bounds.get(key)
    given = parse_values(assignments, statement.vocabulary)
    evaluation = statement.evaluate(**given)
    unused = statement.unused(given)
    if unused:
        note(f"{statement.key} does not depend on {', '.join(unused)}")
    warn_of(statement)
    negative = of_evaluation(statement, evaluation)
    if as_json:
        print_json(
            {
                "key": statement.key,
                "value": evaluation.value,
                "conditions": [
                    {
                        "name": check.condition.name,
                        "text": check.condition.text,
                        "holds": check.holds,
                        "left": check.left,
                        "right": check.right,
                    }
                    for check in evaluation.conditions
                ],
                "applicable": evaluation.applicable,
                "vacuous": evaluation.vacuous,
                "trivial": evaluation.trivial,
                "claims": evaluation.claims,
                "terms": evaluation.terms,
                "values": evaluation.values,
                "filled_in": list(evaluation.defaulted),
                "impossible": [each.fields() for each in negative],
                "audit": audit_fields(statement),
            }
        )
    else:
        say("\n".join([evaluation_text(statement, evaluation), *(f"refuted    {each.text}" for each in negative)]))
    if not evaluation.applicable:
        raise InputError(" ".join(check.broken for check in evaluation.broken))
    infinite = [f"{name} = {value}" for name, value in evaluation.claims.items() if not math.isfinite(value)]
    if infinite:
        raise InputError(f"the bound of {statement.key} overflows float64 ({', '.join(infinite)}), or divides by zero")
    return 1 if negative else 0
