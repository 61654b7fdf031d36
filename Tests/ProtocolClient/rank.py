"""Ranks order the elements of a list: docs/protocol.md, "Ranks"."""

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
FIRST = "a0"


def between(low, high):
    """A rank between two others, where None means the start or the end of the list. Returns None if there is none."""
    if any(rank is not None and (not rank or set(rank) - set(DIGITS)) for rank in (low, high)):
        return None
    if low is None and high is None:
        return FIRST
    if high is None:
        counter = _counter(low)
        return (counter and _step(counter, 1)) or _above(low)
    if low is None:
        counter = _counter(high)
        if counter and len(high) > len(counter):
            return counter
        return (counter and _step(counter, -1)) or _middle("", high)
    if low >= high:
        return None
    counter = _counter(low)
    if counter and _counter(high) not in (None, counter):
        following = _step(counter, 1)
        return following if following and following < high else counter + _above(low[len(counter) :])
    return _middle(low, high)


def sequence(count, low, high):
    """Ascending ranks between two others, or None if there aren't any."""
    ranks = []
    for _ in range(count):
        low = between(low, high)
        if low is None:
            return None
        ranks.append(low)
    return ranks


def _counter(rank):
    head = rank[0]
    if head >= "a":
        length = ord(head) - ord("a") + 2
    elif "A" <= head <= "Z":
        length = ord("Z") - ord(head) + 2
    else:
        return None
    return rank[:length] if len(rank) >= length else None


def _step(counter, by):
    digits = [DIGITS.index(digit) for digit in counter]
    for place in range(len(digits) - 1, 0, -1):
        digits[place] += by
        if 0 <= digits[place] < 62:
            return "".join(DIGITS[digit] for digit in digits)
        digits[place] %= 62
    heads = DIGITS[10:]
    place = heads.index(counter[0]) + by
    if not 0 <= place < len(heads):
        return None
    head = heads[place]
    length = ord(head) - ord("a") + 1 if head >= "a" else ord("Z") - ord(head) + 1
    return head + DIGITS[0 if by > 0 else 61] * length


def _above(rank):
    """A rank halfway between this one and the end."""
    for place, digit in enumerate(rank):
        value = DIGITS.index(digit)
        if value < 61:
            return rank[:place] + DIGITS[(value + 62) // 2]
    return rank + DIGITS[31]


def _middle(low, high):
    place = 0
    while place < len(high) and (low[place] if place < len(low) else "0") == high[place]:
        place += 1
    if place == len(high):
        return None
    lower = DIGITS.index(low[place]) if place < len(low) else 0
    upper = DIGITS.index(high[place])
    if upper - lower > 1:
        return high[:place] + DIGITS[(lower + upper) // 2]
    return high[:place] + DIGITS[lower] + _above(low[place + 1 :])
