"""``.graph`` appears on frames of cuDF and polars whichever package is imported first.

Here on a package of cuDF's name.
"""

import subprocess
import sys

import pytest

PACKAGE = """
from cudf import inner
class DataFrame: ...
assert __spec__.loader is __loader__
"""

ASK = """
import importlib.util, sys
assert "cudf" not in sys.modules or hasattr(sys.modules["cudf"].DataFrame, "graph")
import cudf, importlib.resources
assert type(cudf.DataFrame().graph).__name__ == "GraphAccessor"
assert type(cudf.__spec__.loader).__name__ == "SourceFileLoader"
assert importlib.resources.files("cudf").joinpath("inner.py").is_file()
assert "cudf" not in [f.name for f in sys.meta_path if "post_import" in type(f).__module__]
importlib.reload(cudf)
"""


@pytest.mark.parametrize(
    "first",
    [
        "import cudf, dask_graphgpu",
        "import dask_graphgpu, cudf",
        "import dask_graphgpu, sys; assert 'cudf' not in sys.modules",
        "import dask_graphgpu; from importlib.util import find_spec; assert find_spec('cudf')",
    ],
)
def test_either_order(tmp_path, first):
    (tmp_path / "cudf").mkdir()
    (tmp_path / "cudf" / "__init__.py").write_text(PACKAGE)
    (tmp_path / "cudf" / "inner.py").write_text("")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{first}\n{ASK}"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("first", ["import polars, dask_graphgpu", "import dask_graphgpu, polars"])
def test_either_order_of_polars(first):
    code = f"""
{first}
import sys
for frame in (polars.DataFrame({{"src": [1], "dst": [2]}}), polars.LazyFrame({{"src": [1], "dst": [2]}})):
    assert frame.graph.bfs(1).rows() == [(1, 0), (2, 1)]
assert "polars" not in [f.name for f in sys.meta_path if "post_import" in type(f).__module__]
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_the_package():
    code = (
        "import sys, dask_graphgpu\n"
        "from importlib.util import find_spec\n"
        "assert find_spec('cudf') is None or 'cudf' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
