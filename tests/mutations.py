"""Damaged files out of whole ones: what disks, networks, editors and bad people do to bytes."""

import struct

NUMBERS = (0, 1, -1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1,
           2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 1)  # fmt: skip
"""Where lengths, counts and addresses overflow."""
TOKENS = (
    b"NaN", b"inf", b"-inf", b"1e308", b"-1e999", b"9" * 400, b"0x41", b"1e-320", b"2147483648",
    b"9223372036854775807", b"18446744073709551616", b"-1", b"0", b'"', b"'", b'""', b"\x00",
    b"\r", b"\n\n", b"\r\n", b",", b",,,,", b";", b"\t", b"\\", b"{", b"[" * 2000, b"}",
    b"\xff\xfe",
    b"\xef\xbb\xbf", b"\xe9", b"None", b"null", b"true", b"1;2", b"1,5", b"99/99/9999", b"24:61:61",
    b"2020-01-01T00:00:00Z", b"0000-00-00", b"=1+1", b"../../x", b"%s%n", b"<b>", b"a" * 70_000,
)  # fmt: skip
"""What nobody expects in a cell."""


def _where(rng, content, head=0.5):
    """A place in a file, half of the time near its beginning, where headers are."""
    size = max(len(content), 1)
    return int(rng.integers(min(size, 600) if rng.random() < head else size))


def flipped(rng, content):
    """Some bits the other way round."""
    found = bytearray(content)
    for _ in range(int(rng.choice([1, 1, 2, 8, 64]))):
        found[_where(rng, content)] ^= 1 << int(rng.integers(8))
    return bytes(found)


def overwritten(rng, content):
    """Some bytes replaced by others."""
    found = bytearray(content)
    for _ in range(int(rng.choice([1, 2, 16]))):
        found[_where(rng, content)] = int(rng.integers(256))
    return bytes(found)


def shortened(rng, content):
    """A few bytes gone."""
    start = _where(rng, content)
    return content[:start] + content[start + int(rng.choice([1, 2, 7, 64, 512])) :]


def lengthened(rng, content):
    """A few bytes more."""
    start = _where(rng, content)
    return content[:start] + rng.bytes(int(rng.choice([1, 2, 7, 64, 512]))) + content[start:]


def truncated(rng, content):
    """The end is missing."""
    return content[: _where(rng, content, head=0.2)]


def swapped(rng, content):
    """Two stretches in each other's place."""
    length = int(rng.choice([4, 16, 128, 1024]))
    one, other = sorted((_where(rng, content), _where(rng, content)))
    if other - one < length:
        return flipped(rng, content)
    first, second = content[one : one + length], content[other : other + length]
    return (
        content[:one] + second + content[one + length : other] + first + content[other + length :]
    )


def doubled(rng, content):
    """A stretch that comes again, there or elsewhere."""
    start, target = _where(rng, content), _where(rng, content)
    stretch = content[start : start + int(rng.choice([1, 16, 256, 4096]))]
    return content[:target] + stretch * int(rng.choice([1, 2, 20])) + content[target:]


def renumbered(rng, content):
    """A length, count or address that cannot be."""
    width, code = [(1, "B"), (2, "H"), (4, "I"), (8, "Q")][int(rng.integers(4))]
    value = NUMBERS[int(rng.integers(len(NUMBERS)))] % (1 << (8 * width))
    raw = struct.pack(("<" if rng.random() < 0.8 else ">") + code, value)
    start = _where(rng, content)
    start -= start % width if rng.random() < 0.7 else 0
    return content[:start] + raw + content[start + width :]


def retold(rng, content):
    """A word of a table replaced by one that nobody expects, or put in between."""
    token = TOKENS[int(rng.integers(len(TOKENS)))]
    start = _where(rng, content, head=0.3)
    while start and content[start - 1 : start] not in b",;\t\n \"'":
        start -= 1
    end = start
    while rng.random() < 0.98 and end < len(content) and content[end : end + 1] not in b",;\t\n ":
        end += 1
    return content[:start] + token + content[end if rng.random() < 0.8 else start :]


def reordered(rng, content):
    """Two lines in each other's place, or one of them twice."""
    lines = content.split(b"\n")
    one, other = (int(i) for i in rng.integers(len(lines), size=2))
    if rng.random() < 0.5:
        lines[one], lines[other] = lines[other], lines[one]
    else:
        lines.insert(one, lines[other])
    return b"\n".join(lines)


EVERY = (flipped, overwritten, shortened, lengthened, truncated, swapped, doubled, renumbered)
TEXT = (retold, retold, retold, reordered)


def mutated(rng, content):
    """A file with one to three things wrong with it."""
    ways = EVERY + (TEXT if b"\x00" not in content[:512] else ())
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        if content:
            content = ways[int(rng.integers(len(ways)))](rng, content)
    return content
