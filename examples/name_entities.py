"""Entity resolution on real data: the names of text encodings in Python's standard library.

Four modules keep tables of names, each in a spelling of its own: "latin_1", "ISO-8859-1", "iso88591", "l1". A matcher
pairs names, and components of the pairs are the encodings. Python itself knows the truth: `codecs.lookup`.

    python examples/name_entities.py
"""

import codecs
import email.charset
import encodings.aliases
import locale
import re

import pandas as pd

import dask_graphgpu as dg


def tables():
    """The pairs of names that each module's table says are one encoding; names begin with their module."""
    found = {
        "encodings": encodings.aliases.aliases,
        "email": email.charset.ALIASES,
        "locale": locale.locale_encoding_alias,
    }
    rows = [
        (f"{module}:{alias}", f"{module}:{name}", 1.0)
        for module, table in found.items()
        for alias, name in table.items()
    ]
    return pd.DataFrame(rows, columns=["left", "right", "score"])


def spelled_alike(records):
    """Pairs of names with the same letters and digits, and a guess: the same initial and number."""
    names = records.str.partition(":")[2].str.lower()
    plain = pd.DataFrame(
        {"record": records, "key": names.str.replace(r"[^a-z0-9]", "", regex=True)}
    )
    guess = pd.DataFrame(
        {"record": records, "key": names.str[0] + names.str.findall(r"\d+").str.join("-")}
    )
    guess = guess[guess["key"].str.fullmatch(r"[a-z]\d{3,}")]
    return pd.concat([_pairs(plain, 0.95), _pairs(guess, 0.5)])


def _pairs(keyed, score):
    """Each record beside the first one with its key: a chain is enough, components do the rest."""
    first = keyed.groupby("key")["record"].transform("min")
    pairs = pd.DataFrame({"left": keyed["record"], "right": first, "score": score})
    return pairs[pairs["left"] != pairs["right"]]


def truth(record):
    """What Python takes a name for; None: it does not know it."""
    try:
        return codecs.lookup(re.sub("^[a-z]*:", "", record)).name
    except LookupError:
        return None


def resolve(matches, records, threshold):
    """The cluster of every record, by matches of at least such a score."""
    sure = matches[matches["score"] >= threshold]
    graph = dg.graph(
        sure, source="left", destination="right", weight=None, directed=False, vertices=records
    )
    return graph.weakly_connected_components().rename(
        columns={"vertex": "record", "component": "cluster"}
    )


def judged(clusters):
    """Which share of the pairs in clusters is right, and which share of the right ones is found."""
    known = clusters.assign(truth=clusters["record"].map(truth)).dropna()
    pairs = {
        by: (known.groupby(by).size().pipe(lambda n: n * (n - 1) // 2)).sum()
        for by in ("cluster", "truth")
    }
    both = known.groupby(["cluster", "truth"]).size().pipe(lambda n: n * (n - 1) // 2).sum()
    return both / pairs["cluster"], both / pairs["truth"]


def suspects(matches, clusters):
    """Matches of the largest cluster that hold most of it together: the wrong ones are there."""
    largest = clusters["cluster"].value_counts().index[0]
    members = clusters.loc[clusters["cluster"] == largest, "record"]
    inside = matches[matches["left"].isin(members)]
    graph = dg.graph(inside, source="left", destination="right", weight=None, directed=False)
    return graph.edge_betweenness_centrality().nlargest(3, "betweenness")


def main():
    matches = tables()
    records = pd.Series(pd.unique(matches[["left", "right"]].to_numpy().ravel()))
    matches = pd.concat([matches, spelled_alike(records)])
    frame = pd.DataFrame({"vertex": records})
    print(f"{len(records)} names, {len(matches)} matches")
    for threshold in (1.0, 0.9, 0.5):
        clusters = resolve(matches, frame, threshold)
        right, found = judged(clusters)
        sizes = clusters["cluster"].value_counts()
        print(
            f"score >= {threshold}: {len(sizes)} clusters, the largest of {sizes.iloc[0]}; "
            f"{right:.0%} of pairs are right, {found:.0%} are found"
        )

    matches = matches[matches["score"] >= 0.9]
    clusters = resolve(matches, frame, 0.9)
    doubtful = suspects(matches, clusters)
    print("\nMatches that hold the largest cluster together:")
    print(doubtful.to_string(index=False))

    left, right = doubtful.iloc[0][["left", "right"]]
    wrong = matches["left"].isin([left, right]) & matches["right"].isin([left, right])
    clusters = resolve(matches[~wrong], frame, 0.9)
    print(
        "\nWithout the first: {:.0%} of pairs are right, {:.0%} are found".format(*judged(clusters))
    )
    cluster = clusters.set_index("record")["cluster"]
    print("latin_1 is", ", ".join(cluster.index[cluster == cluster["encodings:latin_1"]]))


if __name__ == "__main__":
    main()
