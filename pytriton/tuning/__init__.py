"""The configs that one set of defines means, each translated and compiled once, and the choice among them."""
