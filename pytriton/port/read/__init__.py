"""Python code, read without running it: the texts in it, and how it launches them."""
