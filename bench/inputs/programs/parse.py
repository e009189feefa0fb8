# SPDX-License-Identifier: Apache-2.0
import ast, json, sys, tokenize, re, io
text = open(sys.argv[1], encoding="utf-8", errors="replace").read()
names = {}
for part in re.split(r"(?m)^(?=import |from )", text):
    try:
        tree = ast.parse(part)
    except SyntaxError:
        continue
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            names[node.id] = names.get(node.id, 0) + 1
    json.loads(json.dumps(sorted(names.items())))
print(len(names))
