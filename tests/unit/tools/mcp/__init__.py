"""Tool servers."""
