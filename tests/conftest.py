"""Settings of the whole suite."""

from hypothesis import HealthCheck, settings

# The first example of a test compiles kernels; how long an example takes says nothing.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")
