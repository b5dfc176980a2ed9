"""Tables of ids in messages between ranks: Arrow's stream format, which runs no code."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from dask_graphgpu.exchange.ranks import NOTHING, Ranks


def tables_to_all(ranks: Ranks, tables: Sequence[Sequence[pa.Array]]) -> list[list[pa.Array]]:
    """Table j, Arrow arrays of one length, goes to rank j; table j of what is returned came from there.

    Collective. That of this rank is the one given; of slices only what they show travels.
    """
    sent = [NOTHING if j == ranks.rank else _packed(table) for j, table in enumerate(tables)]
    received = ranks.all_to_all(sent)
    return [
        list(tables[j]) if j == ranks.rank else _unpacked(received[j]) for j in range(ranks.size)
    ]


def _packed(columns: Sequence[pa.Array]) -> np.ndarray:
    """Arrow arrays of one length as bytes."""
    batch = pa.record_batch(list(columns), names=[str(k) for k in range(len(columns))])
    counted = pa.MockOutputStream()
    _write(batch, counted)
    room = pa.allocate_buffer(counted.size())
    _write(batch, pa.FixedSizeBufferWriter(room))
    return np.frombuffer(room, np.uint8)


def _write(batch: pa.RecordBatch, sink: pa.NativeFile) -> None:
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)


def _unpacked(data: np.ndarray) -> list[pa.Array]:
    """What `_packed` was given; the arrays lie in ``data``."""
    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        return list(reader.read_next_batch().columns)
