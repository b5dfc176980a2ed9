"""From ids and edges to rows of neighbours over dense ids."""
