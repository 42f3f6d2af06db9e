"""The works that the classics are from, with their titles."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bounds.papers.classics.building import printed
from bounds.statement import Source

Numbered = Callable[[str], Source]

DRORI_TEBOULLE: Numbered = partial(
    printed, "Drori, Teboulle (2014)", "Performance of first-order methods for smooth convex minimization"
)
TAYLOR_SMOOTH: Numbered = partial(
    printed,
    "Taylor, Hendrickx, Glineur (2017)",
    "Smooth strongly convex interpolation and exact worst-case performance of first-order methods",
)
TAYLOR_COMPOSITE: Numbered = partial(
    printed,
    "Taylor, Hendrickx, Glineur (2017)",
    "Exact worst-case performance of first-order methods for composite convex optimization",
)
TAYLOR_PROXIMAL: Numbered = partial(
    printed,
    "Taylor, Hendrickx, Glineur (2018)",
    "Exact worst-case convergence rates of the proximal gradient method for composite convex minimization",
)
TAYLOR_BACH: Numbered = partial(
    printed,
    "Taylor, Bach (2019)",
    "Stochastic first-order methods: non-asymptotic and computer-aided analyses via potential functions",
)
BANSAL_GUPTA: Numbered = partial(printed, "Bansal, Gupta (2019)", "Potential-function proofs for gradient methods")
NESTEROV: Numbered = partial(printed, "Nesterov (2004)", "Introductory Lectures on Convex Optimization")
BECK: Numbered = partial(printed, "Beck (2017)", "First-Order Methods in Optimization")
POLYAK: Numbered = partial(printed, "Polyak (1963)", "Gradient methods for the minimisation of functionals")
POLYAK_BOOK: Numbered = partial(printed, "Polyak (1987)", "Introduction to Optimization")
GHADIMI_LAN: Numbered = partial(
    printed, "Ghadimi, Lan (2013)", "Stochastic first- and zeroth-order methods for nonconvex stochastic programming"
)
GHADIMI_HEAVY_BALL: Numbered = partial(
    printed,
    "Ghadimi, Feyzmahdavian, Johansson (2015)",
    "Global convergence of the heavy-ball method for convex optimization",
)
ABBASZADEHPEIVASTI: Numbered = partial(
    printed,
    "Abbaszadehpeivasti, de Klerk, Zamani (2021)",
    "The exact worst-case convergence rate of the gradient method with fixed step lengths for L-smooth functions",
)
ROTARU: Numbered = partial(
    printed, "Rotaru, Glineur, Patrinos (2024)", "Exact worst-case convergence rates of gradient descent"
)
ASPREMONT: Numbered = partial(printed, "d'Aspremont, Scieur, Taylor (2021)", "Acceleration Methods")
VAN_SCOY: Numbered = partial(
    printed,
    "Van Scoy, Freeman, Lynch (2018)",
    "The fastest known globally convergent first-order method for minimizing strongly convex functions",
)
GULER: Numbered = partial(
    printed, "Güler (1991)", "On the convergence of the proximal point algorithm for convex minimization"
)
ROCKAFELLAR: Numbered = partial(printed, "Rockafellar (1976)", "Monotone operators and the proximal point algorithm")
NEMIROVSKI: Numbered = partial(
    printed,
    "Nemirovski, Juditsky, Lan, Shapiro (2009)",
    "Robust stochastic approximation approach to stochastic programming",
)
BECK_TEBOULLE: Numbered = partial(
    printed, "Beck, Teboulle (2009)", "A fast iterative shrinkage-thresholding algorithm for linear inverse problems"
)
KIM_FESSLER: Numbered = partial(
    printed, "Kim, Fessler (2016)", "Optimized first-order methods for smooth convex minimization"
)
KIM_FESSLER_GRADIENT: Numbered = partial(
    printed,
    "Kim, Fessler (2021)",
    "Optimizing the efficiency of first-order methods for decreasing the gradient of smooth convex functions",
)
TAYLOR_DRORI: Numbered = partial(
    printed, "Taylor, Drori (2023)", "An optimal gradient method for smooth strongly convex minimization"
)
ALTSCHULER_PARRILO: Numbered = partial(printed, "Altschuler, Parrilo (2023)", "Acceleration by stepsize hedging II")
LIEDER: Numbered = partial(printed, "Lieder (2021)", "On the convergence rate of the Halpern-iteration")
GULER_ACCELERATED: Numbered = partial(printed, "Güler (1992)", "New proximal point algorithms for convex minimization")

BUBECK: Numbered = partial(printed, "Bubeck (2015)", "Convex Optimization: Algorithms and Complexity")
ZAMANI_GLINEUR: Numbered = partial(
    printed, "Zamani, Glineur (2023)", "Exact convergence rate of the last iterate in subgradient methods"
)

LIEDER_THESIS: Numbered = partial(printed, "Lieder (2018)", "Projection Based Methods for Conic Linear Programming")
GU_YANG: Numbered = partial(
    printed,
    "Gu, Yang (2020)",
    "Tight sublinear convergence rate of the proximal point algorithm for maximal monotone inclusion problems",
)
KIM_PROXIMAL: Numbered = partial(
    printed, "Kim (2021)", "Accelerated proximal point method for maximally monotone operators"
)

COCHRAN: Numbered = partial(printed, "Cochran (1977)", "Sampling Techniques")
KARIMI: Numbered = partial(
    printed,
    "Karimi, Nutini, Schmidt (2016)",
    "Linear convergence of gradient and proximal-gradient methods under the Polyak-Lojasiewicz condition",
)

NEEDELL: Numbered = partial(
    printed,
    "Needell, Srebro, Ward (2014)",
    "Stochastic gradient descent, weighted sampling, and the randomized Kaczmarz algorithm",
)

BOUSSELMI: Numbered = partial(
    printed,
    "Bousselmi, Hendrickx, Glineur (2023)",
    "Interpolation conditions for linear operators and applications to performance estimation problems",
)
KHIRIRAT: Numbered = partial(
    printed, "Khirirat, Feyzmahdavian, Johansson (2018)", "Distributed learning with compressed gradients"
)
GORBUNOV: Numbered = partial(
    printed,
    "Gorbunov, Hanzely, Richtárik (2020)",
    "A unified theory of SGD: variance reduction, sampling, quantization and coordinate descent",
)
WANG_FEDNOVA: Numbered = partial(
    printed,
    "Wang, Liu, Liang, Joshi, Poor (2020)",
    "Tackling the objective inconsistency problem in heterogeneous federated optimization",
)
DI_LORENZO: Numbered = partial(printed, "Di Lorenzo, Scutari (2016)", "NEXT: In-network nonconvex optimization")
KOLOSKOVA_ASYNC: Numbered = partial(
    printed,
    "Koloskova, Stich, Jaggi (2022)",
    "Sharper convergence guarantees for asynchronous SGD for distributed and federated learning",
)
PROXSKIP: Numbered = partial(
    printed,
    "Mishchenko, Malinovsky, Stich, Richtárik (2022)",
    "ProxSkip: Yes! Local gradient steps provably lead to communication acceleration! Finally!",
)
KOLOSKOVA: Numbered = partial(
    printed,
    "Koloskova, Loizou, Boreiri, Jaggi, Stich (2020)",
    "A unified theory of decentralized SGD with changing topology and local updates",
)
KHALED: Numbered = partial(
    printed, "Khaled, Mishchenko, Richtárik (2020)", "Tighter theory for local SGD on identical and heterogeneous data"
)
KARIMIREDDY: Numbered = partial(
    printed,
    "Karimireddy, Kale, Mohri, Reddi, Stich, Suresh (2020)",
    "SCAFFOLD: stochastic controlled averaging for federated learning",
)
STICH_KARIMIREDDY: Numbered = partial(
    printed,
    "Stich, Karimireddy (2020)",
    "The error-feedback framework: better rates for SGD with delayed gradients and compressed updates",
)
RICHTARIK_EF21: Numbered = partial(
    printed,
    "Richtárik, Sokolov, Fatkhullin (2021)",
    "EF21: a new, simpler, theoretically better, and practically faster error feedback",
)
MISHCHENKO: Numbered = partial(
    printed, "Mishchenko, Khaled, Richtárik (2020)", "Random reshuffling: simple analysis with vast improvements"
)
GOWER: Numbered = partial(
    printed, "Gower, Loizou, Qian, Sailanbayev, Shulgin, Richtárik (2019)", "SGD: general analysis and improved rates"
)
NOCEDAL: Numbered = partial(printed, "Nocedal, Wright (2006)", "Numerical optimization")
NESTEROV_COORDINATES: Numbered = partial(
    printed, "Nesterov (2012)", "Efficiency of coordinate descent methods on huge-scale optimization problems"
)
NUTINI: Numbered = partial(
    printed,
    "Nutini, Schmidt, Laradji, Friedlander, Koepke (2015)",
    "Coordinate descent converges faster with the Gauss-Southwell rule than random selection",
)
FACCHINEI_PANG: Numbered = partial(
    printed, "Facchinei, Pang (2003)", "Finite-Dimensional Variational Inequalities and Complementarity Problems"
)
KORPELEVICH: Numbered = partial(
    printed, "Korpelevich (1976)", "The extragradient method for finding saddle points and other problems"
)
POPOV: Numbered = partial(
    printed, "Popov (1980)", "A modification of the Arrow-Hurwicz method for search of saddle points"
)
GIDEL: Numbered = partial(
    printed,
    "Gidel, Berard, Vignoud, Vincent, Lacoste-Julien (2019)",
    "A variational inequality perspective on generative adversarial networks",
)
GORBUNOV_EXTRAGRADIENT: Numbered = partial(
    printed,
    "Gorbunov, Loizou, Gidel (2022)",
    "Extragradient method: O(1/K) last-iterate convergence for monotone variational inequalities and connections with "
    "cocoercivity",
)
ZHANG_ALTERNATING: Numbered = partial(
    printed,
    "Zhang, Wang, Lessard, Grosse (2022)",
    "Near-optimal local convergence of alternating gradient descent-ascent for minimax optimization",
)
