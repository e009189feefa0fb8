#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a recording ended from outside leaves a capture that can be read up to there. Prints TAP.

usage: test_ended.py COMMAND PLUGIN

Records a program that never ends, and one that writes its own code; then the recorder or QEMU gets a signal,
or the disk is full. The capture decodes without a contradiction or missing code."""
import contextlib
import fcntl
import itertools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND = os.path.abspath(sys.argv[1])
ENV = {**os.environ, "CORETAP_TRACE_PLUGIN": os.path.abspath(sys.argv[2])}
TOOLS = ("aarch64-linux-gnu-gcc", "qemu-aarch64")
ENOUGH = 300_000  # bytes of trace

PROGRAMS = {
    "endless": """
volatile unsigned sink;
__attribute__((noinline)) static unsigned step(unsigned n)
{
    unsigned s = 0;
    for (unsigned i = 0; i < n % 97; i++)
        s += i * n;
    return s;
}
int main(void)
{
    for (unsigned n = 0;; n++)
        sink += step(n);
}
""",
    "stubborn": """
#include <signal.h>
volatile unsigned sink;
int main(void)
{
    signal(SIGTERM, SIG_IGN);
    for (unsigned n = 0;; n++)
        sink += n & 1 ? n : 3;
}
""",
    "writer": """
#include <sys/mman.h>
volatile unsigned sink;
int main(void)
{
    unsigned *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (unsigned n = 0;; n++) {
        code[0] = 0xb4000040 ^ (n & 1) << 24;  /* cbz or cbnz x0, over the next */
        code[1] = 0x91000400;
        code[2] = 0xd65f03c0;
        __builtin___clear_cache((char *)code, (char *)(code + 3));
        for (unsigned i = 0; i < 30000; i++)
            sink += ((unsigned (*)(unsigned long))code)(i & 2);
    }
}
""",
}


def compile_all(folder):
    for name, text in PROGRAMS.items():
        source = folder / f"{name}.c"
        source.write_text(text)
        subprocess.run([TOOLS[0], "-O1", "-static", "-o", folder / name, source], check=True)


class Recording:
    def __init__(self, folder, program, *options):
        self.dir = folder
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen([COMMAND, "record", "-q", *options, "-o", str(folder), "--",
                                         str(program)],
                                        env=ENV, stderr=subprocess.PIPE, text=True)

    def wait_for_trace(self, enough=ENOUGH):
        """Waits until there is some trace, and one more checkpoint."""
        end = time.monotonic() + 300
        while time.monotonic() < end and sum(f.stat().st_size for f in self.dir.glob("trace*.bin")) < enough:
            time.sleep(0.01)

    def qemu(self):
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True,
                               text=True, check=True)
        return int(found.stdout.split()[0])

    def end(self):
        """Returns the exit code and the messages."""
        try:
            said = self.process.communicate(timeout=300)[1]
        except subprocess.TimeoutExpired:
            self.process.kill()
            said = "it did not end; " + self.process.communicate()[1]
        return self.process.returncode, said

    def numbers(self):
        done = subprocess.run([COMMAND, "stats", "-q", "--level", "flow", str(self.dir)], capture_output=True,
                              text=True, timeout=300, check=False)
        return {key: int(value) for key, value in re.findall(r"^(\w+)=(\d+)$", done.stdout, re.M)}, done

    def files(self):
        return sorted(os.path.relpath(f, self.dir) for f in self.dir.glob("**/*"))


def is_sound(numbers):
    return (numbers.get("instructions", 0) > 300_000 and numbers["contradictions"] == 0
            and numbers["no_access"] == 0 and
            numbers["gaps"] == 0)


def check_ended(folder, name, program, options, how, codes):
    """Checks a recording that `how` ends."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        recording = Recording(pathlib.Path(place) / "capture", folder / program, *options)
        recording.wait_for_trace()
        how(recording)
        code, said = recording.end()
        numbers, done = recording.numbers()
        files = recording.files()
        tap.check(name, code in codes and is_sound(numbers), f"{code} {said} {files} {done}")
        tap.check(f"{name}: a warning where it was not finished, and only there",
                  ("was not finished" in done.stderr) == any(f.startswith("part-") for f in files),
                  f"{files} {done}")
        return files


def signal_to_recorder(number):
    return lambda recording: recording.process.send_signal(number)


def signal_to_qemu(number):
    return lambda recording: os.kill(recording.qemu(), number)


def check_whole(name, files):
    tap.check(f"{name}: nothing is left of the checkpoints",
              "trace.ini" in files and "snapshot.ini" in files and
              not [f for f in files if f.startswith("part-") or f.endswith(".new")], files)


def check_signals(folder):
    for number in tap.some((signal.SIGTERM, signal.SIGINT, signal.SIGHUP), 1):
        name = f"{number.name} to the recorder"
        check_whole(name,
                    check_ended(folder, name, "endless", [], signal_to_recorder(number), [128 + number]))
    name = "SIGTERM, of which the program takes no notice"
    check_whole(name,
                check_ended(folder, name, "stubborn", [], signal_to_recorder(signal.SIGTERM), [128 + 9]))
    for number in tap.some((signal.SIGSEGV, signal.SIGKILL), 0):
        name = f"{number.name} to QEMU"
        check_whole(name, check_ended(folder, name, "endless", [], signal_to_qemu(number), [128 + number]))
    settings = ([], ["--framed", "--return-stack", "--cycle-count"])
    for program, options in tap.some(itertools.product(("endless", "writer"), settings), 3):
        check_ended(folder, " ".join(["SIGKILL to the recorder:", program, *options]), program, options,
                    signal_to_recorder(signal.SIGKILL), [-9])


def check_truth(folder):
    """Checks that the truth file is complete, or unchanged."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with tempfile.TemporaryDirectory(dir=folder) as place:
            truth = pathlib.Path(place) / "truth"
            truth.write_text("what was there before\n")
            recording = Recording(pathlib.Path(place) / "capture", folder / "endless", "--truth", str(truth))
            recording.wait_for_trace(1)  # the truth of all of it would be long
            recording.process.send_signal(number)
            recording.end()
            text = truth.read_text()
            if number == signal.SIGKILL:
                tap.check("SIGKILL leaves the old truth", text == "what was there before\n" and
                          sorted(os.listdir(place)) == ["capture", "truth"], text[:100])
                continue
            ran = sum(int(line.split()[-1]) for line in text.splitlines() if line.startswith("+ "))
            numbers, done = recording.numbers()
            tap.check("SIGTERM leaves a truth of all that was traced", ran == numbers.get("instructions"),
                      f"{ran} {done}")


def check_full_disk(folder):
    name = "a full disk"
    with tempfile.TemporaryDirectory(dir=folder) as place:
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], capture_output=True,
                              text=True, check=False)
        if made.returncode:
            tap.skip(name, f"no small file system can be mounted here: {made.stderr.strip()}")
            return
        try:
            recording = Recording(pathlib.Path(place) / "capture", folder / "endless")
            line = recording.process.stderr.readline()
            recording.process.terminate()  # the program continues untraced
            code, said = recording.end()
            numbers, done = recording.numbers()
            tap.check(f"{name} is told with its cause", code == 2 and
                      "trace_0.bin: cannot be written: No space left on device" in line,
                      f"{code} {line} {said}")
            tap.check(f"{name} leaves what there was room for, and commands say that it is not all",
                      is_sound(numbers) and "the recording was not finished" in done.stderr,
                      f"{recording.files()} {done}")
        finally:
            with contextlib.suppress(subprocess.CalledProcessError):
                subprocess.run(["umount", place], check=True)


def check_directory(folder):
    """Checks that the program does not run when nothing can be written: this one would not end."""
    done = subprocess.run([COMMAND, "record", "-o", "/proc/nowhere", "--", folder / "endless"], text=True,
                          capture_output=True, check=False, timeout=300, env=ENV)
    tap.check("a directory that cannot be made costs no run", done.returncode == 2 and
              done.stderr == "coretap: /proc/nowhere: cannot be created: No such file or directory; "
              "nothing is recorded; name a directory that can be written\n",
              f"{done.returncode} {done.stderr}")


def check_unread_stream(folder):
    """Checks that the recorder waits for a reader, and ends on request."""
    pipe, place = folder / "pipe", folder / "unread"
    os.mkfifo(pipe)
    recording = Recording(place, folder / "endless", "--stream", str(pipe))
    end = time.monotonic() + 300
    while time.monotonic() < end and not (place / "live.ini").exists():
        time.sleep(0.05)
    recording.process.terminate()
    code, said = recording.end()
    tap.check("SIGTERM ends a recording whose stream nobody reads", code == 2 and
              f"{pipe}: a signal came before the pipe had a reader" in said,
              f"{code} {said}")


def check_stuck_reader(folder):
    """Checks that a reader which opens the stream and reads nothing is waited for until the recorder is told
    to end."""
    for number in (signal.SIGTERM, signal.SIGINT):
        place = folder / f"stuck {number.name}"
        pipe = folder / f"stuck {number.name} pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        recording = Recording(place, folder / "endless", "--stream", str(pipe))
        end = time.monotonic() + 300
        held = [bytearray(4), bytearray(4)]  # bytes in the pipe: it is full when no more come
        while time.monotonic() < end and (held[0] != held[1] or not any(held[0])):
            time.sleep(0.5)
            held = [held[1], bytearray(4)]
            fcntl.ioctl(reader, termios.FIONREAD, held[1])
        recording.process.send_signal(number)
        code, said = recording.end()
        os.close(reader)
        told = re.search(r": its reader read nothing for 2 seconds after a signal, so the capture "
                         r"ends there; [1-9]\d* bytes of trace and all later ones are lost", said)
        tap.check(f"{number.name} ends a recording whose reader takes nothing, and what is lost is told",
                  code == 2 and told, f"{code} {said}")


def main():
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print(f"1..0 # SKIP not installed: {' '.join(missing)}")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        compile_all(folder)
        check_signals(folder)
        check_truth(folder)
        check_full_disk(folder)
        check_directory(folder)
        check_unread_stream(folder)
        check_stuck_reader(folder)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
