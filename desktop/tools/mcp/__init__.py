"""Tool servers (the Model Context Protocol): what they offer becomes tools like any other.

`link` is the one door to the package `mcp`; it is loaded on a thread when a server is first needed.
"""
