"""Which memory a kernel reaches, in which order, and where its threads have to wait for each other."""
