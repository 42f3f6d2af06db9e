"""The worst deterministic run over all smooth functions, from above: a performance-estimation problem (PEPit)."""

from __future__ import annotations

from ratecheck.checks.deterministic import Case, mean

def upper_bound(case, everywhere=False, verbose=0):
    from PEPit import PEP, Expression, null_point
    from PEPit.functions import SmoothFunction
    c = case.scaled
    problem = PEP()
    fs = [problem.declare_function(SmoothFunction, L=1.0) for _ in range(c.n)]
    visited = []
    def oracle(i, x):
        if not any(x.decomposition_dict == y.decomposition_dict for y in visited):
            visited.append(x)
        return fs[i].gradient(x)
    run = c.run(null_point, oracle)
    inner = lambda a, b: a * b
    floor = Expression()
    gap = lambda x: mean([f.value(x) for f in fs]) - floor
    problem.add_constraint(gap(run[0].point) <= 1)
    pts = [s.point for s in run]
    if everywhere: pts = list(visited)
    for x in pts:
        g = mean([f.gradient(x) for f in fs])
        problem.add_constraint(gap(x) >= g * g / 2)
    if everywhere == 2:
        for x in pts:
            g = mean([f.gradient(x) for f in fs])
            problem.add_constraint(gap(x - g) >= 0)
    if "B_0" in c.values:
        problem.add_constraint(run[0].squares(inner) <= c.values["B_0"])
    if "b" in c.values:
        for s in run: problem.add_constraint(s.dissimilarity(inner) <= c.values["b"]**2)
    problem.set_performance_metric(c.left(run, inner))
    d = problem.solve(verbose=verbose, solver="CLARABEL")
    return d, problem.wc_value if hasattr(problem,'wc_value') else problem.objective.eval(), problem
