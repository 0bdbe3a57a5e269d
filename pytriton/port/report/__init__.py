"""What a run of ``port`` came to, graded, for people and for programs."""
