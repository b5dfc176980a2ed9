"""Arrow's pool of memory while a graph is built within a small limit, and after."""

import pyarrow as pa

from dask_graphgpu.partition.host_memory import freed_at_once


def test_the_last_one_inside_gives_arrow_its_pool_back():
    own = pa.default_memory_pool().backend_name
    assert own != "system"
    first, second = freed_at_once(), freed_at_once()
    with first:
        assert pa.default_memory_pool().backend_name == "system"
        second.__enter__()  # another thread's
    assert pa.default_memory_pool().backend_name == "system"
    second.__exit__(None, None, None)
    assert pa.default_memory_pool().backend_name == own
