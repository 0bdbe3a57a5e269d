"""Calls under ``torch.compile``, other tracers, and inside operators of torch."""
