#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the jobs of docs/fleet.md without MPI, word for word: GNU parallel, an array of Slurm on a cluster of
this machine, which the test starts on loopback and ends, and the commands of Kubernetes pods. All give the
bytes of one 'coretap map'. Prints TAP.

usage: run_schedulers.py COMMAND"""
import contextlib
import json
import os
import pathlib
import re
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
from command import output as run  # noqa: E402  pylint: disable=wrong-import-position

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

# Stands in for ssh: runs the command here. Like ssh, it starts in another folder.
SSH = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
shift 2
cd /
exec sh -c "$*"
"""


def blocks():
    """Returns the commands and files of docs/fleet.md about jobs without MPI, with 4 parts instead of 64."""
    text = (captures.ROOT / "docs/fleet.md").read_text(encoding="utf-8")
    text = text.split("## Without MPI\n")[1].split("\n## ")[0].replace("map cover", "map timing")
    found = [block.split("\n", 1)[1] for block in text.split("```")[1::2]]
    names = ("parallel", "array", "sbatch", "job", "kubectl")
    assert len(found) == len(names), found
    return {name: block.replace("64", "4").replace("0 63", "0 3") for name, block in zip(names, found)}


def prepare(folder):
    captures.make(folder / "captures", 10, 2)
    run(COMMAND, "manifest", folder / "captures", "-o", folder / "week.jsonl")
    run(COMMAND, "map", "timing", "--manifest", folder / "week.jsonl", "-o", folder / "one.data", codes=(1,))


def shell(folder, script, environment=None, codes=(0, 1)):
    """Runs commands of the guide in the folder. Exit code 1, for captures that could not be read, is
    allowed."""
    return run("sh", "-c", script, codes=codes, cwd=folder,
               env={**(environment or os.environ), "PATH": f"{COMMAND.parent}:{PATH}"})


def hold_result(folder):
    """Checks that the merged parts equal the result of one job. Removes the parts before the next scheduler
    runs."""
    assert (folder / "week.cov").read_bytes() == (folder / "one.data").read_bytes()
    for path in folder.glob("*.cov"):
        path.unlink()


def parallel(folder):
    """Runs the parts side by side on machines where commands do not start in the folder."""
    ssh = folder / "ssh"
    ssh.write_text(SSH, encoding="utf-8")
    ssh.chmod(0o755)
    own = folder / "parallel"
    own.mkdir()
    shell(folder, blocks()["parallel"], {**os.environ, "PARALLEL_SSH": str(ssh), "PARALLEL_HOME": str(own),
                                         "SHELL": "/bin/sh"})  # as in a terminal
    hold_result(folder)


def kubernetes(folder):
    """Checks that Kubernetes' own client reads the job without losing a field. Runs its pods here, one by
    one."""
    job, volume = folder / "job.yaml", str(folder)
    job.write_text(blocks()["job"], encoding="utf-8")
    read = json.loads(run("kubectl", "set", "image", "--local", "-f", job, "map=x", "-o", "json"))
    for word in re.findall(r"(\w+):", job.read_text(encoding="utf-8")):
        assert f'"{word}"' in json.dumps(read), word
    pod = read["spec"]["template"]["spec"]["containers"][0]["command"]
    for index in range(read["spec"]["completions"]):
        words = [word.replace("/farm", volume) for word in pod]
        own = {"PATH": f"{COMMAND.parent}:{PATH}", "JOB_COMPLETION_INDEX": str(index)}
        run(*words, env={**os.environ, **own})
    shell(folder, blocks()["kubectl"].replace("kubectl", ": kubectl").replace("/farm", volume))
    hold_result(folder)


def free_ports():
    """Returns the first of two consecutive ports that are free."""
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
    """Starts a Slurm whose only node is this machine."""
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
    (folder / "array.sh").write_text(blocks()["array"], encoding="utf-8")
    with cluster(folder) as environment:
        last = shell(folder, blocks()["sbatch"], environment).split()[-1]
        until = time.monotonic() + SECONDS
        while run("squeue", "-h", "-j", last, env=environment).strip() and time.monotonic() < until:
            time.sleep(1)
    assert (folder / "week.cov").exists(), "".join(
        log.read_text(encoding="utf-8") for log in [*folder.glob("*.out"), *folder.glob("*.log")])
    hold_result(folder)


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
        tap.case("Kubernetes", why or lacks("kubectl"), lambda: kubernetes(folder))
        tap.case("Slurm", why or lacks(*DAEMONS) or (os.getuid() and "slurmd runs as root"),
                 lambda: slurm(folder))
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
