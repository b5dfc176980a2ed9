"""Graphs whose edges lie in pages on disk: vertices, offsets and degrees stay in memory."""
