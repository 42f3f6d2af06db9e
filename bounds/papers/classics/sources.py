"""The works that the classics are from, with their titles."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bounds.papers.classics.building import printed
from bounds.statement import Source


def _work(authors: str, title: str) -> Callable[[str], Source]:
    """The source of a theorem in this work, by its number there."""
    return partial(printed, authors, title)


DRORI_TEBOULLE = _work("Drori, Teboulle (2014)", "Performance of first-order methods for smooth convex minimization")
TAYLOR_SMOOTH = _work(
    "Taylor, Hendrickx, Glineur (2017)",
    "Smooth strongly convex interpolation and exact worst-case performance of first-order methods",
)
TAYLOR_COMPOSITE = _work(
    "Taylor, Hendrickx, Glineur (2017)",
    "Exact worst-case performance of first-order methods for composite convex optimization",
)
TAYLOR_PROXIMAL = _work(
    "Taylor, Hendrickx, Glineur (2018)",
    "Exact worst-case convergence rates of the proximal gradient method for composite convex minimization",
)
TAYLOR_BACH = _work(
    "Taylor, Bach (2019)",
    "Stochastic first-order methods: non-asymptotic and computer-aided analyses via potential functions",
)
BANSAL_GUPTA = _work("Bansal, Gupta (2019)", "Potential-function proofs for gradient methods")
NESTEROV = _work("Nesterov (2004)", "Introductory Lectures on Convex Optimization")
BECK = _work("Beck (2017)", "First-Order Methods in Optimization")
POLYAK = _work("Polyak (1963)", "Gradient methods for the minimisation of functionals")
POLYAK_BOOK = _work("Polyak (1987)", "Introduction to Optimization")
GHADIMI_LAN = _work(
    "Ghadimi, Lan (2013)", "Stochastic first- and zeroth-order methods for nonconvex stochastic programming"
)
GHADIMI_HEAVY_BALL = _work(
    "Ghadimi, Feyzmahdavian, Johansson (2015)", "Global convergence of the heavy-ball method for convex optimization"
)
ABBASZADEHPEIVASTI = _work(
    "Abbaszadehpeivasti, de Klerk, Zamani (2021)",
    "The exact worst-case convergence rate of the gradient method with fixed step lengths for L-smooth functions",
)
ROTARU = _work("Rotaru, Glineur, Patrinos (2024)", "Exact worst-case convergence rates of gradient descent")
ASPREMONT = _work("d'Aspremont, Scieur, Taylor (2021)", "Acceleration Methods")
VAN_SCOY = _work(
    "Van Scoy, Freeman, Lynch (2018)",
    "The fastest known globally convergent first-order method for minimizing strongly convex functions",
)
GULER = _work("Güler (1991)", "On the convergence of the proximal point algorithm for convex minimization")
ROCKAFELLAR = _work("Rockafellar (1976)", "Monotone operators and the proximal point algorithm")
NEMIROVSKI = _work(
    "Nemirovski, Juditsky, Lan, Shapiro (2009)", "Robust stochastic approximation approach to stochastic programming"
)
BECK_TEBOULLE = _work(
    "Beck, Teboulle (2009)", "A fast iterative shrinkage-thresholding algorithm for linear inverse problems"
)
KIM_FESSLER = _work("Kim, Fessler (2016)", "Optimized first-order methods for smooth convex minimization")
KIM_FESSLER_GRADIENT = _work(
    "Kim, Fessler (2021)",
    "Optimizing the efficiency of first-order methods for decreasing the gradient of smooth convex functions",
)
TAYLOR_DRORI = _work("Taylor, Drori (2023)", "An optimal gradient method for smooth strongly convex minimization")
ALTSCHULER_PARRILO = _work("Altschuler, Parrilo (2023)", "Acceleration by stepsize hedging II")
LIEDER = _work("Lieder (2021)", "On the convergence rate of the Halpern-iteration")
GULER_ACCELERATED = _work("Güler (1992)", "New proximal point algorithms for convex minimization")

BUBECK = _work("Bubeck (2015)", "Convex Optimization: Algorithms and Complexity")
ZAMANI_GLINEUR = _work("Zamani, Glineur (2023)", "Exact convergence rate of the last iterate in subgradient methods")

LIEDER_THESIS = _work("Lieder (2018)", "Projection Based Methods for Conic Linear Programming")
GU_YANG = _work(
    "Gu, Yang (2020)",
    "Tight sublinear convergence rate of the proximal point algorithm for maximal monotone inclusion problems",
)
KIM_PROXIMAL = _work("Kim (2021)", "Accelerated proximal point method for maximally monotone operators")

COCHRAN = _work("Cochran (1977)", "Sampling Techniques")
KARIMI = _work(
    "Karimi, Nutini, Schmidt (2016)",
    "Linear convergence of gradient and proximal-gradient methods under the Polyak-Lojasiewicz condition",
)

NEEDELL = _work(
    "Needell, Srebro, Ward (2014)",
    "Stochastic gradient descent, weighted sampling, and the randomized Kaczmarz algorithm",
)

BOUSSELMI = _work(
    "Bousselmi, Hendrickx, Glineur (2023)",
    "Interpolation conditions for linear operators and applications to performance estimation problems",
)
KHIRIRAT = _work("Khirirat, Feyzmahdavian, Johansson (2018)", "Distributed learning with compressed gradients")
GORBUNOV = _work(
    "Gorbunov, Hanzely, Richtárik (2020)",
    "A unified theory of SGD: variance reduction, sampling, quantization and coordinate descent",
)
WANG_FEDNOVA = _work(
    "Wang, Liu, Liang, Joshi, Poor (2020)",
    "Tackling the objective inconsistency problem in heterogeneous federated optimization",
)
DI_LORENZO = _work("Di Lorenzo, Scutari (2016)", "NEXT: In-network nonconvex optimization")
KOLOSKOVA_ASYNC = _work(
    "Koloskova, Stich, Jaggi (2022)",
    "Sharper convergence guarantees for asynchronous SGD for distributed and federated learning",
)
PROXSKIP = _work(
    "Mishchenko, Malinovsky, Stich, Richtárik (2022)",
    "ProxSkip: Yes! Local gradient steps provably lead to communication acceleration! Finally!",
)
KOLOSKOVA = _work(
    "Koloskova, Loizou, Boreiri, Jaggi, Stich (2020)",
    "A unified theory of decentralized SGD with changing topology and local updates",
)
KHALED = _work(
    "Khaled, Mishchenko, Richtárik (2020)", "Tighter theory for local SGD on identical and heterogeneous data"
)
KARIMIREDDY = _work(
    "Karimireddy, Kale, Mohri, Reddi, Stich, Suresh (2020)",
    "SCAFFOLD: stochastic controlled averaging for federated learning",
)
STICH_KARIMIREDDY = _work(
    "Stich, Karimireddy (2020)",
    "The error-feedback framework: better rates for SGD with delayed gradients and compressed updates",
)
RICHTARIK_EF21 = _work(
    "Richtárik, Sokolov, Fatkhullin (2021)",
    "EF21: a new, simpler, theoretically better, and practically faster error feedback",
)
MISHCHENKO = _work("Mishchenko, Khaled, Richtárik (2020)", "Random reshuffling: simple analysis with vast improvements")
GOWER = _work("Gower, Loizou, Qian, Sailanbayev, Shulgin, Richtárik (2019)", "SGD: general analysis and improved rates")
NOCEDAL = _work("Nocedal, Wright (2006)", "Numerical optimization")
NESTEROV_COORDINATES = _work(
    "Nesterov (2012)", "Efficiency of coordinate descent methods on huge-scale optimization problems"
)
NUTINI = _work(
    "Nutini, Schmidt, Laradji, Friedlander, Koepke (2015)",
    "Coordinate descent converges faster with the Gauss-Southwell rule than random selection",
)
FACCHINEI_PANG = _work(
    "Facchinei, Pang (2003)", "Finite-Dimensional Variational Inequalities and Complementarity Problems"
)
KORPELEVICH = _work("Korpelevich (1976)", "The extragradient method for finding saddle points and other problems")
POPOV = _work("Popov (1980)", "A modification of the Arrow-Hurwicz method for search of saddle points")
GIDEL = _work(
    "Gidel, Berard, Vignoud, Vincent, Lacoste-Julien (2019)",
    "A variational inequality perspective on generative adversarial networks",
)
GORBUNOV_EXTRAGRADIENT = _work(
    "Gorbunov, Loizou, Gidel (2022)",
    "Extragradient method: O(1/K) last-iterate convergence for monotone variational inequalities and connections with "
    "cocoercivity",
)
ZHANG_ALTERNATING = _work(
    "Zhang, Wang, Lessard, Grosse (2022)",
    "Near-optimal local convergence of alternating gradient descent-ascent for minimax optimization",
)
