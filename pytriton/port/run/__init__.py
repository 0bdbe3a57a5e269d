"""What only a run shows: the texts that a program launches, noted while it runs."""
