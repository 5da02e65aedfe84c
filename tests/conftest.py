"""Settings that all tests share."""

from hypothesis import settings

# no wall-clock limit: how long an example takes says more of the machine than of the code
# the same examples in every run: a random find belongs to a search, not to the run that must land
settings.register_profile("project", deadline=None, derandomize=True, database=None)
# against mutants the same few examples each time: a survivor is then a hole, not bad luck
settings.register_profile("mutants", parent=settings.get_profile("project"), max_examples=25, derandomize=True)
settings.load_profile("project")
