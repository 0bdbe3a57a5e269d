"""Chooses the config of a call: the only one, a pinned or stored one, or the fastest, measured."""
