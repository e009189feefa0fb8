#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The jobs of docs/fleet.md without MPI: GNU parallel, and an array of Slurm on a cluster of this machine,
which the test starts on loopback and ends. Both give the bytes of one 'coretap map'. Prints TAP.

usage: run_schedulers.py COMMAND"""
import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import captures

sys.path.insert(0, str(captures.ROOT / "tests" / "support"))
import tap  # noqa: E402  pylint: disable=wrong-import-position

COMMAND = pathlib.Path(sys.argv[1]).resolve()
DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue")
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
SECONDS = 120

CONF = """ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldPort={port}
SlurmdPort={port1}
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""

ARRAY = """#!/bin/sh
#SBATCH --array=1-4
{command} map timing --manifest {folder}/week.jsonl --part "$SLURM_ARRAY_TASK_ID/4" --state {folder}/pieces \\
    --resume -o "{folder}/slurm$SLURM_ARRAY_TASK_ID.data"
"""


def run(*words, codes=(0,), **more):
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False,
                            timeout=SECONDS, **more)
    assert result.returncode in codes, (words, result.returncode, result.stderr)
    return result.stdout


def prepare(folder):
    captures.make(folder / "captures", 10, 2)
    run(COMMAND, "manifest", folder / "captures", "-o", folder / "week.jsonl")
    run(COMMAND, "map", "timing", "--manifest", folder / "week.jsonl", "-o", folder / "one.data", codes=(1,))


def parallel(folder):
    """Parts side by side; the exit code of GNU parallel is how many had captures that could not be read."""
    run("parallel", "--will-cite", COMMAND, "map", "timing", "--manifest", folder / "week.jsonl", "--part",
        "{}/4", "-o", folder / "parallel{}.data", ":::", 1, 2, 3, 4, codes=range(5))
    run(COMMAND, "merge", *sorted(folder.glob("parallel?.data")), "-o", folder / "parallel.data")
    assert (folder / "parallel.data").read_bytes() == (folder / "one.data").read_bytes()


def free_ports():
    """Two numbers, one behind the other, that nobody listens at."""
    for port in range(20000, 30000, 7):
        with contextlib.ExitStack() as stack:
            try:
                for number in (port, port + 1):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", number))
                return port
            except OSError:
                continue
    raise AssertionError("no port is free")


def end(folder):
    for name in ("slurmd", "slurmctld", "munge/munged"):
        pid = folder / f"{name}.pid"
        if pid.exists():
            with contextlib.suppress(ProcessLookupError, ValueError):
                os.kill(int(pid.read_text(encoding="utf-8")), signal.SIGTERM)
    time.sleep(1)


@contextlib.contextmanager
def cluster(folder):
    """A Slurm with this machine as its one node."""
    for name in ("state", "spool", "munge"):
        (folder / name).mkdir()
    folder.chmod(0o755)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    port = free_ports()
    (folder / "slurm.conf").write_text(
        CONF.format(host=socket.gethostname().split(".")[0], folder=folder, port=port, port1=port + 1),
        encoding="utf-8")
    environment = {**os.environ, "PATH": PATH, "SLURM_CONF": str(folder / "slurm.conf")}
    quiet = {"env": environment, "check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        subprocess.run(["munged", "--force", "--key-file", key, "--socket", folder / "munge/socket",
                        "--pid-file", folder / "munge/munged.pid", "--log-file", folder / "munge/log",
                        "--seed-file", folder / "munge/seed"], **quiet)
        subprocess.run(["slurmctld", "-i"], **quiet)
        subprocess.run(["slurmd"], **quiet)
        yield environment
    finally:
        end(folder)


def slurm(folder):
    script = folder / "array.sh"
    script.write_text(ARRAY.format(command=COMMAND, folder=folder), encoding="utf-8")
    with cluster(folder) as environment:
        job = run("sbatch", "--parsable", "-o", folder / "%a.log", script, env=environment).strip()
        last = run("sbatch", "--parsable", "-o", folder / "merge.log", f"--dependency=afterany:{job}",
                   f"--wrap={COMMAND} merge {folder}/slurm?.data -o {folder}/slurm.data",
                   env=environment).strip()
        until = time.monotonic() + SECONDS
        while run("squeue", "-h", "-j", last, env=environment).strip() and time.monotonic() < until:
            time.sleep(1)
    logs = "".join(log.read_text(encoding="utf-8") for log in folder.glob("*.log"))
    assert (folder / "slurm.data").exists(), logs
    assert (folder / "slurm.data").read_bytes() == (folder / "one.data").read_bytes()


def lacks(*programs):
    missing = [name for name in programs if not shutil.which(name, path=PATH)]
    return f"{', '.join(missing)} not here" if missing else None


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        why = captures.cannot_start_itself(COMMAND)
        if not why:
            prepare(folder)
        tap.case("GNU parallel", why or lacks("parallel"), lambda: parallel(folder))
        tap.case("Slurm", why or lacks(*DAEMONS) or (os.getuid() and "slurmd runs as root"),
                 lambda: slurm(folder))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
