"""Tables that jobs name by a path: what lies there, in which format, which of its rows are kept, and reading it."""
