"""Where two byte strings part: the evidence beside "the bytes differ"."""


def first_difference(one: bytes | memoryview, other: bytes | memoryview) -> int | None:
    """The first byte, counted from 0, at which the two differ or one of them ends; None where they are equal."""
    if one == other:
        return None
    shorter = min(len(one), len(other))
    low, high = 0, shorter
    while low < high:  # equal up to low, and not equal up to high + 1: halving compares whole stretches at C's speed
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
