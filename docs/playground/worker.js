// Python in a worker: loads Pyodide and the translator from this site, then answers questions with JSON.
// Tells the page how many bytes have come while it loads. Nothing is fetched from elsewhere, nothing is sent.

import { loadPyodide } from "./pyodide/pyodide.mjs";

const get = self.fetch.bind(self);
let loaded = 0;

const failed = (error) => postMessage({ failed: String(error) });

// Counts the bytes of each answer as they pass. Reports what fails by itself: Pyodide waits forever for its own parts.
self.fetch = async (...request) => {
  const file = String(request[0]?.url ?? request[0]).split("/").pop();
  const answer = await get(...request).catch((error) => ({ ok: false, status: error.message }));
  if (!answer.ok) {
    failed(`${file}: ${answer.status}`);
    throw new Error(`${file}: ${answer.status}`);
  }
  if (!answer.body) return answer;
  const counted = new TransformStream({
    transform(chunk, next) {
      loaded += chunk.byteLength;
      postMessage({ loaded });
      next.enqueue(chunk);
    },
  });
  answer.body.pipeTo(counted.writable).catch((error) => failed(`${file}: ${error.message}`));
  return new Response(counted.readable, { headers: answer.headers, status: answer.status });
};

const ready = (async () => {
  const archive = self.fetch("./packages.zip").then((answer) => answer.arrayBuffer());
  const [python, packages] = await Promise.all([loadPyodide({ indexURL: "./pyodide/" }), archive]);
  python.unpackArchive(packages, "zip", { extractDir: "/packages" });
  python.runPython("import sys; sys.path.insert(0, '/packages'); import engine");
  const engine = python.globals.get("engine");
  const warm = JSON.stringify({ text: "void f(int* x) { *x = 1; }", defines: [], show: "python" });
  engine.answer(warm);
  return engine;
})();

ready.then(() => postMessage({ ready: true }), failed);

self.onmessage = async ({ data: { id, question } }) => {
  const engine = await ready;
  const started = performance.now();
  try {
    const answer = engine.answer(JSON.stringify(question));
    postMessage({ id, answer: JSON.parse(answer), took: performance.now() - started });
  } catch (error) {
    postMessage({ id, crashed: String(error) });
  }
};
