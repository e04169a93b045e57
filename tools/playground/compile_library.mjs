// Compiles the Python files in a folder, beside their sources, with Pyodide's own Python: node compile_library.mjs FOLDER
import { loadPyodide } from "pyodide";

const python = await loadPyodide({ packages: [] });
python.mountNodeFS("/library", process.argv[2]);
// Without dates in the compiled files, the same sources give the same bytes. The second level of optimization drops docstrings.
python.runPython(`
import compileall, py_compile
mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
if not compileall.compile_dir("/library", quiet=1, legacy=True, optimize=2, invalidation_mode=mode, stripdir="/library", prependdir="/lib"):
    raise SystemExit("a module of the standard library cannot be compiled")
`);
