// The page's side of the worker: one question at a time, the latest one wins, and a worker that takes too long is
// replaced by a fresh one.

const LIMIT = 5000; // milliseconds for one text

export class Translator {
  // `tell` is called with {loaded}, {ready}, {failed}, {answer, question, took}, {crashed} or {slow}.
  constructor(tell) {
    this.tell = tell;
    this.waiting = null;
    this.asked = null;
    this.id = 0;
    this.start();
  }

  start() {
    this.ready = false;
    this.worker = new Worker("./worker.js", { type: "module" });
    this.worker.onmessage = ({ data }) => this.heard(data);
    this.worker.onerror = (event) => this.heard({ failed: event.message || "the worker could not be started" });
  }

  // After {failed}: the same once more, with the question that waits.
  retry() {
    clearTimeout(this.clock);
    this.waiting ??= this.asked;
    this.asked = null;
    this.start();
  }

  ask(question) {
    this.waiting = question;
    if (this.ready && this.asked === null) this.send();
  }

  send() {
    if (this.waiting === null) return;
    this.asked = this.waiting;
    this.waiting = null;
    this.id += 1;
    this.worker.postMessage({ id: this.id, question: this.asked });
    this.clock = setTimeout(() => this.replace(), LIMIT);
  }

  heard(data) {
    if (data.ready) this.ready = true;
    if (data.failed) {
      this.ready = false;
      this.worker.terminate(); // what still loads is of no use
    }
    if ("id" in data) {
      data.question = this.asked;
      clearTimeout(this.clock);
      this.asked = null;
    }
    this.tell(data);
    if (this.ready && this.asked === null) this.send();
  }

  replace() {
    this.worker.terminate();
    this.asked = null;
    this.tell({ slow: LIMIT / 1000 });
    this.start();
  }
}
