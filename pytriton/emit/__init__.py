"""Typed tree -> Python source."""
