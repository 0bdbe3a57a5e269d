"""The configs that one set of defines means: each translated and compiled when it is first needed."""
