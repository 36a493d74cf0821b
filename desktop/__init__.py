"""Nacre: a conversation with an agent, laid down layer on layer."""
