"""Tables of ids as bytes, for messages between ranks: Arrow's stream format, which runs no code."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa


def to_bytes(columns: Sequence[pa.Array]) -> bytes:
    """Arrow arrays of one length as bytes; of slices only what they show."""
    batch = pa.record_batch(list(columns), names=[str(k) for k in range(len(columns))])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def from_bytes(data: bytes) -> list[pa.Array]:
    """What `to_bytes` was given; the arrays lie in ``data``."""
    with pa.ipc.open_stream(data) as reader:
        return list(reader.read_next_batch().columns)
