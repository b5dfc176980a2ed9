"""What compiling takes is no part of a superstep's seconds."""

import time

import pandas as pd
import pytest

import dask_graphgpu as dg
from dask_graphgpu.report import Report

EDGES = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 0]})


def advanced(report, seconds):
    report.advance("push", supersteps=1, frontier=1, edges=1, bytes=1, seconds=seconds)
    return report.advances[-1].seconds


def test_seconds_of_compiling_are_taken_off(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("dask_graphgpu.report.seconds_compiling", lambda: clock[0])
    report = Report("bfs", _clock=100.0)
    assert advanced(report, 1.0) == 1.0
    clock[0] += 3.0
    assert advanced(report, 5.0) == 2.0
    clock[0] += 4.0  # noted in the wrong order: the next ones have the rest taken off
    assert [advanced(report, 1.5), advanced(report, 2.0), advanced(report, 2.0)] == [0.0, 0.0, 1.5]
    assert report.to_frame().attrs["compile_seconds"] == pytest.approx(7.0)


def test_a_new_program_is_compiled_before_its_first_superstep():
    step = time.time_ns() % 1_000_003  # which no earlier run has compiled
    program = dg.VertexProgram(
        state={"h": dg.Field("int64", initial=0)},
        compute=eval(f"lambda source_h: source_h + {step}"),
        combine="max",
        stop=lambda superstep: superstep >= 3,
    )
    EDGES.graph().run(program)
    report = dg.last_report()
    assert len(report) == 3
    assert report.attrs["compile_seconds"] > 0.02
    assert report["seconds"].iloc[0] < report.attrs["compile_seconds"]
    EDGES.graph().run(program)
    assert dg.last_report().attrs["compile_seconds"] == 0
