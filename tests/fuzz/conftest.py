"""How many cases a fuzzer makes."""

import pytest


@pytest.fixture
def fuzz_cases(request):
    """As many as its file says, unless the option says otherwise."""
    asked = request.config.getoption("--fuzz-cases")
    return request.module.CASES if asked is None else asked
