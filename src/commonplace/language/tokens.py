"""How much of a model's attention a text takes."""


def tokens(text: str) -> int:
    """About how many tokens a model makes of it: a wide character is one, four others are one."""
    wide = sum(1 for char in text if ord(char) > 0x2E7F)
    return wide + (len(text) - wide + 3) // 4
