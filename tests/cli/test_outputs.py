#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that output files are complete or do not exist. Prints TAP.

usage: test_outputs.py COMMAND

Each command that writes a file runs to its end, without room (a limit of file sizes, a full file system,
/dev/full), into an error, and into a signal in the middle: the earlier content of the file stays, and nothing
else is in its folder."""
import contextlib
import os
import pathlib
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import small_elf  # noqa: E402  pylint: disable=wrong-import-position
import tap  # noqa: E402  pylint: disable=wrong-import-position

EXAMPLE = str(ROOT / "examples" / "quickstart")
FIRMWARE = ROOT / "examples" / "quickstart" / "firmware.bin"
OLD = b"what was there before\n"
LIMIT = 16

# Commands whose result is empty although instructions ran.
EMPTY = {
    "profile": ["profile", "-f", "llvm", "-o", "@", "--elf", "%"],
    "cover": ["cover", "-f", "lcov", "-o", "@", "--elf", "%"],
    "timing": ["timing", "-o", "@", "--from", "1insn", "--to", "1insn", "--edges"],
}

# Command lines without the capture; @ stands for the file, % for the program.
COMMANDS = {
    "info": ["info", "-o", "@"],
    "list": ["list", "--packets", "--output", "@"],
    "decode": ["decode", "-o", "@"],
    "decode merged": ["decode", "--merge", "-o", "@"],
    "stats": ["stats", "-o", "@"],
    "stats json": ["stats", "-f", "json", "-o", "@"],
    "cover": ["cover", "-o", "@", "--elf", "%"],
    "cover json": ["cover", "--format", "json", "-o", "@", "--elf", "%"],
    "cover data": ["cover", "--format", "data", "-o", "@", "--elf", "%"],
    "timing": ["timing", "--edges", "-o", "@"],
    "profile": ["profile", "-o", "@", "--elf", "%"],
    "profile perfetto": ["profile", "-f", "perfetto", "-o", "@", "--elf", "%"],
    "profile pprof": ["profile", "-f", "pprof", "-o", "@", "--elf", "%"],
    "spec": ["spec", "--timing", "--pair", "0x80560 0x80568", "-o", "@"],
    "report": ["report", "-o", "@", "--elf", "%"],
    "export": ["export", "--perf", "@"],
    "export samples": ["export", "--branch-stacks", "--perf", "@"],
}


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))


class Place:
    """A folder with an old file in it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.file = self.folder / "result"
        self.file.write_bytes(OLD)
        self.file.chmod(0o640)

    def is_untouched(self):
        return self.file.read_bytes() == OLD and os.listdir(self.folder) == ["result"]


PROGRAM = tempfile.NamedTemporaryFile(suffix=".elf")  # pylint: disable=consider-using-with


def line_of(coretap, words, path, operand=EXAMPLE):
    stands_for = {"@": str(path), "%": PROGRAM.name}
    return [coretap, *(stands_for.get(word, word) for word in words), "-q", operand]


def run(line, **more):
    return subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False,
                          **more)


def check_whole(coretap, name, words):
    with tempfile.TemporaryDirectory() as folder:
        place = Place(folder)
        done = run(line_of(coretap, words, place.file))
        printed = b"PERFILE2"  # a pipe gets another format
        if words[0] != "export":
            printed = run(line_of(coretap, words, "-")).stdout
        got = place.file.read_bytes()
        same = got.startswith(printed) if words[0] == "export" else got == printed
        if words[0] == "stats":  # its output contains the time that it took
            same = got.split()[:2] == printed.split()[:2]
        tap.check(f"{name}: the file holds what standard output would",
                  done.returncode == 0 and done.stdout == b"" and same and len(got) > LIMIT and
                  os.listdir(folder) == ["result"] and stat.S_IMODE(place.file.stat().st_mode) == 0o640,
                  str(done))


def check_failure(name, place, done, why):
    tap.check(name, done.returncode == 2 and why in done.stderr.decode() and place.is_untouched(),
              f"{done}\n{os.listdir(place.folder)}")


def check_limit(coretap, name, words):
    with tempfile.TemporaryDirectory() as folder:
        place = Place(folder)
        # pylint: disable-next=subprocess-popen-preexec-fn
        done = run(line_of(coretap, words, place.file), preexec_fn=limit_files)
        check_failure(f"{name}: too large a file leaves the old one", place, done,
                      "result: cannot be written: File too large")


def check_error(coretap, name, words):
    with tempfile.TemporaryDirectory() as folder:
        place = Place(folder)
        check_failure(f"{name}: an error leaves the old file", place,
                      run(line_of(coretap, words, place.file, "/nowhere")), "nowhere")


def check_empty(coretap, name, words):
    """Checks an empty result although instructions ran: no file is made, and an existing one stays."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place(folder)
        done = run(line_of(coretap, words, place.file))
        tap.check(f"{name}: an empty result leaves the old file", done.returncode == 1 and
                  b"empty" in done.stderr and b"the previous file is unchanged" in done.stderr and
                  place.is_untouched(), f"{done}\n{os.listdir(folder)}")
        place.file.unlink()
        done = run(line_of(coretap, words, place.file))
        tap.check(f"{name}: an empty result makes no file", done.returncode == 1 and
                  b"result: the file is not written" in done.stderr and not os.listdir(folder), str(done))


def check_partial(coretap):
    """Checks that what was decoded of a damaged trace is a result."""
    with tempfile.TemporaryDirectory() as folder:
        capture = pathlib.Path(folder) / "capture"
        shutil.copytree(EXAMPLE, capture)
        trace = bytearray((capture / "trace.bin").read_bytes())
        trace[400:600] = bytes(range(1, 201))
        (capture / "trace.bin").write_bytes(trace)
        place = Place(tempfile.mkdtemp(dir=folder))
        done = run(line_of(coretap, COMMANDS["decode"], place.file, str(capture)))
        tap.check("what was decoded of a damaged trace replaces the old file", done.returncode == 1 and
                  len(place.file.read_bytes()) > 1000 and os.listdir(place.folder) == ["result"], str(done))


@contextlib.contextmanager
def small_disk(folder):
    """Mounts a file system of 32 KiB at `folder`. Yields why that fails, or None."""
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", folder], capture_output=True,
                          check=False)
    try:
        yield made.stderr.decode().strip() or "mount fails" if made.returncode else None
    finally:
        if made.returncode == 0:
            subprocess.run(["umount", folder], check=True)


def check_full_disk(coretap, name, words):
    title = f"{name}: a full disk leaves the old file"
    with tempfile.TemporaryDirectory() as folder, small_disk(folder) as missing:
        if missing:
            tap.skip(title, f"no small file system can be mounted here: {missing}")
            return
        place = Place(folder)
        filler = place.folder / "filler"
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass
        # An open file without a name takes the space.
        with filler.open("rb"):
            filler.unlink()
            check_failure(title, place, run(line_of(coretap, words, place.file)),
                          "result: cannot be written: No space left on device")


def begin(coretap, path, prefix=()):
    """Starts a decode that waits in the middle of its input."""
    # pylint: disable-next=consider-using-with
    process = subprocess.Popen([*prefix, coretap, "decode", "-q", "-o", str(path), "--config", EXAMPLE, "-"],
                               stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdin.write((ROOT / "examples" / "quickstart" / "trace.bin").read_bytes() * 16)
    process.stdin.flush()
    time.sleep(0.2)
    return process


def end(process):
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    return process.wait(timeout=300)


def check_signals(coretap, title, numbers, prefix=()):
    for number in numbers:
        with tempfile.TemporaryDirectory() as folder:
            place = Place(folder)
            process = begin(coretap, place.file, prefix)
            process.send_signal(number)
            code = end(process)
            tap.check(f"{title}{number.name} leaves the old file", code == -number and place.is_untouched(),
                      f"{code} {os.listdir(folder)}")


def check_named(coretap):
    """Checks the case in which the temporary file has a name from the start: without /proc a nameless file
    cannot get its name later."""
    prefix = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    possible = shutil.which("unshare") and run([*prefix, "true"]).returncode == 0
    if not possible:
        tap.skip("a temporary file with a name", "no file system can be mounted here (unshare --mount)")
        return
    if tap.is_sanitized(coretap):
        tap.skip("a temporary file with a name", "the sanitizer needs /proc")
        return
    check_signals(coretap, "a temporary file with a name: ", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP],
                  prefix)
    with tempfile.TemporaryDirectory() as folder:
        place = Place(folder)
        process = begin(coretap, place.file, prefix)
        limit = time.monotonic() + 300  # starting takes long on a busy machine or under an emulator
        while len(os.listdir(folder)) < 2 and time.monotonic() < limit:
            time.sleep(0.05)
        names = sorted(os.listdir(folder))
        tap.check("it is beside the file", len(names) == 2 and names[0].startswith(".result."), names)
        end(process)
        done = run([*prefix, *line_of(coretap, COMMANDS["decode"], place.file)])
        tap.check("it becomes the file", done.returncode == 0 and os.listdir(folder) == ["result"] and
                  place.file.read_bytes() != OLD, f"{done} {os.listdir(folder)}")
        place = Place(folder)
        done = run([*prefix, *line_of(coretap, COMMANDS["decode"], place.file, "/nowhere")])
        tap.check("it goes after an error", done.returncode == 2 and place.is_untouched(), str(done))


def check_places(coretap):
    with tempfile.TemporaryDirectory() as folder:
        place = Place(folder)
        link = place.folder / "link"
        link.symlink_to("result")
        done = run(line_of(coretap, COMMANDS["decode"], link))
        tap.check("a link is followed",
                  done.returncode == 0 and link.is_symlink() and place.file.read_bytes() != OLD, str(done))
        done = run(line_of(coretap, COMMANDS["decode"], place.folder))
        tap.check("a folder is refused", done.returncode == 2 and b"Is a directory" in done.stderr, str(done))
        done = run(line_of(coretap, COMMANDS["decode"], place.folder / "none" / "result"))
        tap.check("a folder that is missing is told", done.returncode == 2 and b"No such file" in done.stderr,
                  str(done))
        new = place.folder / "new"
        done = run(line_of(coretap, COMMANDS["decode"], new), umask=0o027)
        tap.check("a new file has the usual mode",
                  done.returncode == 0 and stat.S_IMODE(new.stat().st_mode) == 0o640, str(done))
        fifo = place.folder / "fifo"
        os.mkfifo(fifo)
        with subprocess.Popen(["cat", str(fifo)], stdout=subprocess.PIPE) as reader:
            done = run(line_of(coretap, COMMANDS["decode"], fifo))
            text = reader.stdout.read()
        tap.check("a pipe is written directly", done.returncode == 0 and text == new.read_bytes() and
                  stat.S_ISFIFO(fifo.stat().st_mode), str(done))
    with tempfile.TemporaryDirectory() as folder:
        place = Place(folder)
        line = [coretap, "graph", "--elf", PROGRAM.name]
        done = run([*line, "-o", place.file])
        tap.check("graph: the file holds what standard output would", done.returncode == 0 and
                  place.file.read_bytes() == run(line).stdout != b"", str(done))
    for name in ("decode", "cover json", "report", "profile perfetto", "profile pprof", "export",
                 "export samples"):
        done = run(line_of(coretap, COMMANDS[name], "/dev/full"))
        tap.check(f"{name}: /dev/full has no room", done.returncode == 2 and
                  b"No space left on device" in done.stderr and b"memory" not in done.stderr, str(done))


def check_merge(coretap):
    """Checks a merge whose output is one of its inputs."""
    with tempfile.TemporaryDirectory() as folder:
        counts, once = (os.path.join(folder, name) for name in ("counts", "once"))
        run(line_of(coretap, COMMANDS["cover data"], counts))
        shutil.copy(counts, once)
        done = run([coretap, "merge", "-o", counts, counts, counts])
        printed = run([coretap, "merge", once, once]).stdout
        tap.check("merge: onto one of its inputs", done.returncode == 0 and
                  pathlib.Path(counts).read_bytes() == printed and len(printed) > LIMIT, str(done))
        place = Place(tempfile.mkdtemp(dir=folder))
        check_failure("merge: an error leaves the old file", place,
                      run([coretap, "merge", "-o", place.file, counts, "/nowhere"]), "nowhere")
        # pylint: disable-next=subprocess-popen-preexec-fn
        done = run([coretap, "merge", "-o", place.file, counts], preexec_fn=limit_files)
        check_failure("merge: too large a file leaves the old one", place, done, "File too large")


MESSAGES = "time,op,initiator,kind,addr,value\n1,ReadShared,0,D,0x1000,0\n"


def check_fractal(coretap):
    """Checks the event log and the commands of a replay."""
    with tempfile.TemporaryDirectory() as folder:
        messages = pathlib.Path(folder) / "messages"
        messages.write_text(MESSAGES)
        for option in ("-o", "--commands"):
            place = Place(tempfile.mkdtemp(dir=folder))
            line = [coretap, "fractal", "replay", "--pgd", "1000", "--va-bits", "39", option, place.file,
                    "--messages"]
            # pylint: disable-next=subprocess-popen-preexec-fn
            check_failure(f"fractal replay {option}: too large a file leaves the old one", place,
                          run([*line, messages], preexec_fn=limit_files),
                          "result: cannot be written: File too large")
            for number in (signal.SIGTERM, signal.SIGKILL):
                # pylint: disable-next=consider-using-with
                process = subprocess.Popen([*line, "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
                process.stdin.write(MESSAGES.encode() + b"2,ReadShared,0,D,0x1000,0\n" * 3000)
                process.stdin.flush()
                time.sleep(0.2)
                process.send_signal(number)
                tap.check(f"fractal replay {option}: {number.name} leaves the old file",
                          end(process) == -number and
                          place.is_untouched(), os.listdir(place.folder))
            with open("/dev/full", "wb") as full:
                done = subprocess.run([*line, messages], stdout=full, stderr=subprocess.PIPE, timeout=300,
                                      check=False)
            tap.check(f"fractal replay {option}: no room for what is printed", done.returncode == 2 and
                      b"standard output: writing failed: No space left on device" in done.stderr, str(done))
            # The messages lack the page tables, so that the answer is partial.
            done = run([*line, messages])
            tap.check(f"fractal replay {option}: the file is there at the end", done.returncode == 1 and
                      place.file.read_bytes() != OLD and os.listdir(place.folder) == ["result"], str(done))


def main():
    coretap = os.path.abspath(sys.argv[1])
    # Under nohup, or in the background of a script, signals are ignored, and children would inherit that.
    for number in (signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    code = FIRMWARE.read_bytes()
    PROGRAM.write(small_elf.make(code, 0x80000, [(b"start", 0x80000, len(code))]))
    PROGRAM.flush()
    for name, words in COMMANDS.items():
        check_whole(coretap, name, words)
        check_limit(coretap, name, words)
        check_error(coretap, name, words)
        check_full_disk(coretap, name, words)
    for name, words in EMPTY.items():
        check_empty(coretap, name, words)
    check_partial(coretap)
    check_signals(coretap, "", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
    check_named(coretap)
    check_places(coretap)
    check_merge(coretap)
    check_fractal(coretap)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
