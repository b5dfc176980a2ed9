"""Folders of object stores, reached by fsspec: what is in one, and requests whose errors are in plain words.

A folder is what the names of its objects begin with; it need not be made.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from inspect import signature
from pathlib import Path
from typing import IO, Any, Self

import fsspec
from fsspec.core import split_protocol

from dask_graphgpu.arguments import said
from dask_graphgpu.errors import GraphError, InvalidArgument, guess
from dask_graphgpu.io.objects.storage_options import StorageOptions, redacted

# Stores that create an object only if there is none, and copy one within the store as one step: the package that
# reaches each, and the extra of ours that brings it.
STORES = {
    **dict.fromkeys(("s3", "s3a"), ("s3fs", "s3")),
    **dict.fromkeys(("gs", "gcs"), ("gcsfs", "gcs")),
    **dict.fromkeys(("abfs", "abfss", "az"), ("adlfs", "azure")),
    "memory": ("fsspec", ""),
}
_LOCAL = (None, "file", "local")


def is_object(path: Any) -> bool:
    """Whether a path is a URL of anything but a local file system."""
    return isinstance(path, str) and split_protocol(path)[0] not in _LOCAL


def matching(url: str, options: StorageOptions) -> tuple[Any, list[str]]:
    """The file system of a URL, and the objects or folders that it names, of a pattern all; sorted, perhaps none.

    Raises
    ------
    OSError
    """
    try:
        fs, path = fsspec.core.url_to_fs(url, **options)
        fs.invalidate_cache()  # what it has listed before
        return fs, sorted(fs.glob(path)) if "*" in path else [path] * fs.exists(path)
    except Exception as error:
        raise plain(error, url, options) from error


@dataclass(frozen=True)
class ObjectFolder:
    """A folder of an object store; as text, its URL without credentials.

    Attributes
    ----------
    url : str
        Without a slash at its end.
    options : StorageOptions
    began : int or None
        The number of the commit that a writer has found there; see `commits`. None: it has not looked.

    Raises
    ------
    OSError
        By all methods that ask the store; ``strerror`` says in plain words what is wrong, without credentials.
    """

    url: str
    options: StorageOptions = field(default_factory=StorageOptions)
    began: int | None = None

    @classmethod
    def of(cls, url: str, name: str, options: Any = None) -> Self:
        """The folder at a user's URL; ``name`` says of what, for errors.

        Raises
        ------
        InvalidArgument
            Nothing can be written to such a URL, or the options are none.
        """
        protocol, path = split_protocol(url)
        if protocol not in STORES:
            raise InvalidArgument(
                f"{name} {redacted(url)} is a URL of {protocol!r}; allowed are {', '.join(STORES)} and file, or a path"
            )
        path = path.strip("/") if protocol == "memory" else path.rstrip("/")
        if not path or ("/" not in path and protocol != "memory"):
            raise InvalidArgument(
                f"{name} {redacted(url)} names no folder: add one, as in {protocol}://bucket/{name}"
            )
        if "*" in path or not all(path.strip("/").split("/")):
            raise InvalidArgument(
                f"{name}={said(redacted(url))}; allowed is a URL without * and //"
            )
        return cls(f"{protocol}://{path}", StorageOptions(options))

    def __str__(self) -> str:
        return redacted(self.url)

    def __repr__(self) -> str:
        return f"ObjectFolder({str(self)!r})"

    def __truediv__(self, name: str) -> ObjectFolder:
        return replace(self, url=f"{self.url}/{name}", began=None)

    def beside(self, name: str) -> ObjectFolder:
        """Another folder in the same one."""
        return replace(self, url=f"{self.url.rpartition('/')[0]}/{name}", began=None)

    @property
    def name(self) -> str:
        """The last part of its URL."""
        return self.url.rpartition("/")[2]

    @property
    def key(self) -> tuple[str, str]:
        """What is the same for all ways to write its URL: the package that reaches it, and the rest."""
        protocol, path = split_protocol(self.url)
        return STORES[protocol][0], path

    def meets(self, other: ObjectFolder) -> bool:
        """Whether one is the other or lies within it."""
        return self.holds(other) or other.holds(self)

    def holds(self, other: ObjectFolder) -> bool:
        """Whether the other is this one or lies within it."""
        (package, path), (others, inner) = self.key, other.key
        return package == others and f"{inner}/".startswith(f"{path}/")

    # -- requests --------------------------------------------------------------------------------------

    def sizes(self) -> dict[str, int | None]:
        """What is in it, by names, without what lies deeper: bytes of objects, None for folders; empty: nothing."""
        with self._asked() as (fs, path):
            fs.invalidate_cache()
            try:
                found = fs.ls(path, detail=True)
            except FileNotFoundError as error:
                if error.__cause__ is None and "/" in path.strip("/"):
                    return {}
                raise  # the store's own answer: there is no such bucket
        inside = {each["name"].strip("/").rpartition("/"): each for each in found}
        return {
            name: each["size"] if each["type"] == "file" else None
            for (above, _, name), each in inside.items()
            if above == path.strip("/") and name  # but what marks the folder itself
        }

    def all_sizes(self) -> list[int]:
        """Bytes of each object in it, however deep."""
        with self._asked() as (fs, path):
            fs.invalidate_cache()
            return [int(each["size"]) for each in fs.find(path, detail=True).values()]

    def read(self) -> bytes:
        """The bytes of an object. Raises FileNotFoundError: there is none."""
        with self._asked() as (fs, path):
            found: bytes = fs.cat_file(path)
        return found

    def write(self, content: Any) -> None:
        """Write an object, in place of the one that is there."""
        with self._asked() as (fs, path):
            fs.pipe_file(path, content)

    def create(self, content: bytes) -> None:
        """Write an object if there is none. Raises FileExistsError: there is one."""
        with self._asked() as (fs, path):
            fs.pipe_file(path, content, mode="create")

    def size(self) -> int:
        """Bytes of an object. Raises FileNotFoundError: there is none."""
        with self._asked() as (fs, path):
            fs.invalidate_cache()
            info = fs.info(path)
        if info["type"] != "file":
            raise FileNotFoundError(errno.ENOENT, f"there is no object {self}")
        return int(info["size"])

    def copy(self, to: ObjectFolder) -> None:
        """Copy an object within the store, in place of the one that is there."""
        with self._asked() as (fs, path):
            fs.cp_file(path, to._path)

    def remove(self, names: Sequence[str]) -> None:
        """Remove objects of this folder; what is gone already is gone."""
        with self._asked() as (fs, path):
            for name in names:
                try:
                    fs.rm_file(f"{path}/{name}")
                except FileNotFoundError:
                    continue

    def remove_all(self) -> None:
        """Remove all objects in it."""
        with self._asked() as (fs, path):
            fs.invalidate_cache()
            for each in fs.find(path):
                try:
                    fs.rm_file(each)
                except FileNotFoundError:
                    continue

    def upload(self, files: Sequence[Path]) -> None:
        """Write local files as objects of this folder, side by side."""
        with self._asked() as (fs, path):
            fs.put([str(file) for file in files], [f"{path}/{file.name}" for file in files])

    def download(self, names: Sequence[str], folder: Path) -> None:
        """Read objects of this folder to files of a local one, side by side."""
        with self._asked() as (fs, path):
            fs.get([f"{path}/{name}" for name in names], [str(folder / name) for name in names])

    @contextmanager
    def opened(self, mode: str) -> Iterator[IO[bytes]]:
        """An object to read or to write; what is written is there once it is closed."""
        with self._asked() as (fs, path), fs.open(path, mode) as file:
            yield file

    @property
    def _path(self) -> str:
        return f"/{self.key[1]}" if self.key[0] == "fsspec" else self.key[1]

    @contextmanager
    def _asked(self) -> Iterator[tuple[Any, str]]:
        """The file system, and this folder's name there."""
        try:
            fs, path = fsspec.core.url_to_fs(self.url, **self.options)
            yield fs, path
        except (GraphError, KeyboardInterrupt):
            raise
        except Exception as error:
            raise plain(error, self.url, self.options) from error


def _meant(text: str, url: str, options: StorageOptions) -> str:
    """What may have been meant by the option that an error names."""
    given = [name for name in options if f"'{name}'" in text]
    known = signature(fsspec.get_filesystem_class(split_protocol(url)[0]).__init__).parameters
    return guess(given[0], known) if given else ""


def plain(error: Exception, url: str, options: StorageOptions) -> OSError:
    """What a store or the package that reaches it says, in plain words and without credentials."""
    shown, kinds = redacted(url), {kind.__name__ for kind in type(error).__mro__}
    login = url.partition("://")[2].partition("/")[0].rpartition("@")[0]
    text = str(error).replace(login, "***") if ":" in login else str(error)
    text = " ".join(options.without_secrets(text).split())[:300]
    package, extra = STORES.get(split_protocol(url)[0], ("a package of fsspec", ""))
    if isinstance(error, ImportError):
        how = f"pip install 'dask-graphgpu[{extra}]'" if extra else text
        return OSError(errno.ENOPKG, f"{package} is not installed: {how}")
    if isinstance(error, FileNotFoundError):
        return FileNotFoundError(errno.ENOENT, f"there is no object or folder {shown}")
    if isinstance(error, FileExistsError):
        return FileExistsError(errno.EEXIST, f"there is an object {shown}")
    if isinstance(error, PermissionError):
        return PermissionError(errno.EACCES, f"access to {shown} is denied ({text})")
    if kinds & {"NoCredentialsError", "PartialCredentialsError", "TokenRetrievalError"}:
        how = "give storage options, or set the environment's"
        return PermissionError(errno.EACCES, f"there are no credentials for {shown}: {how}")
    if kinds & {"HTTPClientError", "ClientConnectorError", "ConnectionError", "TimeoutError"}:
        return OSError(errno.EHOSTUNREACH, f"the store of {shown} does not answer ({text})")
    if isinstance(error, TypeError) and "argument" in text:
        return OSError(
            errno.EINVAL,
            f"{package} does not take these storage options ({text}).{_meant(text, url, options)}",
        )
    code = getattr(error, "errno", None) or errno.EIO
    return OSError(code, f"the store of {shown} has failed ({type(error).__name__}: {text})")
