"""The benchmark runs, at a size that says nothing of speed, and both sides agree on the answers."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from compare import table
from graphs import grid, rmat
from ours import Ours
from peers import SciPy


def test_table_has_a_row_for_every_algorithm(tmp_path):
    lines = list(table([rmat(6, 8, tmp_path), grid(5, tmp_path)], [SciPy]))
    assert len(lines) == 2 + 2 * 5
    assert all(line.count("|") == lines[0].count("|") for line in lines[2:])


@pytest.mark.parametrize("algorithm", ["sssp", "pagerank"])
def test_both_sides_compute_the_same(tmp_path, algorithm):
    graph = grid(9, tmp_path)
    ours = Ours(graph).kernel(algorithm, 0)()
    theirs = SciPy(graph).kernel(algorithm, 0)()
    np.testing.assert_allclose(ours.astype(float), theirs, rtol=1e-9)
