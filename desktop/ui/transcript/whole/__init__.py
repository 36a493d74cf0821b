"""A window for a whole output, of which only what is seen is read (SPEC U06)."""
