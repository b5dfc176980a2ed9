"""Object stores: requests in plain words, commits that replace a folder as one step, credentials that are not shown."""
