"""Memory checks: the accesses of a kernel, numbered, with what they may reach and what decides where they go."""
