"""What all tests share: property tests take the same examples on every run and every machine."""

import os

from hypothesis import settings

# Several test processes run side by side: more threads in each would only wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("same examples", derandomize=True, deadline=None, database=None)
settings.load_profile("same examples")
