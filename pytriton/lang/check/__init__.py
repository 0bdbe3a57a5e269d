"""Syntax tree -> typed tree: names get their meaning, expressions their types, errors are collected.

``checker.py`` is the way in and goes through the statements; ``expressions.py`` leads to everything with a value.
"""
