"""FedAvg-P and Scaffold-P."""
