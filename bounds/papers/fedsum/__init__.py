"""FedSUM, FedSUM-B and FedSUM-CR."""
