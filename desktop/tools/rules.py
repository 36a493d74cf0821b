"""Kept "always" rules in words, for the person who reads or takes them back."""

from desktop.tools import commands
from desktop.tools.mcp.names import PREFIX

INSIDE = "inside"


def words(rule_tool: str, match: str) -> str:
    """What a rule allows, as a person would say it: "Run commands that start with `git status`"."""
    if rule_tool == "shell":
        return commands.explain(match)
    if match == INSIDE and rule_tool == "edit_file":
        return "Edit files in this folder"
    if match == INSIDE and rule_tool == "write_file":
        return "Write files in this folder"
    if rule_tool.startswith(PREFIX):
        return f"Use {match}, with any arguments"
    return f"Use {rule_tool} for {match}"
