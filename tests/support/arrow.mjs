// SPDX-License-Identifier: Apache-2.0
// Reads streams of Arrow with the library of the Arrow project. Prints a JSON list with, of each, names and rows;
// numbers are texts, since JSON has not all of them.
// usage: node arrow.mjs FOLDER FILE..., FOLDER holds node_modules/apache-arrow
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const require = createRequire(process.argv[2] + "/");
const { tableFromIPC } = require("apache-arrow");
const plain = (value) => (typeof value === "bigint" ? `${value}` : value);
const results = [];
for (const path of process.argv.slice(3)) {
  const table = tableFromIPC(readFileSync(path));
  const names = table.schema.fields.map((field) => field.name);
  const columns = names.map((name) => [...table.getChild(name)].map(plain));
  const rows = Array.from({ length: table.numRows }, (_, row) => columns.map((column) => column[row]));
  results.push({ names, rows });
}
process.stdout.write(JSON.stringify(results));
