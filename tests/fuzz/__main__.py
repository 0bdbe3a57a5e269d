"""``python -m tests.fuzz N``: see runs.py."""

from tests.fuzz.runs import main

if __name__ == "__main__":
    raise SystemExit(main())
