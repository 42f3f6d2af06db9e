"""Linear models on tables: their files, losses, sparse rows, and certified constants."""
