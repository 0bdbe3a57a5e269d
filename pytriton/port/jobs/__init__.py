"""What was found -> what to write: each text at every point of its sweeps, and the plan of its launcher."""
