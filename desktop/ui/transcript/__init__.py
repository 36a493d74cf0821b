"""The transcript: a model over a scope of the feed, and a view that lays out what is on the screen.

`markdown` and `highlight` load slow libraries: nothing here imports them, the root hands them in
after the first paint.
"""
