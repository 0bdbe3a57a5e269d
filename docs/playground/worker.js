// Python in a worker: loads Pyodide and the translator from this site, then answers questions with JSON.
// Tells the page how many bytes have come while it loads. Nothing is fetched from elsewhere, nothing is sent.

import { loadPyodide } from "./pyodide/pyodide.mjs";

const get = self.fetch.bind(self);
let loaded = 0;

// Counts the bytes of each answer as they pass.
self.fetch = async (...request) => {
  const answer = await get(...request);
  if (!answer.ok || !answer.body) return answer;
  const counted = new TransformStream({
    transform(chunk, next) {
      loaded += chunk.byteLength;
      postMessage({ loaded });
      next.enqueue(chunk);
    },
  });
  return new Response(answer.body.pipeThrough(counted), { headers: answer.headers, status: answer.status });
};

const ready = (async () => {
  const packages = self.fetch("./packages.zip").then((answer) => answer.arrayBuffer());
  const python = await loadPyodide({ indexURL: "./pyodide/" });
  python.unpackArchive(await packages, "zip", { extractDir: "/packages" });
  python.runPython("import sys; sys.path.insert(0, '/packages'); import engine");
  const engine = python.globals.get("engine");
  const warm = JSON.stringify({ text: "void f(int* x) { *x = 1; }", defines: [], show: "python" });
  engine.answer(warm);
  return engine;
})();

ready.then(
  () => postMessage({ ready: true }),
  (error) => postMessage({ failed: String(error) }),
);

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
