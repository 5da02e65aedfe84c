"""Settings that all tests share."""

from hypothesis import settings

# no wall-clock limit: how long an example takes says more of the machine than of the code
settings.register_profile("project", deadline=None)
# against mutants the same few examples each time: a survivor is then a hole, not bad luck
settings.register_profile("mutants", parent=settings.get_profile("project"), max_examples=25, derandomize=True)
settings.load_profile("project")
