"""How a frozen program runs the script of a plugin: by starting itself."""

SCRIPT = "--plugin-script"
"""`nacre --plugin-script FILE WORD…`, as the first of its words: runs the script of a plugin alone.
A frozen program starts itself so, for it has no Python to hand out."""
