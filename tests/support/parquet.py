# SPDX-License-Identifier: Apache-2.0
"""Reads Parquet files of the kind that coretap writes: flat tables, plain and dictionary pages, with zstd.

It was written from the description of the format (github.com/apache/parquet-format) and shares no code with
the writer."""
import ctypes
import ctypes.util
import struct

ZSTD = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
ZSTD.ZSTD_decompress.restype = ctypes.c_size_t


class Thrift:
    """Reads the compact protocol: structs become dictionaries by field number."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    def zigzag(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self.byte()
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 8:
            size = self.varint()
            self.at += size
            return bytes(self.data[self.at - size:self.at])
        if kind == 9:
            head = self.byte()
            count = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.value(head & 15) for _ in range(count)]
        assert kind == 12, f"type {kind}"
        return self.struct()

    def struct(self):
        fields, number = {}, 0
        while True:
            head = self.byte()
            if head == 0:
                return fields
            number = number + (head >> 4) if head >> 4 else self.zigzag()
            assert number not in fields, f"field {number} twice"
            fields[number] = self.value(head & 15)


def runs(data, width, count):
    """Returns numbers of `width` bits, from runs of one number and of eight numbers each."""
    numbers, at = [], Thrift(data)
    while len(numbers) < count:
        head = at.varint()
        if head & 1:
            size = (head >> 1) * width
            bits = int.from_bytes(at.data[at.at:at.at + size], "little")
            assert len(at.data) >= at.at + size, "a run is cut"
            at.at += size
            text = format(bits, f"0{8 * size}b") if size else ""
            numbers += [int(text[len(text) - (i + 1) * width:len(text) - i * width], 2)
                        for i in range((head >> 1) * 8)]
        else:
            size = (width + 7) // 8
            numbers += [int.from_bytes(at.data[at.at:at.at + size], "little")] * (head >> 1)
            at.at += size
    return numbers[:count]


def page(data, at):
    """Returns the header of a page, its bytes, and the offset of the next one."""
    head = Thrift(data, at)
    fields = head.struct()
    size, packed = fields[2], fields[3]
    room = ctypes.create_string_buffer(max(size, 1))
    got = ZSTD.ZSTD_decompress(room, ctypes.c_size_t(size), bytes(data[head.at:head.at + packed]),
                               ctypes.c_size_t(packed))
    assert got == size, f"a page of {size} bytes has {got}"
    return fields, room.raw[:size], head.at + packed


def plain(data, kind, count):
    if kind == 2:
        return list(struct.unpack(f"<{count}Q", data))
    if kind == 5:
        return list(struct.unpack(f"<{count}d", data))
    texts, at = [], 0
    for _ in range(count):
        size = int.from_bytes(data[at:at + 4], "little")
        texts.append(data[at + 4:at + 4 + size].decode())
        at += 4 + size
    assert at == len(data), "bytes behind the last text"
    return texts


def column(data, meta, optional):
    kind, total, words = meta[1], meta[5], None
    assert meta[4] == 6, "not zstd"
    at = meta.get(11, meta[9])
    if 11 in meta:
        fields, body, at = page(data, at)
        assert fields[1] == 2 and fields[7][2] == 0, fields
        words = plain(body, kind, fields[7][1])
        assert len(set(words)) == len(words), "a text is in the dictionary twice"
    assert at == meta[9], "the page of data is elsewhere"
    fields, body, end = page(data, at)
    assert fields[1] == 0 and fields[5][1] == total, fields
    assert end - meta.get(11, meta[9]) == meta[7], "the size of the column is another"
    present = [1] * total
    if optional:
        size = int.from_bytes(body[:4], "little")
        present = runs(body[4:4 + size], 1, total)
        body = body[4 + size:]
    count = sum(present)
    if words is None:
        values = plain(body, kind, count)
    else:
        assert fields[5][2] == 8, "no dictionary"
        values = [words[i] for i in runs(body[1:], body[0], count)]
    assert meta[12][3] == total - count, "another number of nulls"
    if 5 in meta[12]:
        most, least = (int.from_bytes(meta[12][i], "little") for i in (5, 6))
        assert (most, least) == (max(values), min(values)), "another range"
    values = iter(values)
    return [next(values) if p else None for p in present]


def read(path):
    """Returns the columns, name -> whether it has texts, and the rows as tuples."""
    data = path.read_bytes()
    assert data[:4] == data[-4:] == b"PAR1", "no Parquet file"
    size = int.from_bytes(data[-8:-4], "little")
    meta = Thrift(data[-8 - size:-8]).struct()
    schema = meta[2][1:]
    assert meta[2][0][5] == len(schema)
    names = {field[4].decode(): field[1] == 6 for field in schema}
    rows = []
    for group in meta.get(4, []):
        columns = [column(data, chunk[3], field[3] == 1) for chunk, field in zip(group[1], schema)]
        assert all(len(c) == group[3] for c in columns), "columns of other lengths"
        rows += zip(*columns)
    assert len(rows) == meta[3], f"{len(rows)} rows, {meta[3]} are told"
    return names, rows
