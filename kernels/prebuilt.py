"""Machine code of the package's own kernels that came with it, made by ``python -m dask_graphgpu.prebuild``.

An archive for each architecture, whose entries are named by a digest of all that the code was made of: the whole text
of a kernel source with its macros, and the text of each Python function that it calls. So what is found is the kernel
that is asked for, whichever release of the compiler made it.
"""

from __future__ import annotations

import hashlib
import lzma
import re
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "prebuilt"
_ARCHITECTURE = re.compile(r"sm_(\d+)(\d)")


def name_of(texts: Sequence[str]) -> str:
    """Name of the entry for code that was made of these."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:24]


def code(arch: str, texts: Sequence[str]) -> bytes | None:
    """Machine code for an architecture, as ``sm_90``, made of these texts; None where there is none."""
    path = _archive(FOLDER, arch)
    if path is None:
        return None
    try:
        with zipfile.ZipFile(
            path
        ) as archive:  # opened anew: the place in an open file is shared with forked processes
            return archive.read(name_of(texts))
    except KeyError:
        return None
    except (OSError, EOFError, zipfile.BadZipFile, lzma.LZMAError) as error:
        warnings.warn(
            f"kernels are compiled, as {path} is damaged ({error}): install dask-graphgpu again.",
            RuntimeWarning,
            stacklevel=3,
        )
        return None


@cache
def _archive(folder: Path, arch: str) -> Path | None:
    """The one for an architecture, or for the last before it of the same generation: sm_86 runs code of sm_80."""
    wanted, found = _ARCHITECTURE.fullmatch(arch), {}
    for path in folder.glob("sm_*.zip"):
        match = _ARCHITECTURE.fullmatch(path.stem)
        if match and wanted and match[1] == wanted[1] and match[2] <= wanted[2]:
            found[match[2]] = path
    return found[max(found)] if found else None


def write(folder: Path, arch: str, codes: Mapping[str, bytes]) -> Path:
    """Put machine code into the archive of an architecture, beside what it has of other texts; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{arch}.zip"
    kept: dict[str, bytes] = {}
    if path.exists():
        with zipfile.ZipFile(path) as archive:
            kept = {name: archive.read(name) for name in archive.namelist()}
    made = path.with_suffix(".part")
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in sorted((kept | dict(codes)).items()):
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_LZMA)
    made.replace(path)
    return path
