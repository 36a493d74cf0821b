"""How long a text is to Qt, which counts UTF-16 units."""


def units(text: str) -> int:
    """Its length as a text field counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
