/** The messages between the page and the worker, and the answers of playground_requests.py. */

export interface Inputs {
  graph: string;
  settings: string;
  old: string;
}

export type Kind = "render" | "check" | "fix" | "graph" | "explain" | "diff" | "code";

export interface Request extends Partial<Inputs> {
  id: number;
  kind: Kind;
  object?: number;
  code?: string;
  finding?: number;
}

export interface Finding {
  severity: "error" | "warning" | "info";
  code: string;
  message: string;
  field: string | null;
  file: string | null;
  line: number | null;
  column: number | null;
  fix?: string | null;
}

export interface RenderedObject {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  yaml: string;
  hasPods: boolean;
}

export interface Origin {
  kind: "user" | "config" | "rule" | "unknown";
  file?: string;
  line?: number;
  field?: string;
  key?: string;
  default?: boolean;
  name?: string;
  says?: string;
}

export interface ExplainedField {
  field: string;
  outputLine: number;
  origins: Origin[];
  wonOver?: { value: unknown; origins: Origin[] }[];
}

export interface Picture {
  svg: string;
  nodes: string[];
  arrows: string[];
}

export interface Answers {
  render: { objects: RenderedObject[]; findings: Finding[] };
  check: { findings: Finding[] };
  fix: { graph: string; settings: string };
  graph: Picture;
  explain: { fields: ExplainedField[] };
  diff: Picture & { text: string; findings: Finding[] };
  code: { markdown: string };
}

/** A message of the worker: what it loads, that it has loaded, an answer, or the reason why there is none. */
export type Message = { loads: string } | { loaded: true } | { id: number; answer: unknown } | { id: number; failure: string };
