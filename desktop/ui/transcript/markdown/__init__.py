"""Markdown as pieces, block by block, while it streams (TRANSCRIPT §2, §6.5).

`grammar` is the door to markdown-it; only the root imports this package, after the first paint.
"""
