// `node compile.mjs PYODIDE ARCHIVE`: the Python in an archive, compiled by the Pyodide that will run it, is added to
// the archive. Starting the playground then compiles nothing. The same files give the same bytes.

import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, archive] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const python = await loadPyodide({ indexURL: folder });
python.unpackArchive(new Uint8Array(readFileSync(archive)), "zip", { extractDir: "/packages" });
const compiled = python.runPython(`
import compileall, io, pathlib, py_compile, zipfile

compileall.compile_dir("/packages", quiet=1, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
archive = io.BytesIO()
with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
    for path in sorted(pathlib.Path("/packages").rglob("*")):
        if path.is_file():
            entry = zipfile.ZipInfo(str(path.relative_to("/packages")))
            made.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
archive.getvalue()
`);
writeFileSync(archive, compiled.toJs());
