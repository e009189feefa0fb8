# SPDX-License-Identifier: Apache-2.0
"""Returns which optional parts a coretap was built without, from 'coretap --version', and what needs them."""
import re
import shutil
import subprocess

import tap


def missing_parts(coretap):
    """Returns name -> what cannot be done, and the Debian package that is missing."""
    text = subprocess.run([coretap, "--version"], capture_output=True, text=True, check=True).stdout
    return dict(re.findall(r"^(\w+) +missing: (.*)$", text, re.MULTILINE))


def missing_for(coretap, line, parts):
    """Returns why a command line of a text for users cannot be run here, or None. `parts` are those of
    missing_parts()."""
    for program in ("perf", "mpirun"):
        if f"{program} " in line.replace("perf-env", "") and not shutil.which(program):
            return f"{program} is missing"
    if "coretap perf-env" in line and tap.is_sanitized(coretap):
        return "perf cannot load a library with a sanitizer"
    needs = {"wcet": "cbc", "--entry": "cbc", "8080": "live", "perf-env": "opencsd"}
    return next((f"{part} is missing: {parts[part]}" for word, part in needs.items()
                 if word in line and part in parts), None)
