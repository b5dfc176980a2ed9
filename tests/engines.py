"""The engine that the tests of engines run: of ``pytest --engine``, else the CPU's."""

from dask_graphgpu import config
from dask_graphgpu.engine import load

_engine = load(config.get("engine"))

bfs = _engine.bfs
components = _engine.components
core_numbers = _engine.core_numbers
path_counts = _engine.path_counts
predecessors = _engine.predecessors
run = _engine.run
