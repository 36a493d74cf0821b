"""The composition root without a window: puts the layers together for the command line.

The window's root builds on `runtime` too; nothing here knows of Qt.
"""
