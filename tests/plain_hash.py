"""The hash of document IDs in plain Python, as docs/reference/file-formats.md shows it."""

from hashlib import blake2b

MASK = (1 << 64) - 1


def hash_of(name: bytes) -> int:
    """Return the 64-bit hash of an ID."""
    if len(name) > 64:
        mixed = int.from_bytes(blake2b(name, digest_size=8).digest(), "little")
    else:
        words = [name[:8]]
        if len(name) > 8:
            words.append(name[-8:])
        words += [name[at : at + 8] for at in range(8, len(name) - 8, 8)]
        mixed = len(name)
        for word in words:
            mixed = (mixed ^ int.from_bytes(word, "little")) * 0x9E3779B97F4A7C15 & MASK
            mixed ^= mixed >> 29
    mixed = (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93 & MASK
    return mixed ^ mixed >> 32


def fingerprint_of(documents: list[bytes]) -> int:
    """Return the fingerprint of documents: the sum of their hashes modulo 2^64."""
    return sum(map(hash_of, documents)) & MASK
