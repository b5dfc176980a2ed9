"""An edge and what it carries in one word, so that fewer bytes go over a link, and a short row is read at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dask_graphgpu.engine.cuda.wrappers import c_type

_MASK = 2**64 - 1


@dataclass(frozen=True)
class PackedColumn:
    """Some bits of a word: a value less the least one there is; of a float its bits.

    Attributes
    ----------
    name : str
    dtype : dtype
        As the column is given.
    shift, bits : int
        The lowest bit in a word, and how many there are.
    least : int
        0 but of integers.
    """

    name: str
    dtype: np.dtype[Any]
    shift: int
    bits: int
    least: int

    def value(self, word: str) -> str:
        """C++ of the value in a word, in the column's own type."""
        bits = f"((uint64){word} >> {self.shift} & {(1 << self.bits) - 1}ull)"
        kind = c_type(self.dtype)
        if self.dtype.kind == "f":
            return f"bits_as<{kind}>((uint{8 * self.dtype.itemsize}){bits})"
        return f"({kind})({bits} + {self.least & _MASK}ull)"

    def put(self, words: np.ndarray, column: np.ndarray) -> None:
        """Put values into words in which these bits are 0."""
        if self.dtype.kind in "bf":
            found = column.view(f"u{self.dtype.itemsize}")
        else:
            found = column.astype(np.uint64)  # wraps around, and then back
            found -= np.uint64(self.least & _MASK)
        found = found.astype(words.dtype)
        found <<= words.dtype.type(self.shift)
        words |= found


@dataclass(frozen=True)
class Packing:
    """How the words of all edges are made up: the other end in the lowest bits, columns above.

    Attributes
    ----------
    word : dtype
        uint32 or uint64.
    id_bits : int
    columns : tuple of PackedColumn
    """

    word: np.dtype[Any]
    id_bits: int
    columns: tuple[PackedColumn, ...]

    @classmethod
    def of(
        cls,
        num_vertices: int,
        ids: np.dtype[Any],
        columns: Mapping[str, np.dtype[Any]],
        ranges: Mapping[str, tuple[int, int]],
    ) -> Packing | None:
        """Words for columns of these types; None where there are none, or words would be larger.

        Parameters
        ----------
        num_vertices : int
            Ids are less.
        ids : dtype
            Of ids outside of words.
        columns : dict of str to dtype
        ranges : dict of str to (int, int)
            The least and the largest value of each column of integers.
        """
        id_bits = shift = max(1, (num_vertices - 1).bit_length())
        packed = []
        for name, dtype in columns.items():
            least, bits = 0, 1 if dtype.kind == "b" else 8 * dtype.itemsize
            if dtype.kind in "iu":
                least, largest = ranges[name]
                bits = max(1, (largest - least).bit_length())
            packed.append(PackedColumn(name, dtype, shift, bits, least))
            shift += bits
        word = np.dtype(np.uint32 if shift <= 32 else np.uint64)
        apart = ids.itemsize + sum(dtype.itemsize for dtype in columns.values())
        if not columns or shift > 64 or word.itemsize > apart:
            return None
        return cls(word, id_bits, tuple(packed))

    @property
    def macros(self) -> dict[str, str]:
        """Of kernels; see program.cuh."""
        return {"PACKED": str(self.id_bits), "WORD": c_type(self.word)}

    def put(self, words: np.ndarray, ids: np.ndarray, columns: Mapping[str, np.ndarray]) -> None:
        """Make words of edges."""
        words[:] = ids
        for column in self.columns:
            column.put(words, columns[column.name])
