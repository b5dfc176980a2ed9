"""The benchmark runs, at a size that says nothing of speed, and both sides agree on the answers."""

import sys
from pathlib import Path
from typing import ClassVar

import numpy as np
import oracles
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from compare import table
from graphs import grid, rmat
from ours import Ours
from peers import SciPy


class ByHand(SciPy):
    """What SciPy lacks, so that the smoke run needs no further library."""

    name = "by hand"
    calls: ClassVar = {"core numbers": "repeated deletion", "path counts": "powers of the matrix"}

    def kernel(self, algorithm, source):
        matrix, n = self._matrix, self._matrix.shape[0]
        if algorithm == "core numbers":
            edges = list(zip(*matrix.nonzero(), strict=True))
            return lambda: oracles.core_numbers(n, edges)

        def counts():
            ones = (matrix > 0).astype(float)
            found = walks = np.eye(1, n, source)[0]
            for _ in range(n):
                walks = walks @ ones
                found = np.where(found > 0, found, walks)
            return found

        return counts


def test_table_has_a_row_for_every_algorithm(tmp_path):
    lines = list(table([rmat(6, 8, tmp_path), grid(5, tmp_path)], [SciPy, ByHand]))
    assert len(lines) == 2 + 6 + 5
    assert all(line.count("|") == lines[0].count("|") for line in lines[2:])


@pytest.mark.parametrize("algorithm", ["sssp", "pagerank", "core numbers", "path counts"])
def test_both_sides_compute_the_same(tmp_path, algorithm):
    graph = grid(9, tmp_path)
    ours = Ours(graph).kernel(algorithm, 0)()
    peer = SciPy if algorithm in SciPy.calls else ByHand
    theirs = peer(graph).kernel(algorithm, 0)()
    np.testing.assert_allclose(ours.astype(float), theirs, rtol=1e-9)
