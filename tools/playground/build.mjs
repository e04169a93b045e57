// Bundles the scripts: node build.mjs FOLDER VERSION. The folder already has the other files, which the service worker keeps.
import { createHash } from "node:crypto";
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const [folder, version] = process.argv.slice(2);
const common = { bundle: true, format: "esm", target: "es2022", minify: true, absWorkingDir: here, logLevel: "warning", legalComments: "linked" };

const PYODIDE = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json"];
for (const name of PYODIDE) copyFileSync(join(here, "node_modules", "pyodide", name), join(folder, "pyodide", name));

await build({
  ...common,
  entryPoints: ["src/page.ts", "src/worker.ts"],
  outdir: folder,
  splitting: true,
  define: { VERSION: JSON.stringify(version) },
});

const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
  .filter((name) => !name.endsWith(".txt"))
  .sort();
const hash = createHash("sha256");
for (const name of files) hash.update(name).update(readFileSync(join(folder, name)));

await build({
  ...common,
  entryPoints: ["src/service_worker.ts"],
  outdir: folder,
  define: { FILES: JSON.stringify(["./", ...files]), VERSION: JSON.stringify(hash.digest("hex").slice(0, 16)) },
});
