"""Numbers that the kernels share, whichever way they are compiled."""

# The largest number of local variables in a block: for each there is code that keeps them in registers.
SLOTS = 4
# What becomes of the rows to which something is added: first set them to zero, or keep them.
SET, ADD = 0, 1

# Laws of noise that the kernels draw.
GAUSSIAN, SIGNS, UNIFORM, STUDENT, RADIAL, RELATIVE = 0, 1, 2, 3, 4, 5

# Lanes per vector; LLVM splits a vector where the machine's registers are narrower.
WIDTH = 8

# Losses of linear models.
LOGISTIC_LOSS, SQUARED_LOSS, HUBER_LOSS, SOFTMAX_LOSS = range(4)

# Philox.
MASK = 0xFFFFFFFF
MULTIPLIER_0, MULTIPLIER_1 = 0xD2511F53, 0xCD9E8D57
WEYL_0, WEYL_1 = 0x9E3779B9, 0xBB67AE85
ROUNDS = 10

# Logarithms and exponentials.
LOG2_E = 1.4426950408889634
# Products of the first part of log(2) with the integers that occur are exact.
LOG_2_HIGH, LOG_2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# exp(r) for |r| <= log(2)/2, interpolated at Chebyshev nodes: 4e-16 relative.
EXPONENTIAL = (
    1.0, 1.0000000000000067, 0.5000000000000006, 0.16666666666554314, 0.041666666666573066, 0.008333333385699212,
    0.001388888893251478, 0.00019841170230570286, 2.480150431378554e-05, 2.764019739169484e-06, 2.7626371065696354e-07,
)  # fmt: skip
MINUS_2_LOG_2 = -1.3862943611198906

# Polynomials in the square q of their argument, with the error of the interpolation at Chebyshev nodes.
# -4 atanh(s)/s for |s| <= 3 - 2*sqrt(2): 3e-16 relative.
LOGARITHM = (
    -4.000000000000001, -1.333333333331057, -0.8000000012354611, -0.571428320319513, -0.4444686984281641,
    -0.36243844007787285, -0.33675627137797287,
)  # fmt: skip
# sin(pi t)/t for |t| <= 1/2: 3e-16 relative.
SINE = (
    3.1415926535897927, -5.1677127800497855, 2.5501640398618677, -0.599264528825224, 0.08214587881631043,
    -0.0073703643265304155, 0.0004659870158043378, -2.113362735205297e-05,
)  # fmt: skip
# cos(pi t) for |t| <= 1/2: 2e-15 absolute.
COSINE = (
    0.9999999999999981, -4.934802200543686, 4.058712126333295, -1.3352627661817635, 0.23533058831317874,
    -0.025806531975921563, 0.0019278700526981333, -0.0001004164642205389,
)  # fmt: skip

# Operations of programs: see `ratecheck.kernels.programs`.
COPIED, ADDED, SUBTRACTED, PRODUCT, DIVIDED, SMALLER, LARGER, LESS, NOT_MORE, EQUAL = range(10)
SELECTED, ABSOLUTE, ROOT, SIGN, SUMMED, LARGEST, ARGMAX, ORDERED = range(10, 18)
