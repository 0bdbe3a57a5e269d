"""Tokens -> syntax tree: what was written, before anything is known about names and types.

``parser.py`` is the way in; ``syntax_errors.py`` reports syntax errors, with cures.
"""
