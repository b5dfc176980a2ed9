"""The engine that the tests of engines run: of ``pytest --engine``, else the CPU's."""

import pytest

from dask_graphgpu import config
from dask_graphgpu.engine import load

_engine = load(config.get("engine"))

# What a test says of the way to an answer, not of the answer.
of_the_cpu_engine = pytest.mark.skipif(
    config.get("engine") == "gpu", reason="how the CPU engine goes about it"
)

bfs = _engine.bfs
components = _engine.components
core_numbers = _engine.core_numbers
path_counts = _engine.path_counts
predecessors = _engine.predecessors
run = _engine.run
