"""A study whose cells take milliseconds."""

SWEEP = """
name = "sweep"
metric = { G_u = 1, G_v = 1 }
problem = { name = "quadratic", n = 3, d = 4 }

[run]
algorithm = "fedavg-p"
m = 2
K = 5
T = 400
gamma = 0.02
sigma_u = 0.5
sigma_v = 0.5
eta_u = 2
eta_v = 1.5
replicates = 32

[[figure]]
name = "local"
vary = "K"
values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]

[[figure]]
name = "steps"
vary = "gamma"
values = [0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1, 0.11, 0.12]
"""
# Of two cells.
PAIR = SWEEP.partition("[[figure]]")[0] + '[[figure]]\nname = "local"\nvary = "K"\nvalues = [1, 2]\n'
