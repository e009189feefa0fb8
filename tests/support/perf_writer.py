# SPDX-License-Identifier: Apache-2.0
"""Writes perf.data files record by record, from Linux's tools/perf/Documentation/perf.data-file-format.txt
and independently of coretap's own writer: made-to-measure recordings from captures of 'coretap record'."""
import configparser
import pathlib
import struct

MMAP2, COMM, FORK, AUX = 10, 3, 7, 11
AUXTRACE_INFO, AUXTRACE = 70, 71
PMU, KERNEL = 8, 0xffffffff
MISC_KERNEL, MISC_USER, MISC_EXEC, MISC_BUILD_ID = 1, 2, 1 << 13, 1 << 14
TRACE_EVENT, DUMMY_EVENT = 1, 2
CONTEXT_ID = 1 << 14  # of the event's configuration


class Capture:
    """A snapshot of 'coretap record': its trace, the registers of its trace units, the ELF files that ran."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        framed = self.folder / "trace.bin"
        self.trace = framed.read_bytes() if framed.exists() else b""
        index = self.read("snapshot.ini")
        self.programs = [(pathlib.Path(index[s]["elf"]), int(index[s]["bias"], 16)) for s in index.sections()
                         if s.startswith("program")]
        self.build_ids = {pathlib.Path(index[s]["elf"]): bytes.fromhex(index[s].get("build_id", "")) for s in
                          index.sections() if s.startswith("program")}
        names = index["device_list"].values()
        self.units = [self.registers(name) for name in names if name.startswith("device_")]

    def read(self, name):
        ini = configparser.ConfigParser(delimiters="=")
        ini.read(self.folder / name)
        return ini

    def registers(self, name):
        """Returns registers by the names in the metadata, in its order."""
        regs = {key.partition("(")[0].upper(): int(value, 16)
                for key, value in self.read(name)["regs"].items()}
        return [regs.get(reg, 0)
                for reg in ("TRCCONFIGR", "TRCTRACEIDR", "TRCIDR0", "TRCIDR1", "TRCIDR2", "TRCIDR8",
                            "TRCAUTHSTATUS")]

    def maps(self):
        """Returns (address, size, offset in the file, path) of the code of each program."""
        return [(bias + addr, size, offset, path) for path, bias in self.programs
                for addr, size, offset in code_of(path)]


def code_of(path):
    """Returns (address, size, offset) of the executable segments of an ELF64 file, in whole pages."""
    elf = pathlib.Path(path).read_bytes()
    at, = struct.unpack_from("<Q", elf, 32)
    entry, count = struct.unpack_from("<HH", elf, 54)
    for i in range(count):
        kind, flags, offset, addr, _, size = struct.unpack_from("<IIQQQQ", elf, at + i * entry)
        if kind == 1 and flags & 1:
            before = addr & 0xfff
            yield addr - before, (size + before + 0xfff) & ~0xfff, offset - before


def frames(trace, trace_id):
    """Returns trace of one source in CoreSight frames: its ID comes first in each, and ID 0 after the last
    byte."""
    out = bytearray()
    for at in range(0, len(trace), 14):
        part = trace[at:at + 14]
        frame = bytearray([trace_id << 1 | 1]) + part + bytes(15 - len(part))
        behind, late = len(part) + 1, 0
        if len(part) < 14 and behind % 2:  # the ID is before the last byte and takes effect after it
            behind, late = behind - 1, 1
            frame[behind + 1] = part[-1]
        for i in range(2, 15, 2):
            if len(part) == 14 or i < behind:
                frame[15] |= (frame[i] & 1) << i // 2
                frame[i] &= 0xfe
        if len(part) < 14:
            frame[behind] = 1
            frame[15] |= late << behind // 2
        out += frame
    return bytes(out)


def unframed(data):
    """Returns the bytes of each trace ID in CoreSight frames."""
    out, current = {}, 0
    for at in range(0, len(data), 16):
        before = None  # the ID of the next byte, when another one takes effect after that
        for i, byte in enumerate(data[at:at + 15]):
            bit = data[at + 15] >> i // 2 & 1
            if i % 2 == 0 and byte & 1:
                before, current = current if bit else None, byte >> 1
                continue
            out.setdefault(current if before is None else before, bytearray()).append(
                byte if i % 2 else byte | bit)
            before = None
    return {trace_id: bytes(part) for trace_id, part in out.items() if trace_id}


def text(name):
    raw = (name if isinstance(name, bytes) else str(name).encode()) + b"\0"
    return raw + bytes(-len(raw) % 8)


class Writer:
    """Writes a file. Trace is of one CPU, whose buffer is written at the end."""

    def __init__(self, units, contexts=False, kernel=False):
        self.units, self.contexts, self.kernel = units, contexts, kernel
        self.data = bytearray()
        self.trace = bytearray()
        self.time = 1000
        self.info()

    def record(self, kind, body, misc=0):
        assert (8 + len(body)) % 8 == 0, kind
        self.data += struct.pack("<IHH", kind, misc, 8 + len(body)) + body

    def stamp(self, pid, tid, event):
        return struct.pack("<IIQIIQ", pid, tid, self.time, 0, 0, event)

    def info(self):
        body = struct.pack("<IIQQQ", 3, 0, 1, PMU << 32 | len(self.units), 0)
        for cpu, registers in enumerate(self.units):
            body += struct.pack("<QQQ7Q", 0x4040404040404040, cpu, 7, *registers)
        self.record(AUXTRACE_INFO, body)

    def comm(self, pid, name, executes=True):
        self.record(COMM, struct.pack("<II", pid, pid) + text(name) + self.stamp(pid, pid, DUMMY_EVENT),
                    MISC_EXEC if executes else 0)

    def fork(self, pid, parent):
        self.record(FORK, struct.pack("<IIIIQ", pid, parent, pid, parent, self.time)
                    + self.stamp(pid, pid, DUMMY_EVENT))

    def map(self, pid, addr, size, offset, path, build_id=b""):
        kernel = pid == KERNEL
        # Otherwise device and inode.
        where = struct.pack("<B3x20s", len(build_id), build_id) if build_id else bytes(24)
        self.record(MMAP2, struct.pack("<IIQQQ", pid, 0 if kernel else pid, addr, size, offset) + where
                    + struct.pack("<II", 5, 2) + text(path) + self.stamp(pid, pid, DUMMY_EVENT),
                    (MISC_KERNEL if kernel else MISC_USER) | (MISC_BUILD_ID if build_id else 0))

    def start(self, pid, capture, root="", ids=False):
        """Makes a process become the program of a capture. Its files are named as on a target, below `root`
        here."""
        self.comm(pid, capture.programs[0][0].name)
        for addr, size, offset, path in capture.maps():
            name = str(path).removeprefix(str(root))
            self.map(pid, addr, size, offset, name, capture.build_ids[path] if ids else b"")

    def run(self, pid, trace):
        """Adds a piece of trace made by a process, and lets time advance."""
        trace = trace + bytes(-len(trace) % 16)
        self.time += 1000
        self.record(AUX,
                    struct.pack("<QQQ", len(self.trace), len(trace), 0) + self.stamp(pid, pid, TRACE_EVENT))
        self.trace += trace
        self.time += 1000

    def attribute(self, kind, config, flags):
        return struct.pack("<IIQQQQQ", kind, 128, config, 1, 0x1 | 0x2 | 0x4 | 0x80 | 0x10000, 4,
                           flags | 1 << 18) + bytes(80)

    def whole(self):
        """Returns the bytes of the file."""
        self.record(AUXTRACE, struct.pack("<QQQIIII", len(self.trace), 0, 0, 0, KERNEL, 0, 0))
        ids = 104
        attributes = b"".join(
            attribute + struct.pack("<QQ", ids + 8 * i, 8) for i, attribute in enumerate([
                self.attribute(PMU, CONTEXT_ID if self.contexts else 0, 0 if self.kernel else 1 << 5),
                self.attribute(1, 9, 1 << 8 | 1 << 9 | 1 << 13 | 1 << 23 | 1 << 24)]))
        data = self.data + self.trace
        head = struct.pack("<8sQQQQQQQQQ24x", b"PERFILE2", 104, 144, ids + 16, len(attributes),
                           ids + 16 + len(attributes), len(data), 0, 0, 0)
        return head + struct.pack("<QQ", TRACE_EVENT, DUMMY_EVENT) + attributes + bytes(data)


def with_features(data, sections):
    """Adds sections of features (number -> bytes) after the data of a file that has none."""
    data, at = bytearray(data), len(data) + 16 * len(sections)
    for number, body in sorted(sections.items()):
        data[72 + number // 8] |= 1 << number % 8
        data += struct.pack("<QQ", at, len(body))
        at += len(body)
    return bytes(data) + b"".join(body for _, body in sorted(sections.items()))
