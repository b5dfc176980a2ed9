"""Words that are put bit after bit, against Python's integers."""

import numpy as np
import pytest

from dask_graphgpu.kernels.cpu.packing import put_bits


@pytest.mark.parametrize("bits", [1, 7, 17, 24, 31, 32, 33, 40, 63])
@pytest.mark.parametrize("number", [1, 31, 32, 100])
def test_bits_stand_one_after_the_other(bits, number):
    words = np.random.default_rng(bits).integers(0, 2**63, number, np.uint64)
    groups = -(-number // 32)
    out = np.full(groups * bits + 1, 0xDEADBEEF, np.uint32)
    for group in reversed(range(groups)):  # as threads may
        put_bits(group, group + 1, words, bits, out)
    found, mask = int.from_bytes(out[:-1].tobytes(), "little"), (1 << bits) - 1
    assert [found >> i * bits & mask for i in range(number)] == [int(w) & mask for w in words]
    assert found >> number * bits == 0, "zeros behind the last word"
    assert out[-1] == 0xDEADBEEF
