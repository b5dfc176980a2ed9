"""Compiled kernels are kept where that can be, and go by every source."""

import ast
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import dask
import numpy as np
import pytest
from numba.core.caching import FunctionCache

from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.compile import jit, sources_stamp

ROOT = Path(__file__).parents[2]


def child(code, **settings):
    """What a new interpreter prints."""
    arguments = {"cwd": settings.pop("cwd", ROOT), "env": os.environ | settings}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, **arguments
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


COUNT = """
import json
import numpy as np
from dask_graphgpu.kernels.cpu.predecessors import in_degrees

degree = np.zeros(3, np.int64)
in_degrees(0, 4, np.array([0, 2, 2, 1], np.uint32), degree)
print(json.dumps([degree.tolist(), sum(in_degrees.stats.cache_hits.values())]))
"""


@pytest.mark.slow
def test_a_change_in_a_file_whose_functions_are_inlined_is_seen(tmp_path):
    package, folder = tmp_path / "dask_graphgpu", str(tmp_path / "cache")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "dask_graphgpu", package, ignore=ignored)
    settings = {"cwd": tmp_path, "DASK_GRAPHGPU__CACHE_DIRECTORY": folder}
    assert child(COUNT, **settings) == [[1, 1, 2], 0]
    atomics = package / "kernels" / "cpu" / "atomics.py"
    text = atomics.read_text()
    assert '_modify("add")' in text
    atomics.write_text(text.replace('_modify("add")', '_modify("sub")'))
    assert child(COUNT, **settings) == [[-1, -1, -2], 0]
    atomics.write_text(text)
    assert child(COUNT, **settings) == [[1, 1, 2], 1]
    assert not list(package.rglob("*.nb?"))


NOWHERE = """
import json, sys, tempfile, warnings
import numpy as np
tempfile.tempdir = sys.executable
from dask_graphgpu.engine.options import RunOptions
from dask_graphgpu.engine.cpu import bfs, run
from dask_graphgpu.partition.csr import from_edges
from dask_graphgpu.partition.view import View
from dask_graphgpu.fields import Field
from dask_graphgpu.program import VertexProgram
from dask_graphgpu.report import Report

view = View.of(from_edges(3, np.array([0, 1]), np.array([1, 2]), {}))
program = VertexProgram(
    state={"x": Field("int64", initial=1)}, compute=lambda source_x: source_x, combine="sum"
)
with warnings.catch_warnings(record=True) as said:
    level = bfs(view, 0, cutoff=None, targets=None, report=Report("test"))
    state = run(program, view, RunOptions(max_supersteps=1, report=Report("test")))
print(json.dumps([level.tolist(), state["x"].tolist(), sorted({str(w.message)[:33] for w in said})]))
"""


def test_without_any_folder_to_write_kernels_and_programs_run():
    settings = {"XDG_CACHE_HOME": sys.executable, "NUMBA_CACHE_DIR": sys.executable}
    level, x, said = child(NOWHERE, **settings)
    assert (level, x) == ([0, 1, 2], [0, 1, 1])
    assert said == ["compiled code is not kept for the"]


ORDER = """
import json
import pyarrow as pa
from dask_graphgpu.kernels import cpu as kernels
from dask_graphgpu.kernels.compiled import is_compiled
from dask_graphgpu.partition.id_table import ranked

texts = [f"{7919 * k % 20011:05d}" for k in range(20011)]
found = [is_compiled(kernels.string_table.rename)]
[ranks], table = ranked([pa.array(texts, pa.large_string())])
assert table.take(pa.array(ranks)).to_pylist() == texts
found += [table.to_pylist() == sorted(texts), is_compiled(kernels.string_table.rename)]
print(json.dumps([*found, is_compiled(kernels.string_sort.sort)]))
"""


@pytest.mark.slow
def test_some_thousand_strings_do_not_wait_for_a_kernel_that_sorts_more(tmp_path):
    settings = {"DASK_GRAPHGPU__CACHE_DIRECTORY": str(tmp_path)}
    assert child(ORDER, **settings) == [False, True, True, False]
    assert child(ORDER, **settings) == [True, True, True, False]


def test_a_full_disk_is_no_error(tmp_path, monkeypatch):
    def full(self, sig, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(FunctionCache, "save_overload", full)

    @jit
    def doubled(x):
        return 2 * x

    with (
        dask.config.set({"graphgpu.cache-directory": str(tmp_path)}),
        pytest.warns(RuntimeWarning, match="not kept.*No space left"),
    ):
        assert doubled(4) == 8


def test_kernels_of_one_name_in_two_modules_keep_apart(tmp_path):
    spaces = [{"__name__": f"{letter}.kernels"} for letter in "ab"]
    for k, space in enumerate(spaces):
        exec(f"c = {k + 1}\ndef kernel(x): return x + c", space)
    with dask.config.set({"graphgpu.cache-directory": str(tmp_path)}):
        assert [jit(space["kernel"])(1) for space in spaces] == [2, 3]
        assert [jit(space["kernel"])(1) for space in spaces] == [2, 3]
    assert len(list(tmp_path.rglob("*.nbc"))) == 2


def test_processes_that_compile_at_once_do_not_get_each_others_code(tmp_path, monkeypatch):
    def last(array):
        return array[-1]

    arrays = [np.arange(9, dtype=np.uint8), np.array([0.5, 2.5])]
    arrived, written = (
        threading.Barrier(2, timeout=20),
        {"a": threading.Event(), "b": threading.Event()},
    )
    place = threading.local()
    replace = os.replace

    def replaced(made, path):
        # Both have read what there is before either writes; then the first writes, the second, the
        # second again and the first again, where anything is written twice.
        name, place.times = place.name, getattr(place, "times", 0) + 1
        if place.times == 1:
            arrived.wait()
        if (name, place.times) == ("b", 1):
            written["a"].wait(20)
        if (name, place.times) == ("a", 2):
            written["b"].wait(20)
        replace(made, path)
        if (name, place.times) == ("a", 1):
            written["a"].set()

    def save(name, cache, result):
        place.name = name
        cache.save_overload(result.signature.args, result)
        written[name].set()

    with dask.config.set({"graphgpu.cache-directory": str(tmp_path / "other")}):
        kernels = [jit(last) for _ in arrays]
        results = [each(array) for each, array in zip(kernels, arrays, strict=True)]
        assert results == [8, 2.5]
    compiled = [next(iter(each.overloads.values())) for each in kernels]
    with dask.config.set({"graphgpu.cache-directory": str(tmp_path)}):
        caches = [jit(last)._cache for _ in arrays]
        for each in caches:
            assert each.cache_path
        monkeypatch.setattr(os, "replace", replaced)
        threads = [
            threading.Thread(target=save, args=given)
            for given in zip("ab", caches, compiled, strict=True)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        monkeypatch.undo()
        again = jit(last)
        assert [again(array) for array in arrays] == [8, 2.5]
        assert sum(again.stats.cache_hits.values()) == 2


def test_the_stamp_covers_every_source_with_its_name(tmp_path):
    def stamp(**files):
        shutil.rmtree(tmp_path / "k", ignore_errors=True)
        (tmp_path / "k" / "cpu").mkdir(parents=True)
        for file, text in files.items():
            (tmp_path / "k" / "cpu" / f"{file}.py").write_text(text)
        return sources_stamp(tmp_path / "k")

    stamps = [
        stamp(a="x", b="y"),
        stamp(a="x", b="z"),
        stamp(a="xy", b=""),
        stamp(a="y", b="x"),
        stamp(a="x", c="y"),
        stamp(a="x"),
        stamp(),
    ]
    assert len(set(stamps)) == len(stamps)
    assert stamps[-1] == ""
    assert stamp(b="y", a="x") == stamps[0]


def test_no_kernel_copies_an_array_by_slices():
    """For an error that tells two shapes Numba compiles how integers become text, for two seconds."""
    found = []
    for path in sorted(Path(kernels.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Constant):
                slices = (each for target in node.targets for each in ast.walk(target))
                if any(isinstance(each, ast.Slice) for each in slices):
                    found.append(f"{path.name}:{node.lineno}: {ast.unparse(node)}")
    assert not found
