"""Text -> typed tree: the front end. Needs Python and nothing else; ARCHITECTURE.md lists its folders."""
