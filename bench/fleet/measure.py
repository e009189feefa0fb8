#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what a fleet's captures cost on this machine, as docs/fleet.md states it.

Measures the cost of a capture, of a byte and of a merge; the time of a job on 1, 2 and 8 ranks, and the part
of it that merging takes; and the memory of a rank for several numbers of captures. Writes the figures as JSON
for simulate.py, and prints a table.

usage: measure.py CORETAP CORETAP_MPI FOLDER OUTPUT [--command COMMAND] [--ranks N]... [--turns N]

FOLDER is made by make_captures.py. Nothing else should run at the same time."""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

ONE_BY_ONE = 60  # captures that are decoded one by one
PARTS = (250, 500, 1000)  # numbers of captures for which the memory of a rank is measured
LOOK_S = 0.005


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("coretap", "coretap_mpi", "folder", "output"):
        parser.add_argument(name, type=lambda word: pathlib.Path(word).resolve())
    parser.add_argument("--command", default="cover")
    parser.add_argument("--ranks", type=int, action="append")
    parser.add_argument("--turns", type=int, default=3, help="of each job; the quickest counts")
    how = parser.parse_args()
    how.ranks = how.ranks or [1, 2, 8]
    return how


def run(*words, cwd=None):
    """Runs a command. Returns the seconds that it took, and the finished process. Exit code 1 is no error:
    some captures are damaged."""
    begin = time.monotonic()
    done = subprocess.run([str(word) for word in words], capture_output=True, check=False, cwd=cwd)
    took = time.monotonic() - begin
    if done.returncode > 1:
        raise SystemExit(f"{words}: {done.stderr.decode(errors='replace')}")
    return took, done


# ---- jobs ----

def job(how, ranks, manifest, folder):
    """Returns the command line of a job. `folder` is empty, so the job has to make all pieces."""
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_odls_base_sigkill_timeout": "0"}  # otherwise mpirun waits 2 s after exit code 1
    os.environ.update(environment)
    return ["mpirun", "--oversubscribe", "-n", str(ranks), str(how.coretap_mpi), how.command, "--manifest",
            str(manifest), "-o", str(folder / "result")]


def measure_job(how, ranks, manifest):
    """Returns the seconds of a job, the seconds of them that merging took, and the job's result."""
    best, adding, result = None, None, None
    for _ in range(how.turns):
        with tempfile.TemporaryDirectory(dir=how.folder) as folder:
            took, done = run(*job(how, ranks, manifest, pathlib.Path(folder)))
            said = done.stderr.decode(errors="replace")
            seconds, percent = map(float, re.search(r"in ([\d.]+) s on .*took ([\d.]+) %", said).groups())
            one = pathlib.Path(folder, "result").read_bytes()
        if result not in (None, one):
            raise SystemExit(f"{ranks} ranks gave another result")
        if best is None or took < best:
            best, adding = took, percent / 100 * seconds / took
        result = one
    return best, adding, result


def processes(program):
    """Yields, for each process of a program, what it is and the KB of memory that it had at most: "capture"
    when a rank started it, otherwise "rank"."""
    parents, most = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{name}/exe") == program:
                status = pathlib.Path(f"/proc/{name}/status").read_text(encoding="ascii")
                parents[name] = re.search(r"PPid:\s+(\d+)", status)[1]
                most[name] = int(re.search(r"VmHWM:\s+(\d+)", status)[1])
        except (OSError, TypeError):  # the process has ended
            continue
    for name, kilobytes in most.items():
        yield "capture" if parents[name] in parents else "rank", kilobytes


def measure_memory(how, manifest, ranks):
    """Returns the MB of memory that a rank had at most, and those of a process that decodes a capture."""
    most = collections.Counter()
    with tempfile.TemporaryDirectory(dir=how.folder) as folder:
        words = job(how, ranks, manifest, pathlib.Path(folder))
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            while child.poll() is None:
                for name, kilobytes in processes(str(how.coretap_mpi)):
                    most[name] = max(most[name], kilobytes)
                time.sleep(LOOK_S)
    return {name: kilobytes / 1024 for name, kilobytes in most.items()}


# ---- cost of one capture ----

def line_through(points):
    """Fits a line with least squares. Returns (a, b) of y = a + b x."""
    count, mean_x = len(points), sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / count
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    return mean_y - slope * mean_x, slope


def make_pieces(how, captures, folder):
    """Decodes some captures one by one. Returns the files of their pieces."""
    pieces = []
    for number, capture in enumerate(captures[::max(1, len(captures) // ONE_BY_ONE)]):
        piece = folder / f"{number}.piece"
        words = [str(how.coretap), how.command, "-q", "--format", "data", capture["path"]]
        with piece.open("wb") as file:
            subprocess.run(words, stdout=file, stderr=subprocess.DEVNULL, check=False)
        if piece.stat().st_size:
            pieces.append(piece)
    return pieces


def measure_captures(how, captures, folder):
    """Returns the seconds that a capture of any size costs in a job, and those that each MB adds. A process
    decodes many captures, so these are derived from jobs of as many small and large captures, not from single
    captures."""
    ordered = sorted(captures, key=lambda capture: capture["size"])
    groups = ordered[:1], ordered[:ONE_BY_ONE], ordered[-ONE_BY_ONE:]
    seconds = []
    for group in groups:
        words = (how.coretap, "map", how.command, "-q", "--trust", "--manifest",
                 part_of(group, len(group), folder), "-o", folder / "mapped")
        seconds.append(min(run(*words)[0] for _ in range(3 * how.turns)))
    sizes = [sum(capture["size"] for capture in group) / 1e6 for group in groups]
    per_mb = (seconds[2] - seconds[1]) / (sizes[2] - sizes[1])
    return (seconds[1] - seconds[0] - (sizes[1] - sizes[0]) * per_mb) / (len(groups[1]) - 1), per_mb


def measure_merge(how, pieces, folder):
    """Returns the seconds that merging costs for a MB of pieces, the MB of a piece, and the MB of the sum."""
    total = sum(piece.stat().st_size for piece in pieces) / 1e6
    result = folder / "sum"
    both = min(run(how.coretap, "merge", "-q", *pieces, "-o", result)[0] for _ in range(how.turns))
    one = min(run(how.coretap, "merge", "-q", pieces[0], "-o", folder / "one")[0] for _ in range(how.turns))
    return (both - one) / total, total / len(pieces), result.stat().st_size / 1e6


def measure_keep(pieces, folder):
    """Returns the seconds that storing a piece takes. It does not wait for the disk."""
    begin = time.monotonic()
    for piece in pieces:
        with (folder / f"{piece.name}.kept").open("wb") as kept:
            kept.write(piece.read_bytes())
    return (time.monotonic() - begin) / len(pieces)


def measure_digest(how, manifest):
    """Returns the seconds that comparing a MB with the manifest takes."""
    size = sum(capture["size"] for capture in manifest) / 1e6
    return run(how.coretap, "manifest", "-q", how.folder / "captures")[0] / size


# ---- all measurements ----

def part_of(captures, count, folder):
    path = folder / f"part{count}.jsonl"
    path.write_text("".join(json.dumps(capture) + "\n" for capture in captures[:count]), encoding="utf-8")
    return path


def measure_starts(how, captures, folder):
    """Returns the seconds of a job with one tiny capture, and the seconds that each rank adds."""
    least = part_of([min(captures, key=lambda capture: capture["size"])], 1, folder)
    return line_through([(ranks, measure_job(how, ranks, least)[0]) for ranks in how.ranks])


def measure_jobs(how, captures, folder):
    whole, seconds, adding, results = part_of(captures, len(captures), folder), {}, {}, set()
    for ranks in how.ranks:
        seconds[ranks], adding[ranks], result = measure_job(how, ranks, whole)
        results.add(result)
        print(f"{ranks} ranks\t{seconds[ranks]:.2f} s\tadding up {adding[ranks]:.1%}", flush=True)
    if len(results) != 1:
        raise SystemExit("other numbers of ranks gave other results")
    return seconds, adding


def measure_parts(how, captures, folder):
    memory = {}
    for count in PARTS:
        if count <= len(captures):
            memory[count] = measure_memory(how, part_of(captures, count, folder), 2)
            print(f"{count} captures\t" + "\t".join(f"{name} {mb:.1f} MB" for name, mb in
                                                     sorted(memory[count].items())), flush=True)
    return memory


def main():
    how = arguments()
    lines = (how.folder / "week.jsonl").read_text(encoding="utf-8").splitlines()
    captures = [json.loads(line) for line in lines]
    with tempfile.TemporaryDirectory(dir=how.folder) as name:
        folder = pathlib.Path(name)
        pieces, (start, per_mb) = make_pieces(how, captures, folder), measure_captures(how, captures, folder)
        merging, piece, result = measure_merge(how, pieces, folder)
        keeping = measure_keep(pieces, folder)
        figures = {
            "command": how.command, "cores": len(os.sched_getaffinity(0)), "captures": len(captures),
            "sizes_mb": [capture["size"] / 1e6 for capture in captures],
            "start_s": start - keeping - piece * merging,
            "decode_s_per_mb": per_mb, "digest_s_per_mb": measure_digest(how, captures),
            "merge_s_per_mb": merging, "keep_s": keeping, "piece_mb": piece,
            "sum_mb": result,
        }
        figures["job_s"], figures["job_s_per_rank"] = measure_starts(how, captures, folder)
        print("\n".join(f"{key}\t{value:.4g}" for key, value in figures.items() if isinstance(value, float)),
              flush=True)
        figures["seconds"], figures["adding_up"] = measure_jobs(how, captures, folder)
        figures["memory_mb"] = measure_parts(how, captures, folder)
    how.output.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
