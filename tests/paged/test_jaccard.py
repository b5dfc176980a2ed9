"""Jaccard coefficients of graphs on disk, of which little fits memory at once: the answers are those of memory."""

import dask
import numpy as np
import pandas as pd
import pytest
from engines import on_one_cpu

from dask_graphgpu import last_report
from dask_graphgpu.errors import LimitTooSmall

pytestmark = on_one_cpu


@pytest.fixture
def limited(tmp_path):
    return {
        "graphgpu.page-bytes": 4096,
        "graphgpu.spill-directories": [str(tmp_path / "pages")],
    }


def uniform(vertices, rows, repeats=1):
    ends = np.random.default_rng(5).integers(0, vertices, (rows, 2))
    return pd.concat([pd.DataFrame(ends, columns=["src", "dst"])] * repeats, ignore_index=True)


def same(method, limits):
    """The bytes that were read for an answer that is that in memory."""
    wanted = method()
    with dask.config.set(limits):
        found = method()
    pd.testing.assert_frame_equal(found, wanted, check_exact=True)
    return last_report().attrs["disk_bytes"]


def test_more_pairs_than_rows_fit_read_more(limited):
    frame = uniform(1_500, 300_000)
    pairs = frame.sample(1_000, random_state=1, ignore_index=True)
    read = [
        same(
            lambda: frame.graph(directed=False).jaccard(pairs),
            limited | {"graphgpu.host-memory-limit": limit},
        )
        for limit in ("3MB", "900kB")
    ]
    assert read[0] < read[1]


def test_a_pair_reads_the_pages_of_its_rows(limited):
    frame, pair = uniform(1_500, 300_000), pd.DataFrame({"src": [7, 7, 7], "dst": [900, 7, 8]})
    limits = limited | {"graphgpu.host-memory-limit": "900kB"}
    assert 0 < same(lambda: frame.graph().jaccard(pair), limits) <= 16 * 4096
    assert same(lambda: frame.graph().jaccard(pair[:0]), limits) == 0


@pytest.mark.parametrize("first", [0, 2_000])
def test_pairs_in_parts(limited, first):
    """Of vertices that list what they find, and of others that count: they would list more than there are vertices."""
    listing, counting = uniform(2_000, 2_000), uniform(150, 15_000)
    frame = pd.concat([listing + 150 * (first == 0), counting + first], ignore_index=True)
    frame = pd.concat([frame] * 10, ignore_index=True)
    read = [
        same(
            lambda: frame.graph().jaccard(),
            limited | {"graphgpu.host-memory-limit": limit},
        )
        for limit in ("1.5MB", "900kB")
    ]
    assert 0 < read[0] < read[1]


def test_pairs_that_do_not_fit_say_so(limited):
    frame = uniform(1_500, 100_000)
    with (
        dask.config.set(limited | {"graphgpu.host-memory-limit": "900kB"}),
        pytest.raises(LimitTooSmall, match=r"a result of [\d,]+ pairs or more needs [\d,]+ bytes"),
    ):
        frame.graph().jaccard()
