"""Measurements, run by ``make bench``. They print ratios of one run, never assert."""
