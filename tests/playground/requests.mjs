// Answers requests with the real Pyodide, as the worker of the page does: node requests.mjs PLAYGROUND. One request and one answer
// a line. The first line that it prints has the version of Python.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [playground] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(join(playground, "pyodide", "pyodide.mjs")).href);
const python = await loadPyodide({ packages: [] });
const bytes = readFileSync(join(playground, "python.zip"));
python.unpackArchive(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), "zip", { extractDir: "/lib/playground" });
const answer = python.runPython("import sys\nsys.path.append('/lib/playground')\nfrom playground_requests import answer\nanswer");
console.log(JSON.stringify({ python: python.runPython("sys.version.split()[0]"), parser: python.runPython("from krm_fn.base.yaml import stream\nstream.Parser.__name__") }));
for await (const line of createInterface({ input: process.stdin })) console.log(answer(line));
