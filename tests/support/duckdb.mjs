// SPDX-License-Identifier: Apache-2.0
// Runs SQL in DuckDB. Reads a JSON list of statements on standard input, prints a JSON list of their rows.
// usage: node duckdb.mjs FOLDER, which holds node_modules/@duckdb/node-api
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const require = createRequire(process.argv[2] + "/");
const { DuckDBInstance } = require("@duckdb/node-api");
const connection = await (await DuckDBInstance.create(":memory:")).connect();
const results = [];
for (const sql of JSON.parse(readFileSync(0, "utf8")))
  results.push((await connection.runAndReadAll(sql)).getRowsJson());
process.stdout.write(JSON.stringify(results));
