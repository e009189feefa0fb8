#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the profile of a fleet for AutoFDO, one file per build ID. Machines have a weight, such as how many
of their model are sold. A machine whose profile is far from those of the others is left out, because it
would mislead the compiler.

usage: fleet_profile.py CORETAP MANIFEST WEIGHTS FOLDER PAGE

WEIGHTS is JSON, {"machine": N}; machines that it does not name count once. FOLDER gets BUILD-ID.afdo."""
import json
import pathlib
import statistics
import sys

import fleet

# Part of the executed instructions that may be in other functions than in the fleet's median.
FAR = 0.5
SHOWN = 20  # machines


def shares(week, result):
    """Returns each function's part of the instructions that ran."""
    counts = {}
    for line in week.run("profile", "-q", "--format", "folded", result).stdout.splitlines():
        stack, count = line.rsplit(" ", 1)
        leaf = stack.rsplit(";", 1)[-1]
        counts[leaf] = counts.get(leaf, 0) + int(count)
    total = sum(counts.values())
    return {name: count / total for name, count in counts.items()}


def distances(profiles):
    """Returns how far each machine is from the median profile: 0 is the same, 1 has nothing in common."""
    names = {name for profile in profiles.values() for name in profile}
    middle = {name: statistics.median(profile.get(name, 0) for profile in profiles.values())
              for name in names}
    return {machine: sum(abs(profile.get(name, 0) - middle[name]) for name in names) / 2
            for machine, profile in profiles.items()}


def add_up(week, machines, weights):
    """Returns the weighted sum of the coverage of machines. Counts stop at 2^64 - 1."""
    parts = []
    for machine, captures in machines.items():
        parts.append(week.name(f"{machine}-weighted"))
        week.run("merge", "-q", "--weight", weights.get(machine, 1), "-o", parts[-1],
                 week.sum("cover", captures, machine))
    result = week.name("weighted")
    week.run("merge", "-q", *parts, "-o", result)
    return result


def write_profiles(week, result, folder):
    """Writes the profile of each build. Returns the executed instructions of each of their functions."""
    ran = {}
    folder.mkdir(exist_ok=True)
    for build_id, program in week.builds().items():
        week.run("profile", "-q", "--format", "autofdo", "--elf", program, "-o", folder / f"{build_id}.afdo",
                 result)
        for program in week.json("cover", "-q", "--format", "json", "--elf", program, result)["programs"]:
            for function in program["functions"]:
                ran[build_id, function["name"]] = function["count"]
    return ran


def main():
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    week, folder = fleet.Fleet(*sys.argv[1:3]), pathlib.Path(sys.argv[4])
    weights = json.loads(pathlib.Path(sys.argv[3]).read_text(encoding="utf-8"))
    groups = week.by("machine")
    profiles = {machine: shares(week, week.sum("profile", captures, machine))
                for machine, captures in groups.items()}
    far = distances({machine: profile for machine, profile in profiles.items() if profile})
    unread = [fleet.row(machine, "", "", "", ("note bad", "nothing could be read"))
              for machine in groups if machine not in far]
    kept = {machine: groups[machine] for machine in far if far[machine] <= FAR}
    if not kept:
        raise SystemExit(f"{week.manifest}: of no machine anything could be read that is like the others")
    ran = write_profiles(week, add_up(week, kept, weights), folder)
    farthest = sorted(far, key=lambda machine: (-far[machine], machine))
    machines = [fleet.row(machine, ("number", f"{weights.get(machine, 1):,}"),
                          ("wide", fleet.bar(far[machine], "" if machine in kept else "bad")),
                          ("number", f"{far[machine]:.0%}"),
                          ("note bad", "" if machine in kept else "left out"))
                for machine in farthest]
    most = max(ran.values())
    hottest = {}
    for (build_id, name), count in ran.items():
        hottest[name] = max(count, hottest.get(name, 0))
    order = sorted(ran.items(), key=lambda item: (-hottest[item[0][1]], item[0][1]))
    functions = [fleet.row(("", fleet.code(name)), ("", f"<code>{build_id[:8]}</code>"),
                           ("wide", fleet.bar(count / most)), ("number", fleet.number(count)))
                 for (build_id, name), count in order if count]
    fleet.write_page(sys.argv[5], "The profile of the fleet",
                     f"{len(kept):,} of {len(groups):,} machines, each with its weight; calls of each "
                     "function, by build.",
                     "<h2>Machines</h2>",
                     fleet.table(["machine", "#weight", "distance from the median", "#", ""],
                                 fleet.first(machines, SHOWN, "none farther") + unread),
                     "<h2>Functions</h2>", fleet.table(["function", "build", "calls", "#"], functions),
                     week=week)


if __name__ == "__main__":
    main()
