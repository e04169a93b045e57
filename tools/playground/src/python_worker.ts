/** Sends requests to the worker one after the other, and replaces a worker that takes too long or breaks. */

import type { Answers, Kind, Message, Request } from "./protocol";

const LOAD_SECONDS = 120;

export class TooSlowError extends Error {}

interface Pending {
  request: Request;
  resolve(answer: unknown): void;
  reject(reason: Error): void;
}

export class PythonWorker {
  private worker: Worker;
  private isLoaded = false;
  private queue: Pending[] = [];
  private timer = 0;
  private number = 0;

  /** `seconds` is the time limit of an answer. `loading` gets what the first worker does until it has loaded. */
  constructor(
    private readonly seconds: number,
    private loading: (step: string) => void,
  ) {
    this.worker = this.start();
  }

  ask<K extends Kind>(kind: K, fields: Omit<Request, "id" | "kind">): Promise<Answers[K]> {
    return new Promise((resolve, reject) => {
      const request = { ...fields, id: ++this.number, kind };
      this.queue.push({ request, resolve: resolve as (answer: unknown) => void, reject });
      if (this.queue.length === 1) this.send();
    });
  }

  /** Drops the requests that have not been sent yet. */
  dropWaiting(): void {
    for (const pending of this.queue.splice(1)) pending.reject(new DOMException("a newer text replaces this one", "AbortError"));
  }

  private start(): Worker {
    const worker = new Worker(new URL("worker.js", document.baseURI), { type: "module", name: "krm-fn" });
    worker.addEventListener("message", (event: MessageEvent<Message>) => this.receive(event.data));
    worker.addEventListener("error", (event) => this.restart(new Error(`the worker stopped: ${event.message || "it cannot be loaded"}`)));
    this.timer = window.setTimeout(() => this.restart(new TooSlowError(`Python does not load in ${LOAD_SECONDS} seconds`)), LOAD_SECONDS * 1000);
    return worker;
  }

  private send(): void {
    if (!this.isLoaded || !this.queue[0]) return;
    this.worker.postMessage(this.queue[0].request);
    const message = `no answer in ${this.seconds} seconds, so the work was stopped; use a smaller input`;
    this.timer = window.setTimeout(() => this.restart(new TooSlowError(message)), this.seconds * 1000);
  }

  private receive(message: Message): void {
    if ("loads" in message) {
      this.loading(message.loads);
      return;
    }
    if ("loaded" in message) {
      this.loading("Step 3 of 3: loading the first answer …");
      this.loading = () => undefined; // a later worker follows a failure, whose reason stays
      window.clearTimeout(this.timer);
      this.isLoaded = true;
      this.send();
      return;
    }
    if ("failure" in message) {
      this.restart(new Error(message.failure)); // Python may be in any state after an error of WebAssembly
      return;
    }
    window.clearTimeout(this.timer);
    this.queue.shift()?.resolve(message.answer);
    this.send();
  }

  private restart(reason: Error): void {
    window.clearTimeout(this.timer);
    this.worker.terminate();
    const wasLoaded = this.isLoaded;
    this.isLoaded = false;
    this.queue.shift()?.reject(reason);
    if (wasLoaded) this.worker = this.start();
    else for (const pending of this.queue.splice(0)) pending.reject(reason);
  }
}
