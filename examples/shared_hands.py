"""Rings of accounts that share identifiers, on real data: the Python packages that are installed here.

In fraud work accounts share telephones, cards and devices. Here packages are the accounts, and the e-mail addresses,
people and repository owners in their metadata are what they share. Who else is in the hands of those who hold this one?
People and addresses become digests at once: that two accounts share one is all that is needed.

    python examples/shared_hands.py [PACKAGE]
"""

import re
import sys
from hashlib import blake2b
from importlib import metadata

import pandas as pd

import dask_graphgpu as dg

MOST = (
    12  # accounts that share an identifier, from which it says nothing: a company's name, a forge
)
HOSTS = r"https?://(?:www\.)?(?:github|gitlab)\.com/([\w.-]+)"


def holdings():
    """A row for each package and each identifier in its metadata."""
    rows = []
    for package in metadata.distributions():
        said = package.metadata
        name = re.sub(r"[-_.]+", "-", said["Name"]).lower()
        text = " ".join(said.get_all("Project-URL", []) + said.get_all("Home-page", []))
        found = {f"owner {owner.lower()}" for owner in re.findall(HOSTS, text)}
        for field in ("Author", "Maintainer"):
            for mail in re.findall(r"[\w.+-]+@[\w.-]+", said.get(f"{field}-email", "")):
                found.add(f"mail {digest(mail)}")
            people = (
                f"{said.get(field, '')}, {re.sub('<[^>]*>', '', said.get(f'{field}-email', ''))}"
            )
            for person in re.split(r",|;| and ", people):
                if " " in person.strip() and "@" not in person:
                    found.add(f"person {digest(person)}")
        rows += [(f"package {name}", identifier) for identifier in sorted(found)]
    return pd.DataFrame(rows, columns=["account", "identifier"]).drop_duplicates()


def digest(text):
    """Eight digits that stand for a name or an address."""
    return blake2b(text.strip(' "').lower().encode(), digest_size=4).hexdigest()


def graph_of(rows):
    return dg.graph(rows, source="account", destination="identifier", directed=False)


def telling(rows):
    """Without what so many share that it tells nothing."""
    degree = graph_of(rows).degree()
    common = degree[degree["vertex"].isin(rows["identifier"]) & (degree["degree"] > MOST)]
    print("Too common to tell:", ", ".join(common["vertex"]) or "nothing")
    return rows[~rows["identifier"].isin(common["vertex"])]


def rings(graph):
    """A row for each ring of several accounts, by its smallest id: how many, and who."""
    found = graph.weakly_connected_components()
    accounts = found[found["vertex"].str.startswith("package ")].copy()
    accounts["vertex"] = accounts["vertex"].str.removeprefix("package ")
    grouped = accounts.groupby("component")["vertex"]
    table = pd.DataFrame({"accounts": grouped.size(), "members": grouped.agg(", ".join)})
    return table[table["accounts"] > 1].sort_values(
        ["accounts", "members"], ascending=[False, True]
    )


def go_betweens(graph, ring):
    """Identifiers that join the parts of a ring: without them it falls apart."""
    found = graph.betweenness_centrality().merge(graph.weakly_connected_components(), on="vertex")
    among = found[~found["vertex"].str.startswith("package ") & (found["component"] == ring)]
    return among.nlargest(3, "betweenness")[["vertex", "betweenness"]]


def suspicion(graph, flagged):
    """How near accounts are to one that is flagged: a surfer who starts there, again and again."""
    start = pd.DataFrame({"vertex": [flagged], "value": [1.0]})
    ranks = graph.pagerank(personalization=start)
    others = ranks[ranks["vertex"].str.startswith("package ") & (ranks["vertex"] != flagged)]
    return others[others["rank"] > 1e-6].nlargest(8, "rank")


def main(package="dask"):
    rows = telling(holdings())
    graph = graph_of(rows).persist()
    print(
        f"{rows['account'].nunique()} accounts share {rows['identifier'].nunique()} identifiers\n"
    )

    found = rings(graph)
    print("Largest rings")
    print(found.head(4).to_string(index=False, max_colwidth=90))

    print("\nWhat holds the largest together")
    print(go_betweens(graph, found.index[0]).to_string(index=False))

    print(f"\nNearest to {package}, should that be flagged")
    print(suspicion(graph, f"package {package}").to_string(index=False))


if __name__ == "__main__":
    main(*sys.argv[1:])
