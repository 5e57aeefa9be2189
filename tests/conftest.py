"""What all tests share: property tests take the same examples on every run and every machine."""

from hypothesis import settings

settings.register_profile("same examples", derandomize=True, deadline=None, database=None)
settings.load_profile("same examples")
