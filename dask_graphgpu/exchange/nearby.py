"""Where a process runs, told so that others of the same place tell the same."""

from __future__ import annotations

import functools
import os
import secrets
import socket
from pathlib import Path
from typing import NamedTuple

_BOOT = Path("/proc/sys/kernel/random/boot_id")  # the same in all containers of a machine
_TOKEN = secrets.token_hex(8)  # processes of several containers may have one number


class Nearby(NamedTuple):
    """How many of some ranks, one of them among these, are in the same place.

    Attributes
    ----------
    machine
        They share its memory, also from several containers.
    host
        They share the processors of a machine, or of one container there.
    process
    """

    machine: int
    host: int
    process: int


def places() -> tuple[str, str, str]:
    """The machine, the host and the process, by names that no other one has."""
    machine, host = _machine(), socket.gethostname()
    return machine, f"{machine} {host}", f"{_TOKEN} {os.getpid()}"


@functools.cache
def _machine() -> str:
    try:
        return _BOOT.read_text().strip()
    except OSError:  # not Linux
        return socket.gethostname()
