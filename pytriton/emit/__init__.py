"""Typed tree -> Python text."""
