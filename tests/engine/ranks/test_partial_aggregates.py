"""Parts of aggregates on their way between ranks."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dask_graphgpu.engine.aggregates import Partial
from dask_graphgpu.engine.ranks.synchronous import fit, packed, unpacked

_VALUES = st.one_of(
    st.none(), st.integers(-(2**94), 2**94 - 1), st.floats(), st.sampled_from([2**63, -(2**63)])
)


@given(st.lists(st.builds(Partial, _VALUES, st.booleans()), max_size=6))
def test_parts_come_out_as_they_went_in(parts):
    scalars = np.array(packed(parts), np.int64)
    assert fit(len(scalars)) == len(parts) or not parts
    found = unpacked(scalars.tolist())
    assert repr(found) == repr(parts)  # also of NaN, -0.0, and the type
