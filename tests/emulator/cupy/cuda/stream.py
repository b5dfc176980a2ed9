"""Streams, by CuPy's name."""

from cupy._device import Event, Stream, get_elapsed_time
from cupy._device import current as get_current_stream
