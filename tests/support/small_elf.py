# SPDX-License-Identifier: Apache-2.0
"""A small ELF file (A64) of given code and names, for tests that need names that no compiler makes."""
import struct


def _section(name, kind, flags, addr, offset, size, link=0, info=0, align=1, entry=0):
    return struct.pack("<IIQQQQIIQQ", name, kind, flags, addr, offset, size, link, info, align, entry)


def _note(build_id):
    """Returns the note of a build ID, whose length is a multiple of four."""
    return struct.pack("<III", 4, len(build_id), 3) + b"GNU\0" + build_id


def make(code, base, functions, objects=(), build_id=None, debug=()):
    """Returns the bytes of a file that has `code` at `base`. `functions` and `objects`, which are data, are
    (name in bytes, address, size); `debug` are the sections of debug information: (name in bytes, bytes)."""
    strings, symbols = bytearray(1), bytearray(24)
    for kind, all_of_kind in ((0x12, functions), (0x11, objects)):
        for name, addr, size in all_of_kind:
            symbols += struct.pack("<IBBHQQ", len(strings), kind, 0, 1, addr, size)
            strings += name + b"\0"
    names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    note = _note(build_id) if build_id else b""
    start = 64 + (112 if build_id else 56) + len(note)
    debug_names = [len(names) + sum(len(n) + 1 for n, _ in debug[:i]) for i in range(len(debug))]
    names += b"".join(name + b"\0" for name, _ in debug)
    parts, at = [code, symbols, strings, names, *(data for _, data in debug)], []
    for part in parts:
        at.append(start + sum(len(p) for p in parts[:len(at)]))
    head = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 183, 1, base, 64,
                                                     start + sum(map(len, parts)),
                                                       0, 64, 56, 2 if build_id else 1, 64, 5 + len(debug), 4)
    segment = struct.pack("<IIQQQQQQ", 1, 5, start, base, base, len(code), len(code), 8)
    if note:
        segment += struct.pack("<IIQQQQQQ", 4, 4, start - len(note), 0, 0, len(note), len(note), 4) + note
    sections = [bytes(64),
                _section(1, 1, 6, base, at[0], len(code), align=4),
                _section(7, 2, 0, 0, at[1], len(symbols), link=3, info=1, align=8, entry=24),
                _section(15, 3, 0, 0, at[2], len(strings)),
                _section(23, 3, 0, 0, at[3], len(names)),
                *(_section(name, 1, 0, 0, at[4 + i], len(debug[i][1])) for i, name in enumerate(debug_names))]
    return head + segment + b"".join(parts) + b"".join(sections)
