"""What is printed: formulas, lines, names, layout, and the #if of the forward."""
