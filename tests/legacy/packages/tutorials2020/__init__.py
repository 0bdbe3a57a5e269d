"""First steps with Triton, July 2020. Each file is a lesson: an operator, and what it does in a second."""
