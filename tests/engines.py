"""The engine that the tests of engines run: of ``pytest --engine``, else the CPU's."""

import pytest

from dask_graphgpu import config
from dask_graphgpu.engine import load

# What a test says of the way to an answer on one rank, where `pytest --ranks` asks for more.
of_one_rank = pytest.mark.skipif(
    config.get("ranks") not in ("auto", 1), reason="how one rank goes about it"
)

_engine = load(config.get("engine"))

# What a test says of the way to an answer, not of the answer.
of_the_cpu_engine = pytest.mark.skipif(
    config.get("engine") == "gpu", reason="how the CPU engine goes about it"
)

# What a test says of methods that run on one rank, on both engines.
on_one_rank = pytest.mark.skipif(
    config.get("ranks") not in ("auto", 1), reason="runs on one rank only"
)

# What a test says of methods that run on the CPU engine on one rank, and nowhere else.
on_one_cpu = pytest.mark.skipif(
    config.get("engine") == "gpu" or config.get("ranks") not in ("auto", 1),
    reason="runs on the CPU engine on one rank only",
)

# Numbers of ranks for tests of methods that run on several: a GPU has one.
RANKS = (1,) if config.get("engine") == "gpu" else (1, 2, 3, 4)

bfs = _engine.bfs
components = _engine.components
core_numbers = _engine.core_numbers
k_core = _engine.k_core
path_counts = _engine.path_counts
predecessors = _engine.predecessors
run = _engine.run
