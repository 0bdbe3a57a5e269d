"""Text -> typed tree: the front end. Imports neither torch nor triton."""
