"""What came of a port, as a page and as JSON."""
