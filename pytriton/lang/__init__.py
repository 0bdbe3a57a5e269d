"""Text -> typed tree: the front end. Needs Python and nothing else.

tokens.py    the lexer
tree/        the typed tree: types, nodes, the ways to walk it, C's conversions, the table of built-ins
preprocess/  text and defines -> tokens
parse/       tokens -> syntax tree
check/       syntax tree -> typed tree
read.py      text and defines -> syntax tree, read once for all points of a sweep
"""
