# SPDX-License-Identifier: Apache-2.0
"""Returns which optional parts a coretap was built without, from 'coretap --version'."""
import re
import subprocess


def missing_parts(coretap):
    """Returns name -> what cannot be done, and the Debian package that is missing."""
    text = subprocess.run([coretap, "--version"], capture_output=True, text=True, check=True).stdout
    return dict(re.findall(r"^(\w+) +missing: (.*)$", text, re.MULTILINE))
