"""The runtime's calls, by CuPy's names; those that wait do what is queued."""

import ctypes

from cupy import _device, _memory
from cupy._device import CUDARuntimeError, local

memcpyHostToHost, memcpyHostToDevice, memcpyDeviceToHost, memcpyDeviceToDevice, memcpyDefault = (
    range(5)
)
hostAllocPortable, hostAllocMapped, hostAllocWriteCombined = 1, 2, 4


def getDevice():
    return local.device


def setDevice(device):
    _device.Device(device).use()


def getDeviceCount():
    return _device.GPUS


def deviceSynchronize():
    _device.Device().synchronize()


def deviceGetPCIBusId(device):
    return _device.Device(device).pci_bus_id


def memGetInfo():
    return _memory.mem_info(local.device)


def _copy(dst, src, size):
    def step():
        def run():
            ctypes.memmove(int(dst), int(src), int(size))

        return run

    return step


def memcpyAsync(dst, src, size, kind, stream):
    _device.of_pointer(stream).enqueue(_copy(dst, src, size))


def memcpy(dst, src, size, kind):
    _device.null_of(local.device).synchronize()
    ctypes.memmove(int(dst), int(src), int(size))


def memsetAsync(ptr, value, size, stream):
    _device.of_pointer(stream).enqueue(lambda: lambda: ctypes.memset(ptr, value, size) and None)


def eventQuery(pointer):
    """As asked, but for a moment's wait: who asks again and again would keep others from their work."""
    seen, event = _device.news(), _device.event_of(pointer)
    if event.done:
        return 0
    _device.await_news(seen, 0.001)
    return 0 if event.done else 600


def eventSynchronize(pointer):
    _device.event_of(pointer).synchronize()


def streamSynchronize(pointer):
    _device.of_pointer(pointer).synchronize()


def streamQuery(pointer):
    return 0 if _device.of_pointer(pointer).done else 600


def check_status(status):
    if status:
        raise CUDARuntimeError(status)


def runtimeGetVersion():
    return 13000


def driverGetVersion():
    return 13000


def getDeviceProperties(device):
    return {
        "name": b"emulator",
        "multiProcessorCount": _device.SMS,
        "totalGlobalMem": _device.MEMORY,
        "major": 9,
        "minor": 0,
    }


def deviceCanAccessPeer(a, b):
    return 1


def hostRegister(ptr, size, flags):
    pass


def hostUnregister(ptr):
    pass
