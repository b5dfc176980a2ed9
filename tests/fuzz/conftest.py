"""How many cases a fuzzer makes."""

import pytest


@pytest.fixture
def fuzz_cases(request):
    return request.config.getoption("--fuzz-cases")
