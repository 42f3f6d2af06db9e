"""Constants of problems, participations and runs, each with how it is certified."""
