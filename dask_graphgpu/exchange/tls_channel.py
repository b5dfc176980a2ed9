"""The connection to a peer through TLS."""

from __future__ import annotations

import ssl
from collections.abc import Sequence

from dask_graphgpu.exchange.channel import Channel

_RECORD = 1 << 14  # most bytes that TLS sends at once


class TlsChannel(Channel):
    """A `Channel` through TLS, which has to read to write at times, and the other way round.

    It takes records off the socket that are longer than what it is asked for. No poll sees the
    rest, so reads go on until nothing comes.
    """

    _socket: ssl.SSLSocket
    _read_waits_for_write = False

    @property
    def blocked(self) -> bool:
        return super().blocked or self._read_waits_for_write

    def _write(self, parts: Sequence[memoryview]) -> int:
        part = parts[0]
        if len(parts) > 1 and len(part) < _RECORD:  # a head and what follows: one record
            # When it is not taken, OpenSSL asks for the same bytes again, and gets them: parts
            # that wait do not change.
            part = memoryview(bytes(part) + bytes(parts[1][: _RECORD - len(part)]))
        try:
            return self._socket.send(part)
        except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
            return 0  # POLLIN is always asked for
        except OSError as error:
            return self._refused(error)

    def _read(self, into: memoryview) -> int:
        self._read_waits_for_write = False
        try:
            count = self._socket.recv_into(into)
        except ssl.SSLWantReadError:
            return 0
        except ssl.SSLWantWriteError:
            self._read_waits_for_write = True
            return 0
        except OSError as error:
            return self._ended(f"reading from it failed ({error})")
        return self._came(count)

    def _is_dry(self, wanted: int, count: int) -> bool:
        return count == 0
