"""Which config serves a call: the only one, a pinned or remembered one, or the fastest, measured."""
