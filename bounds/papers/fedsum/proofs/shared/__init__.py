"""Lemmas, sums and instances that several appendices of the FedSUM paper use."""
