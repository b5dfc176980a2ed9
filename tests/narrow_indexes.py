"""A plugin of pytest: tests fail where an array is indexed by integers other than NumPy's own.

    PYTHONPATH=tests python -m pytest -p narrow_indexes tests/engine -n 0

NumPy 2.4 reads such an index through a buffer, and the process ends if there is no memory for that; `take` does not,
nor does an index of `intp`. Subscripts of the package are rewritten while it is imported; at the end each line is
printed that was given such an index, with its types. `tests/test_narrow_indexes.py` runs a part of the suite so.
"""

import ast
import builtins
import importlib.machinery
import sys
from collections import defaultdict

import numpy as np
import pytest

# Compiled by Numba, or read as text; what works on CuPy's arrays, which tests without a GPU replace by NumPy's.
LEFT_OUT = (
    "dask_graphgpu.kernels",
    "dask_graphgpu.functions",
    "dask_graphgpu.program",
    "dask_graphgpu.partition.device",
)
FOUND = defaultdict(set)


def told(index, where):
    """The index, as it is."""
    for each in index if isinstance(index, tuple) else (index,):
        if type(each) is np.ndarray and each.ndim and each.dtype.kind in "iu":
            if each.dtype != np.intp:
                FOUND[where].add(str(each.dtype))
    return index


class Telling(ast.NodeTransformer):
    """Has each subscript of expressions and assignments told; annotations stay."""

    def __init__(self, path):
        self.path = path

    def visit_Subscript(self, node):
        self.generic_visit(node)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not any(isinstance(each, ast.Slice | ast.Starred | ast.Constant) for each in parts):
            where = ast.Constant(f"{self.path}:{node.lineno}")
            node.slice = ast.Call(ast.Name("told_index", ast.Load()), [node.slice, where], [])
        return node

    def visit_AnnAssign(self, node):
        node.value = node.value and self.visit(node.value)
        return node

    def visit_FunctionDef(self, node):
        node.body = [self.visit(each) for each in node.body]
        return node


class Loader(importlib.machinery.SourceFileLoader):
    """Compiles what `Telling` has rewritten."""

    def get_code(self, fullname):
        tree = Telling(self.path).visit(ast.parse(self.get_data(self.path)))
        return compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)


class Finder:
    """Finds the package's modules for `Loader`."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if not name.startswith("dask_graphgpu") or name.startswith(LEFT_OUT):
            return None
        found = importlib.machinery.PathFinder.find_spec(name, path, target)
        if found and isinstance(found.loader, importlib.machinery.SourceFileLoader):
            found.loader = Loader(found.loader.name, found.loader.path)
        return found


builtins.told_index = told
sys.meta_path.insert(0, Finder)


def pytest_sessionfinish(session):
    if FOUND and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    terminalreporter.section("indexed by other integers than NumPy's own")
    for where, types in sorted(FOUND.items()):
        terminalreporter.write_line(f"{where}: {', '.join(sorted(types))}")
