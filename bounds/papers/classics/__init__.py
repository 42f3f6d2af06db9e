"""Well-known theorems outside the four papers, a folder per chapter and a file per result, each with its source.

Beside a theorem stands what the literature knows of the worst case of its left side (`known.KnownTight`): a value that
does not come from this program, with which its answers are compared (docs/catalogue.md). The folders are

- ``smooth_convex``, ``strongly_convex``, ``smooth_nonconvex``: gradient descent, SGD and constant momentum,
- ``nonsmooth``: the subgradient method,
- ``proximal``: the proximal point method, of functions that need not be smooth,
- ``accelerated``: methods whose coefficients change from round to round,
- ``composite``: sums of a smooth function and one with proximal steps,
- ``fixed_points``: operators in place of gradients,
- ``federated``: several clients, of which some are drawn.
"""
