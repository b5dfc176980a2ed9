"""Machine code that comes with the package: which is found, for which GPUs, and what is said of a damaged file."""

import subprocess
import sys

import pytest

pytest.importorskip("numba_cuda", reason="the compilers of the GPU engine are not installed")

from dask_graphgpu.kernels import cuda_build, prebuilt
from dask_graphgpu.prebuild import compiling
from dask_graphgpu.prebuild.usual import usual

ASKED = list(usual())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(prebuilt, "FOLDER", tmp_path)
    return tmp_path


def texts(asked):
    return cuda_build.texts(
        cuda_build.joined(asked.source, asked.defines, asked.text), asked.functions
    )


def loaded(asked):
    return cuda_build.loaded(
        asked.source, "sm_86", defines=asked.defines, text=asked.text, functions=asked.functions
    )


def test_an_archive_serves_its_generation_from_its_own_gpu_on(folder):
    prebuilt.write(folder, "sm_80", {prebuilt.name_of(["a"]): b"eighty"})
    prebuilt.write(folder, "sm_89", {prebuilt.name_of(["a"]): b"eighty-nine"})
    prebuilt.write(folder, "sm_120", {prebuilt.name_of(["a"]): b"a hundred and twenty"})
    found = {arch: prebuilt.code(arch, ["a"]) for arch in ("sm_75", "sm_80", "sm_86", "sm_89")}
    assert found == {
        "sm_75": None,
        "sm_80": b"eighty",
        "sm_86": b"eighty",
        "sm_89": b"eighty-nine",
    }
    assert prebuilt.code("sm_120", ["a"]) == b"a hundred and twenty"
    assert prebuilt.code("sm_121", ["a"]) == b"a hundred and twenty"
    assert prebuilt.code("sm_90", ["a"]) is None
    assert prebuilt.code("sm_80", ["a", ""]) is None


def test_what_another_python_has_made_stays(folder):
    prebuilt.write(folder, "sm_90", {"one": b"1", "two": b"2"})
    prebuilt.write(folder, "sm_90", {"two": b"22"})
    prebuilt.write(folder, "sm_90", {prebuilt.name_of(["a"]): b"3"})
    assert prebuilt.code("sm_90", ["a"]) == b"3"
    kept = {"one": b"1", "two": b"22", prebuilt.name_of(["a"]): b"3"}
    path = prebuilt.write(folder, "sm_90", {})
    with prebuilt.zipfile.ZipFile(path) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == kept


def test_a_damaged_archive_is_told_of_and_not_used(folder):
    path = prebuilt.write(folder, "sm_90", {prebuilt.name_of(["a"]): bytes(1000)})
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.warns(RuntimeWarning, match=r"sm_90\.zip is damaged.*install dask-graphgpu again"):
        assert prebuilt.code("sm_90", ["a"]) is None


def test_texts_tell_kernels_and_functions_apart():
    assert len({prebuilt.name_of(texts(asked)) for asked in ASKED}) == len(ASKED)


@pytest.mark.parametrize("architecture", ["sm_80"], indirect=True)
@pytest.mark.parametrize("source", ["hop_sums", "near_far"])
def test_what_is_made_is_what_a_run_loads(folder, monkeypatch, architecture, source):
    (asked, *_) = (asked for asked in ASKED if asked.source == source)
    made = compiling.compiled(architecture, len(ASKED), (), ASKED.index(asked))
    assert [code[:4] for code in made.values()] == [b"\x7fELF"]
    prebuilt.write(folder, architecture, made)

    def compiled(*_, **__):
        raise AssertionError("compiled anew")

    monkeypatch.setattr(cuda_build, "cubin", compiled)
    monkeypatch.setattr(cuda_build, "_modules", {})
    loaded(asked)
    other = next(asked for asked in ASKED if asked.source == "bfs")
    with pytest.raises(AssertionError, match="compiled anew"):
        loaded(other)


@pytest.mark.slow
def test_the_command(tmp_path):
    words = ["--arch", "sm_90", "--source", "hop_sums", "--folder", str(tmp_path)]
    subprocess.run([sys.executable, "-m", "dask_graphgpu.prebuild", *words], check=True)
    with prebuilt.zipfile.ZipFile(tmp_path / "sm_90.zip") as archive:
        assert sorted(archive.namelist()) == sorted(
            prebuilt.name_of(texts(asked)) for asked in ASKED if asked.source == "hop_sums"
        )
