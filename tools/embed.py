# SPDX-License-Identifier: Apache-2.0
"""Makes a C array from a text file: embed.py NAME INPUT OUTPUT."""
import sys

name, source, target = sys.argv[1:4]
with open(source, "rb") as f:
    data = f.read()
with open(target, "w", encoding="ascii") as f:
    f.write("#include <stddef.h>\n\nextern const char %s[];\nextern const size_t %s_size;\n\n" % (name, name))
    f.write("const char %s[] = {\n" % name)
    for i in range(0, len(data), 20):
        f.write("    " + " ".join("%d," % b for b in data[i:i + 20]) + "\n")
    f.write("    0};\nconst size_t %s_size = %d;\n" % (name, len(data)))
