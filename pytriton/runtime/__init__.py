"""From a generated module to launches. ARCHITECTURE.md lists the folders, and follows a call through them."""
