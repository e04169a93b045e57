/** The page: reads the editors, asks Python, and shows the answers. */

import type { EditorView } from "@codemirror/view";
import * as editors from "./editors";
import { button, byId, element } from "./elements";
import * as link from "./link";
import type { Finding, Inputs, RenderedObject } from "./protocol";
import { PythonWorker, TooSlowError } from "./python_worker";
import type { Schema } from "./schema_completion";
import { Tabs } from "./tabs";
import * as views from "./views";

declare const VERSION: string;

interface Example extends Inputs {
  name: string;
  title: string;
}

const SECONDS = 20;
const PAUSE = 250;
const FILES: Record<string, keyof Inputs> = { "graph.yaml": "graph", "settings.yaml": "settings", "before.yaml": "old" };

class Page {
  private readonly inputTabs = new Tabs(byId("graph-tab").parentElement as HTMLElement, (name) => this.views[name as keyof Inputs].requestMeasure());
  private readonly outputTabs = new Tabs(byId("objects-tab").parentElement as HTMLElement, (name) => this.outputChosen(name));
  private readonly views: Record<keyof Inputs, EditorView>;
  private readonly objectsView: EditorView;
  private firstLines: number[] = [];
  private objects: RenderedObject[] = [];
  private order: number[] = [];
  private isCurrent = true;
  private visible = "objects";
  private timer = 0;
  private run = 0;
  private isFirst = true;

  constructor(
    private readonly python: PythonWorker,
    schema: Schema,
    private readonly examples: Example[],
  ) {
    const changed = () => this.changed();
    this.views = {
      graph: editors.input(byId("graph-panel"), "Graph", schema, changed),
      settings: editors.input(byId("settings-panel"), "Settings", schema, changed),
      old: editors.input(byId("old-panel"), "The graph before the change", schema, changed),
    };
    this.objectsView = editors.output(byId("objects"), "Objects. Press Enter on a line for its origins.", (line) => void this.explain(line));
    views.showOrigins(byId("origins"), [], this.go);
    this.listen();
  }

  /** Fills the editors from the link, or with the first example. */
  async open(): Promise<void> {
    let linked: link.Linked = {};
    try {
      linked = await link.read(location.hash);
    } catch (problem) {
      this.status(`The link cannot be read: ${String(problem)}`, true);
    }
    const example = this.examples.find((candidate) => candidate.name === linked.example) ?? this.examples[0];
    const hasTexts = linked.graph !== undefined || linked.settings !== undefined || linked.old !== undefined;
    const chosen = hasTexts ? { graph: "", settings: "", old: "", ...linked } : example;
    byId<HTMLSelectElement>("example").value = hasTexts ? "" : (example?.name ?? "");
    if (chosen) this.fill(chosen);
  }

  private listen(): void {
    const select = byId<HTMLSelectElement>("example");
    const own = new Option("Your own", "");
    select.append(own, ...this.examples.map((example) => new Option(example.title, example.name)));
    select.addEventListener("change", () => {
      const example = this.examples.find((candidate) => candidate.name === select.value);
      if (example) this.fill(example);
    });
    byId<HTMLSelectElement>("object").addEventListener("change", (event) => {
      const line = this.firstLines[Number((event.target as HTMLSelectElement).value)];
      if (line) editors.go(this.objectsView, line);
    });
    byId("copy-old").addEventListener("click", () => {
      editors.write(this.views.old, this.text("graph"));
      this.outputTabs.show("changes");
    });
    byId("copy-link").addEventListener("click", () => void this.copyLink());
    byId("download").addEventListener("click", () => this.download());
    window.addEventListener("hashchange", () => void this.open());
  }

  private fill(inputs: Inputs): void {
    for (const name of ["graph", "settings", "old"] as const) editors.write(this.views[name], inputs[name] ?? "");
    this.inputTabs.show("graph");
    this.changed(0);
  }

  private text(name: keyof Inputs): string {
    return this.views[name].state.doc.toString();
  }

  private changed(pause = PAUSE): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.update(), pause);
  }

  /** Renders the texts, and updates the panels that are not visible afterwards. */
  private async update(): Promise<void> {
    const run = ++this.run;
    this.python.dropWaiting();
    const inputs = { graph: this.text("graph"), settings: this.text("settings"), old: "" };
    const started = performance.now();
    try {
      const rendered = await this.python.ask("render", inputs);
      if (run !== this.run) return;
      const errors = rendered.findings.filter((finding) => finding.severity === "error").length;
      this.keepObjects(errors > 0);
      if (!errors) this.showObjects(rendered.objects);
      this.showFindings(rendered.findings);
      const milliseconds = Math.round(performance.now() - started);
      this.status(errors ? `${count(errors, "error")}: see Findings` : `${count(rendered.objects.length, "object")} in ${milliseconds} ms`, errors > 0);
      performance.mark("rendered", { detail: milliseconds });
      this.keepOffline();
      const checked = await this.python.ask("check", inputs);
      if (run !== this.run) return;
      this.showFindings(checked.findings);
      if (this.visible === "picture") await this.showPicture();
      if (this.visible === "changes") await this.showChanges();
      if (this.visible === "objects" && this.isCurrent && this.objects.length) await this.python.ask("explain", { ...inputs, object: 0 }); // the first one is slow
      document.body.dataset["run"] = String(run);
    } catch (problem) {
      this.failed(problem, run);
    }
  }

  private failed(problem: unknown, run: number): void {
    if (run !== this.run || (problem instanceof DOMException && problem.name === "AbortError")) return;
    const reason = problem instanceof Error ? problem.message : String(problem);
    this.status(problem instanceof TooSlowError ? reason : `The input cannot be rendered: ${reason}`, true);
    this.keepObjects(true);
    this.showFindings([]);
    document.body.dataset["run"] = String(run);
  }

  private status(text: string, isFailed = false): void {
    const line = byId("status");
    line.textContent = text;
    line.classList.toggle("failed", isFailed);
  }

  /** Keeps the objects of the last input without errors, and says so; or takes the words away. */
  private keepObjects(isKept: boolean): void {
    this.isCurrent = !isKept;
    const isStale = isKept && this.objects.length > 0;
    byId("stale").hidden = !isStale;
    byId("objects").classList.toggle("stale", isStale);
    if (isKept) views.showOrigins(byId("origins"), [], this.go);
  }

  /** Shows objects with pods first. `order` has their numbers in the answer, whose order is that of applying. */
  private showObjects(objects: RenderedObject[]): void {
    const numbers = objects.map((_, number) => number);
    this.order = [...numbers.filter((number) => objects[number]?.hasPods), ...numbers.filter((number) => !objects[number]?.hasPods)];
    this.objects = objects;
    this.firstLines = [];
    let text = "";
    let line = 1;
    for (const [index, number] of this.order.entries()) {
      const part = (index ? "---\n" : "") + (objects[number]?.yaml ?? "");
      this.firstLines.push(line + (index ? 1 : 0));
      line += part.split("\n").length - 1;
      text += part;
    }
    editors.write(this.objectsView, text);
    byId("objects-count").textContent = objects.length ? String(objects.length) : "";
    const select = byId<HTMLSelectElement>("object");
    const shown = this.order.flatMap((number) => objects[number] ?? []);
    select.replaceChildren(...shown.map((object, index) => new Option(`${object.kind}/${object.name}`, String(index))));
    select.disabled = !objects.length;
    byId<HTMLButtonElement>("download").disabled = !objects.length;
    views.showOrigins(byId("origins"), [], this.go);
  }

  private showFindings(findings: Finding[]): void {
    views.showFindings(byId("findings-panel"), findings, {
      go: this.go,
      page: async (code) => (await this.python.ask("code", { code })).markdown,
      fix: (finding) => void this.fix(finding),
    });
    for (const [file, name] of Object.entries(FILES)) {
      editors.showFindings(this.views[name], findings.filter((finding) => (finding.file ?? "graph.yaml") === file));
    }
    const worst = ["error", "warning", "info"].find((severity) => findings.some((finding) => finding.severity === severity));
    const badge = byId("findings-count");
    badge.textContent = findings.length ? String(findings.length) : "";
    badge.className = `count ${worst ?? ""}`;
  }

  /** Makes the fix of a finding in the editors, where the reader can undo it. */
  private async fix(finding: number): Promise<void> {
    const run = this.run;
    try {
      const fixed = await this.python.ask("fix", { graph: this.text("graph"), settings: this.text("settings"), finding });
      if (run !== this.run) return;
      editors.write(this.views.graph, fixed.graph);
      editors.write(this.views.settings, fixed.settings);
    } catch (problem) {
      this.failed(problem, run);
    }
  }

  private outputChosen(name: string): void {
    this.visible = name;
    const shown = name === "picture" ? this.showPicture() : name === "changes" ? this.showChanges() : Promise.resolve();
    shown.catch((problem: unknown) => this.failed(problem, this.run));
  }

  private async showPicture(): Promise<void> {
    const picture = await this.python.ask("graph", { graph: this.text("graph"), settings: this.text("settings") });
    views.showPicture(byId("picture-panel"), picture, false);
  }

  private async showChanges(): Promise<void> {
    const panel = byId("changes-panel");
    const old = this.text("old");
    if (!old.trim()) {
      const start = button("Copy the graph there and change it", () => {
        editors.write(this.views.old, this.text("graph"));
        this.inputTabs.show("graph");
        editors.go(this.views.graph, 1);
      });
      panel.replaceChildren(element("p", "", "Write the graph before your change into the tab “Before the change”. "), start);
      return;
    }
    views.showChanges(panel, await this.python.ask("diff", { graph: this.text("graph"), settings: this.text("settings"), old }));
  }

  /** Shows the origins of a line of the output, and marks the lines of the input that made it. */
  private async explain(line: number): Promise<void> {
    const index = this.firstLines.findLastIndex((first) => first <= line);
    const [first, object] = [this.firstLines[index], this.order[index]];
    if (first === undefined || object === undefined || !this.isCurrent) return;
    const run = this.run;
    try {
      const answer = await this.python.ask("explain", { graph: this.text("graph"), settings: this.text("settings"), object });
      if (run !== this.run) return;
      const fields = answer.fields.filter((field) => field.outputLine === line - first + 1);
      views.showOrigins(byId("origins"), fields, this.go);
      const origins = fields.flatMap((field) => field.origins);
      editors.mark(this.objectsView, fields.length ? [line] : []);
      for (const [file, name] of Object.entries(FILES)) {
        editors.mark(this.views[name], origins.flatMap((origin) => (origin.file === file && origin.line ? [origin.line] : [])));
      }
    } catch (problem) {
      this.failed(problem, run);
    }
  }

  private readonly go = (file: string, line: number): void => {
    const name = FILES[file];
    if (!name) return;
    this.inputTabs.show(name);
    editors.go(this.views[name], line);
  };

  private async copyLink(): Promise<void> {
    const inputs = { graph: this.text("graph"), settings: this.text("settings"), old: this.text("old") };
    const fragment = await link.write(inputs);
    history.replaceState(null, "", fragment);
    try {
      await navigator.clipboard.writeText(location.href);
      this.status("The link is in the clipboard. It holds your input.");
    } catch {
      this.status("The address of this page is now the link. It holds your input.");
    }
  }

  private download(): void {
    const anchor = element("a");
    anchor.href = URL.createObjectURL(new Blob([this.objects.map((object) => object.yaml).join("---\n")], { type: "application/yaml" }));
    anchor.download = "objects.yaml";
    anchor.click();
    window.setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
  }

  /** Keeps all files for use without a network, after the first render so that it does not wait for them. */
  private keepOffline(): void {
    if (!this.isFirst) return;
    this.isFirst = false;
    if ("serviceWorker" in navigator && window.isSecureContext) {
      navigator.serviceWorker.register("service_worker.js", { type: "module" }).catch(() => undefined); // the page works without it
    }
  }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

async function read<T>(file: string): Promise<T> {
  return (await fetch(file)).json() as Promise<T>;
}

const python = new PythonWorker(SECONDS, (step) => void (byId("status").textContent = step)); // loads while the editors are made
const [schema, examples] = await Promise.all([read<Schema>("schema.json"), read<Example[]>("examples.json")]);
byId("version").textContent = VERSION;
await new Page(python, schema, examples).open();
