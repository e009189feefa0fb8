# SPDX-License-Identifier: Apache-2.0
"""Defines Debian's programs for Arm as inputs of `make bench`. They were not chosen for their speed under a
decoder: they have long paths, thousands of blocks and indirect branches. Each program runs under four trace
units. tools/fetch-arm-programs downloads the programs."""
import os
import pathlib
import shutil
import subprocess

HERE = pathlib.Path(__file__).parent
FETCH = HERE.parents[1] / "tools" / "fetch-arm-programs"
TOOLS = ["aarch64-linux-gnu-gcc", "qemu-aarch64"]

# Each row: end of the input's name, options of the recorder, and the amount of work that gives at least 50 MB
# of trace.
UNITS = [
    ("", [], 1.0),
    ("-stack", ["--return-stack"], 1.3),
    ("-cycles", ["--cycle-count"], 0.5),
    ("-broadcast", ["--branch-broadcast", "--cycle-count"], 0.3),
]


def programs_folder():
    """Returns the folder of the programs and None, or None and the reason why it is missing."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = pathlib.Path(os.environ.get("CT_ARM_PROGRAMS") or f"{cache}/coretap/arm-programs")
    newest = folder / "arm64/usr/lib/gcc/aarch64-linux-gnu/12/cc1"
    if not newest.exists():
        done = subprocess.run([FETCH, folder], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode or not newest.exists():
            lines = done.stderr.strip().splitlines() or ["a package is not there"]
            return None, f"tools/fetch-arm-programs: {lines[-1]}"
    return folder / "arm64", None


class Work:
    """The inputs of the programs, each made once in a folder, of the size that is asked for."""

    def __init__(self, root, source, folder):
        self.root, self.folder = root, folder
        self.source = folder / "work.i"
        subprocess.run(["aarch64-linux-gnu-gcc", "-E", "-P", "-o", self.source, source], check=True)
        library = sorted((root / "usr/lib/python3.11").rglob("*.py"))
        self.text = b"".join(path.read_bytes() for path in library)

    def _file(self, name, data):
        path = self.folder / name
        if not path.exists() or path.read_bytes() != data:
            path.write_bytes(data)
        return path

    def _prefix(self, size):
        """Returns a file with the first `size` bytes of a large text: the sources of Python's library, one
        after the other."""
        return self._file(f"text-{int(size)}", self.text[:int(size)])

    def gzip(self, scale):
        return [self.root / "bin/gzip", "-c", self._prefix(6.5e6 * scale)], None

    def sqlite3(self, scale):
        query = (HERE / "programs/query.sql").read_text().replace("ROWS", str(int(12000 * scale)))
        name = f"query-{int(12000 * scale)}.sql"
        return [self.root / "usr/bin/sqlite3", ":memory:"], self._file(name, query.encode())

    def python3(self, scale):
        return [self.root / "usr/bin/python3.11", "-S", "-E", HERE / "programs/parse.py",
                self._prefix(400e3 * scale)], None

    def perl(self, scale):
        return [self.root / "usr/bin/perl", HERE / "programs/words.pl", self._prefix(500e3 * scale)], None

    def xz(self, scale):
        return [self.root / "usr/bin/xz", "-c", "-T1", self._prefix(1e6 * scale)], None

    def cc1(self, scale):
        """Returns the command that compiles the preprocessed source of the other inputs with the compiler
        proper. Fewer passes (-O1) give less work."""
        level = "-O2" if scale >= 1 else "-O1"
        return [self.root / "usr/lib/gcc/aarch64-linux-gnu/12/cc1", "-quiet", level, "-fpreprocessed",
                self.source, "-o", "/dev/null"], None


PROGRAMS = ["gzip", "sqlite3", "python3", "perl", "xz", "cc1"]


def inputs(source, folder):
    """Yields for each input its name, options of the recorder, command, standard input, and the environment
    of the loader. Yields only a text with the reason when the inputs cannot be made."""
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    root, reason = (None, f"{', '.join(missing)} not there") if missing else programs_folder()
    if not root:
        yield reason
        return
    work = Work(root, source, folder)
    for program in PROGRAMS:
        for suffix, options, scale in UNITS:
            command, stdin = getattr(work, program)(scale)
            yield program + suffix, options, command, stdin, {"QEMU_LD_PREFIX": str(root)}
