"""Several local steps of every client in a round."""
