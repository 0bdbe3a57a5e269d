"""Memory checks: what a launch may reach, what it reached beside, and how that is said. CPU and GPU alike."""
