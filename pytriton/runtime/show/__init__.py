"""A kernel as people look at it: page.py as HTML for notebooks, chart.py as a picture of its timings."""
