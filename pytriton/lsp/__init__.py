"""``pytriton lsp``, a language server: ``analysis.py`` has the answers, ``server.py`` implements the protocol."""
