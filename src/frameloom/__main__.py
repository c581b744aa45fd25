"""`python -m frameloom` is the command `frameloom`."""
import sys

from frameloom.report.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
