"""The symbols of theorems on one objective f = (1/n) sum_i f_i: values, distances, convexity, what clients differ by.

`ANALYSIS` is what the textbook, the classics and theorems of one's own have in common, on top of the basic setting;
`CLASSICS` has those of theorems on subgradients, epochs and momentum besides.
"""

from bounds.symbols import COMMON, ROUND, Domain, Role, Vocabulary

ANALYSIS = Vocabulary(COMMON)

_SIZE, _POSITIVE, _REAL = Domain.NONNEGATIVE, Domain.POSITIVE, Domain.REAL

# What runs measure: name, as printed, meaning, domain, degrees in f and in x, and under which name it is measured.
_MEASURED = (
    ("gap", r"f(x^t)-f^*", "E f(x^t) - inf f", _SIZE, (1, 0), "gap"),
    ("gap_prev", r"f(x^{t-1})-f^*", "gap one round earlier", _SIZE, (1, 0), "gap"),
    ("dist2", r"\|x^t-x^*\|^2", "E||x^t - x*||^2", _SIZE, (0, 2), "distance2"),
    ("dist2_prev", r"\|x^{t-1}-x^*\|^2", "dist2 one round earlier", _SIZE, (0, 2), "distance2"),
    ("t", "t", "number of the round, from 0", _SIZE, (0, 0), ROUND),
    ("fall", r"f(x^{t+1})-f(x^t)", "E f(x^{t+1}) - E f(x^t)", _REAL, (1, 0), "change:gap"),
    (
        "nearer", r"\|x^{t+1}-x^*\|^2-\|x^t-x^*\|^2", "what a round adds to dist2", _REAL, (0, 2), "change:distance2",
    ),
    (
        "consensus2", r"\frac1n\sum_i\|x_i^t-\bar x^t\|^2", "how far clients on a graph are from their mean",
        _SIZE, (0, 2), "consensus2",
    ),
    ("grad_F2", r"\|\nabla F(x^t)\|^2", "||grad F||^2 of the mean envelope", _SIZE, (2, -2), "grad_F2"),
    ("spread_F2", r"\frac1n\sum_i\|\nabla F_i\|^2", "mean of ||grad F_i||^2", _SIZE, (2, -2), "spread_F2"),
)  # fmt: skip
# What problems certify.
_CONSTANTS = (
    ("dist2_0", r"\|x^0-x^*\|^2", "dist2 at the start", _POSITIVE, (0, 2), "distance2_0"),
    ("mu", r"\mu", "strong convexity of f", _POSITIVE, (1, -2), "strong_convexity"),
    ("mu_c", r"\mu_c", "strong convexity of every client's function", _POSITIVE, (1, -2), "clients_strong_convexity"),
    (
        "mu_PL", r"\mu_{\mathrm{PL}}",
        "constant of the Polyak-Lojasiewicz inequality, ||grad f||^2 >= 2 mu_PL (f - inf f)",
        _POSITIVE, (1, -2), "polyak_lojasiewicz",
    ),
    (
        "mu_QG", r"\mu_{\mathrm{QG}}", "quadratic growth: f - inf f >= (mu_QG/2) dist(x, minimisers)^2",
        _POSITIVE, (1, -2), "quadratic_growth",
    ),
    ("rho_weak", r"\rho", "weak convexity: f_i + (rho_weak/2) ||x||^2 is convex", _SIZE, (1, -2), "weak_convexity"),
    ("L_0", "L_0", "L_0 of ||Hessian of f_i|| <= L_0 + L_1 ||grad f_i||", _SIZE, (1, -2), "generalized_L0"),
    ("L_1", "L_1", "L_1 of ||Hessian of f_i|| <= L_0 + L_1 ||grad f_i||", _SIZE, (0, -1), "generalized_L1"),
    ("b_star", "b_*", "root of the mean of ||grad f_i(x^*)||^2", _SIZE, (1, -1), "minimiser_heterogeneity"),
    ("lambda_W", r"\lambda", "||W - 11'/n||_2 of the mixing matrix W of a graph", _SIZE, (0, 0), "mixing_rate"),
    ("beta_W", r"\beta", "||I - W||_2 of a symmetric mixing matrix W of a graph", _SIZE, (0, 0), "mixing_change"),
    ("G", "G", "largest ||grad f_i|| of a client anywhere", _SIZE, (1, -1), "gradient_bound"),
    (
        "G_run", r"G_{\mathrm{run}}", "largest ||grad f_i|| of a client where the run evaluates one",
        _SIZE, (1, -1), "visited_gradient",
    ),
    (
        "D", "D", "largest distance to the minimiser of f of a point where the run evaluates a client",
        _SIZE, (0, 1), "visited_distance",
    ),
    ("G_d", "G", "G of (1/n) sum_i ||grad f_i||^2 <= G^2 + B^2 ||grad f||^2", _SIZE, (1, -1), "dissimilarity_G"),
    ("B_d", "B", "B of (1/n) sum_i ||grad f_i||^2 <= G^2 + B^2 ||grad f||^2", _SIZE, (0, 0), "dissimilarity_B"),
    ("rho_noise", r"\rho", "share of ||grad f_i||^2 in the variance of a gradient", _SIZE, (0, 0), "relative_noise"),
    ("p_noise", "p", "order of the moment by which heavy tails are measured", _POSITIVE, (0, 0), "noise_order"),
    ("sigma_p", r"\sigma_p", "root of order p of E||noise||^p", _SIZE, (1, -1), "noise_moment"),
    ("sigma_sg", r"\sigma_{\mathrm{sg}}", "s with E exp(||noise||^2/s^2) <= e", _SIZE, (1, -1), "sub_gaussian"),
    ("sigma_max", r"\sigma_{\max}", "largest ||noise||", _SIZE, (1, -1), "noise_bound"),
    (
        "A_es", "A", "A of E||g_i||^2 <= 2 A (f_i - inf f_i) + B ||grad f_i||^2 + C", _SIZE, (1, -2), "growth_A",
    ),
    ("B_es", "B", "B of E||g_i||^2 <= 2 A (f_i - inf f_i) + B ||grad f_i||^2 + C", _SIZE, (0, 0), "growth_B"),
    ("C_es", "C", "C of E||g_i||^2 <= 2 A (f_i - inf f_i) + B ||grad f_i||^2 + C", _SIZE, (2, -2), "growth_C"),
    ("p_min", r"np_{\min}", "n times the least weight of a client", _POSITIVE, (0, 0), "least_share"),
    ("p_max", r"np_{\max}", "n times the largest weight of a client", _POSITIVE, (0, 0), "largest_share"),
)  # fmt: skip
# What the caller chooses.
_STEP_SIZES = (
    ("alpha", r"\alpha", "step size of what clients remember of their messages", (0, 0)),
    ("lambda_", r"\lambda", "weight of the proximal term", (1, -2)),
    ("eta", r"\eta", "step size on the envelopes", (-1, 2)),
    ("beta", r"\beta", "damping of the server", (0, 0)),
)

for _role, _rows in ((Role.MEASURED, _MEASURED), (Role.CONSTANT, _CONSTANTS)):
    for _name, _latex, _meaning, _domain, _degrees, _fact in _rows:
        ANALYSIS.define(_name, _latex, _meaning, _domain, _role, *_degrees)
        ANALYSIS.facts[_name] = _fact
for _name, _latex, _meaning, _degrees in _STEP_SIZES:
    ANALYSIS.define(_name, _latex, _meaning, _POSITIVE, Role.STEP_SIZE, *_degrees)
ANALYSIS.define(
    "q", "q", "probability with which a coordinate of a message is sent", _POSITIVE, Role.SETTING, 0, 0, default=0.5
)
ANALYSIS.define(
    "delta", r"\delta", "probability with which a run may exceed the bound", _POSITIVE, Role.FREE, 0, 0, default=0.05
)
ANALYSIS.define("p_W", "p", "probability with which a round mixes clients on a graph", _POSITIVE, Role.SETTING, 0, 0)
ANALYSIS.facts["p_W"] = "mixing_share"
ANALYSIS.define("dim", "d", "variables of a client", Domain.POSITIVE_INTEGER, Role.SETTING, 0, 0)
ANALYSIS.facts["dim"] = "dimension"
for _convexity in ("mu", "mu_PL", "mu_QG", "mu_c", "rho_weak"):
    ANALYSIS.order_pair(_convexity, "L")

CLASSICS = Vocabulary(ANALYSIS)
CLASSICS.define(
    "M",
    "M",
    "bound on the norms of subgradients: the Lipschitz constant of the f_i",
    Domain.POSITIVE,
    Role.CONSTANT,
    1,
    -1,
)
CLASSICS.facts["M"] = "gradient_bound"
CLASSICS.define("epochs", "E", "epochs of n rounds", Domain.POSITIVE_INTEGER, Role.FREE, 0, 0, default=3.0)
for _name, _latex, _meaning in (
    ("momentum", r"\beta", "share of the last move that is made once more"),
    ("lookahead", r"\gamma_y", "share of the last move by which the gradient's point is ahead"),
    ("extrapolation", r"\delta", "share of the last move by which the answer is ahead"),
    ("conditioning", "q", "the inverse condition number mu/L as the method takes it"),
):
    CLASSICS.define(_name, _latex, _meaning, Domain.POSITIVE, Role.STEP_SIZE, 0, 0)
