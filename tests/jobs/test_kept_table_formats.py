"""Jobs that keep a saved graph of a Delta or an Iceberg table: built anew of any new version, and of nothing else."""

import json

import deltalake
import kept_tables
import pandas as pd
import pyarrow as pa
import pytest
from commands import call, result

WORDS = ("weakly-connected-components", "--undirected")


class Delta:
    """A table with what is done to it."""

    form = "delta"

    def __init__(self, folder):
        self.path = kept_tables.delta(kept_tables.edges(), folder)

    def rows(self):
        return pa.table(deltalake.DeltaTable(self.path).scan()).num_rows

    def append(self, rows):
        deltalake.write_deltalake(self.path, rows, mode="append")

    def delete(self):
        deltalake.DeltaTable(self.path).delete("src < 20")

    def replace(self, rows):
        deltalake.write_deltalake(self.path, rows, mode="overwrite")


class Iceberg:
    """The same of an Iceberg table."""

    form = "iceberg"

    def __init__(self, folder):
        self._table, self.path = kept_tables.iceberg(kept_tables.edges(), f"{folder}/warehouse")

    def rows(self):
        return self._table.scan().to_arrow().num_rows

    def append(self, rows):
        self._table.append(rows)

    def delete(self):
        self._table.delete("src < 20")

    def replace(self, rows):
        self._table.overwrite(rows)


@pytest.mark.parametrize("kind", [Delta, Iceberg])
def test_each_version_of_a_table_is_built_in_full(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = kind(str(tmp_path))
    later = kept_tables.edges(seed=1, number=30)
    changes = [
        lambda: None,
        lambda: table.append(later),
        table.delete,
        lambda: table.replace(later),
    ]
    for number, change in enumerate(changes):
        change()
        graph, done = run(table.path)
        assert graph["how"] == "built"
        new = f"the {kind.form} table has changed, whose new files may stand for old ones"
        assert graph["why"] == (new if number else "there is none yet")
        assert "in_full" in done

        same, done = run(table.path)
        assert (same["how"], same["files"]) == ("unchanged", 0)
        assert done["since"] == 0
        pd.testing.assert_frame_equal(result(), in_full(table.path))
        assert graph["edges"] == same["edges"] == table.rows()


def run(path):
    """A job that keeps a graph; the events of the graph, and of its end."""
    said = call(*WORDS[:1], path, WORDS[1], "--saved", "graph", "--output", "out", "--log", "json")
    events = [json.loads(line) for line in said.stderr.splitlines()]
    (graph,) = (event for event in events if event["event"] == "graph")
    (done,) = (event for event in events if event["event"] == "done")
    return graph, done


def in_full(path):
    call(*WORDS[:1], path, WORDS[1], "--output", "full")
    return result("full")
