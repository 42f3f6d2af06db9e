"""Methods whose coefficients change from round to round: acceleration, anchors, step sizes by a schedule."""
