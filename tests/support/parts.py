# SPDX-License-Identifier: Apache-2.0
"""The optional parts that a coretap was built without, as 'coretap --version' has them."""
import re
import subprocess


def missing_parts(coretap):
    """Name -> what cannot be done, and the Debian package."""
    text = subprocess.run([coretap, "--version"], capture_output=True, text=True, check=True).stdout
    return dict(re.findall(r"^(\w+) +missing: (.*)$", text, re.MULTILINE))
