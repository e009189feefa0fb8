# SPDX-License-Identifier: Apache-2.0
"""Reads Arrow streams of the kind that coretap writes: flat tables of texts, integers and real numbers.

It was written from the description of the format (arrow.apache.org, Columnar Format; Schema.fbs, Message.fbs)
and of FlatBuffers, and shares no code with the writer."""
import struct

VERSION_5 = 4
SCHEMA, BATCH = 1, 3
NUMBER, REAL, TEXT = 2, 3, 5


class Table:
    """A table in a FlatBuffer."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.places = at - struct.unpack_from("<i", data, at)[0]
        assert at % 4 == 0 and self.places % 2 == 0

    def place(self, field):
        """Returns the place of a field, or None when it has its default."""
        if 4 + 2 * field >= struct.unpack_from("<H", self.data, self.places)[0]:
            return None
        offset = struct.unpack_from("<H", self.data, self.places + 4 + 2 * field)[0]
        return self.at + offset if offset else None

    def number(self, field, kind):
        at = self.place(field)
        assert at is None or at % struct.calcsize(kind) == 0, f"field {field} is not aligned"
        return 0 if at is None else struct.unpack_from(f"<{kind}", self.data, at)[0]

    def follow(self, field):
        at = self.place(field)
        return at + struct.unpack_from("<I", self.data, at)[0]

    def table(self, field):
        return Table(self.data, self.follow(field))

    def tables(self, field):
        at = self.follow(field)
        first = [at + 4 + 4 * i for i in range(struct.unpack_from("<I", self.data, at)[0])]
        return [Table(self.data, place + struct.unpack_from("<I", self.data, place)[0]) for place in first]

    def pairs(self, field):
        """Returns a list of structs of two 64-bit numbers."""
        at = self.follow(field)
        assert (at + 4) % 8 == 0, "structs are not aligned"
        return [struct.unpack_from("<qq", self.data, at + 4 + 16 * i)
                for i in range(struct.unpack_from("<I", self.data, at)[0])]

    def text(self, field):
        at = self.follow(field)
        size = struct.unpack_from("<I", self.data, at)[0]
        assert self.data[at + 4 + size] == 0, "no zero behind the text"
        return bytes(self.data[at + 4:at + 4 + size]).decode()


def messages(data):
    """Yields the messages of a stream, each with its body."""
    at = 0
    while True:
        mark, size = struct.unpack_from("<Ii", data, at)
        assert mark == 0xffffffff and at % 8 == 0 and size % 8 == 0, f"no message at {at}"
        at += 8
        if size == 0:
            assert at == len(data), "bytes behind the end"
            return
        head = data[at:at + size]
        message = Table(head, struct.unpack_from("<I", head, 0)[0])
        assert message.number(0, "h") == VERSION_5
        body = message.number(3, "q")
        yield message, data[at + size:at + size + body]
        at += size + body


def column_of(field):
    kind = field.number(2, "B")
    if kind == NUMBER:
        assert field.table(3).number(0, "i") == 64 and not field.table(3).number(1, "B")
    assert kind in (NUMBER, REAL, TEXT) and field.tables(5) == [], kind
    return field.text(0), kind, bool(field.number(1, "B"))


def values_of(kind, rows, body, buffers):
    """Returns the values of a column in a batch, and removes its buffers from the list."""
    def take():
        at, size = buffers.pop(0)
        assert at % 8 == 0 and at + size <= len(body)
        return body[at:at + size]
    bits = take()
    present = [not bits or bits[i // 8] >> i % 8 & 1 for i in range(rows)]
    if kind != TEXT:
        values = struct.unpack(f"<{rows}{'Q' if kind == NUMBER else 'd'}", take())
    else:
        ends, texts = struct.unpack(f"<{rows + 1}i", take()), take()
        assert ends[-1] == len(texts)
        values = [bytes(texts[ends[i]:ends[i + 1]]).decode() for i in range(rows)]
    return [value if there else None for value, there in zip(values, present)]


def read(data):
    """Returns the columns of a stream: names and rows."""
    stream = messages(memoryview(data))
    schema, _ = next(stream)
    assert schema.number(1, "B") == SCHEMA
    columns, rows = [column_of(field) for field in schema.table(2).tables(1)], []
    for message, body in stream:
        assert message.number(1, "B") == BATCH
        batch = message.table(2)
        count, nodes, buffers = batch.number(0, "q"), batch.pairs(1), batch.pairs(2)
        assert len(nodes) == len(columns)
        values = [values_of(kind, count, body, buffers) for _, kind, _ in columns]
        assert not buffers, "more buffers than columns want"
        for (name, _, optional), (length, empty), column in zip(columns, nodes, values):
            assert length == count and empty == column.count(None) and (optional or not empty), name
        rows += list(zip(*values))
    return [name for name, _, _ in columns], rows
