// Compiles Python's standard library. Pyodide brings its sources, and would compile each module at each start of the page.

const COMPILE = `
import importlib._bootstrap_external as bootstrap
import importlib.util
import zipfile

WITHOUT_DOCSTRINGS = 2
DATE = (2020, 1, 1, 0, 0, 0)  # the same for all files, so that the same sources give the same bytes

with zipfile.ZipFile("/sources.zip") as sources, zipfile.ZipFile("/compiled.zip", "w") as compiled:
    for entry in sources.infolist():
        name, content = entry.filename, sources.read(entry)
        if name.endswith(".py"):
            code = compile(content, f"/lib/{name}", "exec", dont_inherit=True, optimize=WITHOUT_DOCSTRINGS)
            name, content = f"{name}c", bytes(bootstrap._code_to_hash_pyc(code, importlib.util.source_hash(content), False))
        if not entry.is_dir():
            compiled.writestr(zipfile.ZipInfo(name, DATE), content, zipfile.ZIP_DEFLATED, 9)
`;

/** Returns the archive with the compiled modules in place of the sources. `loadPyodide` is that of the Pyodide whose archive it is. */
export async function compiledLibrary(loadPyodide, archive) {
  const python = await loadPyodide({ packages: [] });
  python.FS.writeFile("/sources.zip", archive);
  python.runPython(COMPILE);
  return python.FS.readFile("/compiled.zip");
}
