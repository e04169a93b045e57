/**
 * Runs the real Python package in a Web Worker: Pyodide, with PyYAML's parser in Python. The page stops the worker if an answer takes too long.
 *
 * The worker reads the files of the playground and nothing else. Python evaluates no text of a user.
 */

import type { Message, Request } from "./protocol";

const HERE = new URL(".", self.location.href);
const PACKAGES = "/lib/playground";

interface Pyodide {
  unpackArchive(archive: ArrayBuffer, format: string, options: { extractDir: string }): void;
  runPython(code: string): (request: string) => string;
}

async function loadPython(): Promise<(request: string) => string> {
  const archive = fetch(new URL("python.zip", HERE)).then((response) => response.arrayBuffer());
  post({ loads: "Step 1 of 3: loading Python …" });
  const { loadPyodide } = await import(new URL("pyodide/pyodide.mjs", HERE).href);
  const python: Pyodide = await loadPyodide({ indexURL: new URL("pyodide/", HERE).href, packages: [] });
  post({ loads: "Step 2 of 3: loading krm-fn …" });
  python.unpackArchive(await archive, "zip", { extractDir: PACKAGES });
  return python.runPython(`import sys\nsys.path.append("${PACKAGES}")\nfrom playground_requests import answer\nanswer`);
}

/** Draws the diagram of an answer. It is an image, so that nothing in it can run. */
async function withPicture(answer: { dot?: string; svg?: string }): Promise<unknown> {
  if (answer.dot === undefined) return answer;
  const { dot, ...others } = answer;
  if (!dot) return { ...others, svg: "" };
  const { Graphviz } = await import("@hpcc-js/wasm-graphviz");
  return { ...others, svg: (await Graphviz.load()).dot(dot) };
}

function post(message: Message): void {
  self.postMessage(message);
}

const python = loadPython();
python.then(
  () => post({ loaded: true }),
  (problem: unknown) => post({ id: 0, failure: `Python does not start: ${String(problem)}` }),
);

self.addEventListener("message", async (event: MessageEvent<Request>) => {
  const { id } = event.data;
  try {
    const answer = (await python)(JSON.stringify(event.data));
    post({ id, answer: await withPicture(JSON.parse(answer)) });
  } catch (problem) {
    post({ id, failure: String(problem).trim().split("\n").at(-1) ?? "" });
  }
});
