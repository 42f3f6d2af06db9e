"""The state after a round, by hand."""

import numpy as np

from ratecheck.kernels.variables import aggregate_round


def test_rows_of_no_variable_keep_what_they_have():
    """Two blocks of two and one coordinates, the second with one variable of the server instead of two."""
    lanes, starts = 3, np.array([0, 2, 3])
    # By block: variables of the server, then one message; rows of server (2 slots of 3) and of the messages' sum.
    places = np.array([[0, 3, 0], [2, -1, 2]])
    aggregate = np.zeros((2, 2, 2, 3))
    aggregate[:, 0] = [[1.0, 0.5, 2.0], [0.0, 1.0, -1.0]]
    aggregate[:, 1, 0] = [3.0, 0.0, 1.0]
    server = np.repeat(np.arange(1.0, 7.0)[:, None], lanes, axis=1)
    total = np.repeat(np.array([10.0, 20.0, 30.0])[:, None], lanes, axis=1)
    before = server.copy()
    # Scratch is whatever was in memory.
    new, factors = np.full((6, lanes), np.nan), np.full(lanes, np.nan)
    aggregate_round(aggregate, starts, places, np.ones(lanes, dtype=np.int64), server, total, new, factors)
    u, c, v = before[:2], before[3:5], before[2:3]
    expected = [*(u + 0.5 * c + 2 * total[:2]), *(3 * v + total[2:]), *(c - total[:2]), before[5]]
    np.testing.assert_array_equal(server, expected)
