"""Messages between processes as bytes: a header of 24, scalars of 8 each, what is sent.

Nothing that comes from a connection is unpickled, and no length is believed beyond a bound.
"""

from __future__ import annotations

import hmac
import struct
from typing import Any, NamedTuple

from dask_graphgpu.errors import RankLost, RanksAborted

MAGIC = 0x52504747
DATA, ALIVE, LEFT, ABORT, SHARED, OFFER, ANSWER, PIECE, FREE = range(1, 10)
MOST_BYTES = 1 << 36  # of one message to one peer
MOST_SCALARS = 16
MOST_REASON = 4096  # bytes of the reason in ABORT

_HEADER = struct.Struct("<IBcHQQ")  # magic, kind, type of scalars, their number, step, bytes sent
HEADER = _HEADER.size


class Header(NamedTuple):
    """Of one message.

    Attributes
    ----------
    kind : int
        DATA is a step's message. ALIVE: the rank is busy elsewhere. LEFT: it takes no further step.
        ABORT: the run is over; the scalars say which rank is the cause and whether it is lost, the
        bytes say why. Between ranks of one host, SHARED is DATA whose bytes go through a ring that
        both see: OFFER says which, ANSWER whether it is taken, PIECE that so many bytes more are in
        it, FREE that so many have been taken out.
    scalar : str
        "i" for int64, "f" for float64.
    """

    kind: int
    scalar: str
    num_scalars: int
    step: int  # or what ANSWER, PIECE and FREE say
    nbytes: int


def pack(
    kind: int, scalar: str = "i", num_scalars: int = 0, step: int = 0, nbytes: int = 0
) -> bytes:
    """A header; the scalars and the bytes follow."""
    return _HEADER.pack(MAGIC, kind, scalar.encode(), num_scalars, step, nbytes)


def unpack(buffer: Any, offset: int) -> Header:
    """Header at that place of a buffer.

    Raises
    ------
    ValueError
        No rank of this version sends such a header.
    """
    magic, kind, scalar, num_scalars, step, nbytes = _HEADER.unpack_from(buffer, offset)
    if magic != MAGIC or kind not in _MOST or scalar not in _SCALARS:
        raise ValueError(f"what is no message: {bytes(buffer[offset : offset + HEADER]).hex()}")
    if num_scalars > MOST_SCALARS or nbytes > _MOST[kind]:
        raise ValueError(
            f"a header of {num_scalars} scalars and {nbytes:,} bytes, beyond any bound"
        )
    return Header(kind, _SCALARS[scalar], num_scalars, step, nbytes)


_SCALARS = {b"i": "i", b"f": "f"}
_MOST = {DATA: MOST_BYTES, SHARED: MOST_BYTES, ABORT: MOST_REASON, OFFER: MOST_REASON}
_MOST |= dict.fromkeys([ALIVE, LEFT, ANSWER, PIECE, FREE], 0)


def last_words(error: Exception) -> bytes:
    """The message of kind ABORT that tells peers of an error."""
    rank = getattr(error, "rank", None)
    address = getattr(error, "address", None) or ""
    text = f"{address}\n{error}".encode(errors="replace")[:MOST_REASON]
    scalars = struct.pack("<qq", -1 if rank is None else rank, isinstance(error, RankLost))
    return pack(ABORT, "i", 2, 0, len(text)) + scalars + text


def verdict(scalars: memoryview, text: memoryview) -> RankLost | RanksAborted:
    """The error that a peer has told of: of the same kind, about the same rank."""
    rank, lost = struct.unpack("<qq", scalars) if len(scalars) == 16 else (-1, 0)
    address, _, message = bytes(text).decode(errors="replace").partition("\n")
    if not message.strip():
        message = "a rank has ended the run and has not said why"
    if lost:
        return RankLost(message, rank, address)
    return RanksAborted(message, None if rank < 0 else rank)


def again(words: bytes) -> RankLost | RanksAborted:
    """The error of `last_words`."""
    view = memoryview(words)
    return verdict(view[HEADER : HEADER + 16], view[HEADER + 16 :])


# -- introduction ---------------------------------------------------------------------------------
#
# The rank that connects proves that it knows the run's token, and so does the one that answers; the
# token itself never travels, so whoever has taken over a port learns nothing.

_HELLO = struct.Struct("<8sII16s32s")  # version, from, to, a random number, proof
VERSION = b"ggranks1"
HELLO, WELCOME = _HELLO.size, 32


def hello(token: bytes, rank: int, peer: int, nonce: bytes) -> bytes:
    """What rank ``rank`` says first to ``peer``."""
    return _HELLO.pack(VERSION, rank, peer, nonce, _proof(token, b"hello", rank, peer, nonce))


def who(token: bytes, said: bytes, me: int) -> tuple[int, bytes] | None:
    """The rank that said it and its random number; None for a stranger."""
    version, rank, peer, nonce, proof = _HELLO.unpack(said)
    known = hmac.compare_digest(proof, _proof(token, b"hello", rank, peer, nonce))
    return (rank, nonce) if known and version == VERSION and peer == me else None


def welcome(token: bytes, rank: int, peer: int, nonce: bytes) -> bytes:
    """The answer of ``peer`` to the hello of ``rank``."""
    return _proof(token, b"welcome", rank, peer, nonce)


def _proof(token: bytes, word: bytes, rank: int, peer: int, nonce: bytes) -> bytes:
    return hmac.digest(token, word + struct.pack("<II", rank, peer) + nonce, "sha256")
