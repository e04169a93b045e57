/**
 * Completes fields and values of Dynamo's kinds from the schema of `krm-fn schema`, the one that other editors use.
 *
 * The libraries for this read one document of one schema. This schema chooses its definition by kind and version (`if` and `then`), and a
 * text has several documents, so this module finds the definition and the path itself, from the indentation.
 */

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";

export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  not?: Schema;
  required?: string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  if?: Schema;
  then?: Schema;
  definitions?: Record<string, Schema>;
}

const KEY = /^(?:"([^"]*)"|'([^']*)'|([^\s#'"][^#]*?))\s*:(?:\s|$)/;
const ENTRY = "-";

interface Line {
  /** The columns of the dashes before the key, and of the key itself. */
  dashes: number[];
  column: number;
  key: string | undefined;
}

/** Returns a source of completions for an editor of YAML. */
export function completions(schema: Schema): (context: CompletionContext) => CompletionResult | null {
  return (context) => {
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    const lines = context.state.doc.toString().split("\n");
    const value = /^\s*(?:- +)*([\w.\/-]+):\s+(\S*)$/.exec(before);
    const word = /^\s*(?:- +)*([\w.\/-]*)$/.exec(before);
    const at = schemasAt(schema, lines, line.number - 1, before);
    if (value) {
      const options = at.flatMap((parent) => values(schema, parent.properties?.[value[1] ?? ""] ?? {}));
      return result(context, value[2] ?? "", options);
    }
    if (!word || (!word[1] && !context.explicit)) return null;
    return result(context, word[1] ?? "", at.flatMap((parent) => fields(schema, parent)));
  };
}

function result(context: CompletionContext, typed: string, options: Completion[]): CompletionResult | null {
  const distinct = [...new Map(options.map((option) => [option.label, option])).values()];
  return distinct.length ? { from: context.pos - typed.length, options: distinct, validFor: /^[\w.\/-]*$/ } : null;
}

function fields(root: Schema, parent: Schema): Completion[] {
  return Object.entries(parent.properties ?? {}).map(([name, field]) => {
    const all = alternatives(root, field);
    const type = all.map((schema) => schema.type).find((known) => known !== undefined);
    const description = field.description ?? all.map((schema) => schema.description).find((text) => text);
    const isNested = type === "object" || type === "array";
    return { label: name, apply: `${name}:${isNested ? "" : " "}`, detail: String(type ?? ""), type: "property", ...(description ? { info: description } : {}) };
  });
}

function values(root: Schema, field: Schema): Completion[] {
  const all = alternatives(root, field);
  const texts = all.flatMap((schema) => [...(schema.enum ?? []), ...("const" in schema ? [schema.const] : [])]);
  const booleans = all.some((schema) => schema.type === "boolean") ? [true, false] : [];
  return [...texts, ...booleans].map((text) => ({ label: String(text), type: "constant" }));
}

/** Returns the schemas of the mapping that a line of a text belongs to. */
function schemasAt(root: Schema, lines: string[], number: number, before: string): Schema[] {
  const [first, last] = bounds(lines, number);
  const document = lines.slice(first, last);
  let schemas = alternatives(root, definition(root, document));
  if (pathOf(document, number - first, before).length === 0) schemas.push(root);
  for (const step of pathOf(document, number - first, before)) {
    schemas = schemas.flatMap((schema) => child(schema, step)).flatMap((schema) => alternatives(root, schema));
  }
  return schemas;
}

function child(schema: Schema, step: string): Schema[] {
  if (step === ENTRY) return schema.items ? [schema.items] : [];
  const known = schema.properties?.[step];
  if (known) return [known];
  return typeof schema.additionalProperties === "object" ? [schema.additionalProperties] : [];
}

/** Returns the first line of the document of a line, and the line behind its end. */
function bounds(lines: string[], number: number): [number, number] {
  const isMark = (text: string | undefined) => text !== undefined && /^---(\s|$)/.test(text);
  let first = number;
  while (first > 0 && !isMark(lines[first - 1])) first -= 1;
  let last = number + 1;
  while (last < lines.length && !isMark(lines[last])) last += 1;
  return [first, last];
}

/** Returns the definition of the kind that a document names. */
function definition(root: Schema, document: string[]): Schema {
  const top: Record<string, unknown> = {};
  for (const text of document) {
    const match = /^(kind|apiVersion):\s*["']?([^\s"'#]+)/.exec(text);
    if (match?.[1]) top[match[1]] = match[2];
  }
  return root.allOf?.find((rule) => rule.if && matches(rule.if, top))?.then ?? {};
}

/** True if values fit the conditions that the schema uses to choose a definition. */
function matches(condition: Schema, value: unknown): boolean {
  if ("const" in condition) return value === condition.const;
  if (condition.enum) return condition.enum.includes(value);
  if (condition.not) return !matches(condition.not, value);
  const mapping = value as Record<string, unknown>;
  const named = Object.entries(condition.properties ?? {});
  return (condition.required ?? []).every((name) => name in mapping) && named.every(([name, part]) => !(name in mapping) || matches(part, mapping[name]));
}

/** Returns the steps from the top of a document to the mapping of a line; ENTRY for an entry of a list. */
function pathOf(document: string[], number: number, before: string): string[] {
  const current = parse(before) ?? { dashes: [], column: before.length, key: undefined };
  const path = current.dashes.map(() => ENTRY);
  let column = current.dashes[0] ?? current.column;
  let isEntry = current.dashes.length > 0;
  for (let index = number - 1; index >= 0 && (column > 0 || isEntry); index -= 1) {
    const line = parse(document[index] ?? "");
    if (!line) continue;
    const outer = line.dashes.findIndex((dash) => dash < column && line.column >= column);
    if (line.key !== undefined && (line.column < column || (isEntry && line.column === column))) {
      path.unshift(...line.dashes.map(() => ENTRY), line.key); // its own dashes begin the entries around it
      column = line.dashes[0] ?? line.column;
      isEntry = line.dashes.length > 0;
    } else if (outer >= 0 && !isEntry) {
      path.unshift(...line.dashes.slice(outer).map(() => ENTRY));
      column = line.dashes[outer] ?? column;
      isEntry = true;
    }
  }
  return path;
}

function parse(text: string): Line | undefined {
  if (/^\s*(#|$)/.test(text)) return undefined;
  const dashes: number[] = [];
  let column = text.search(/\S/);
  for (let rest = text.slice(column); /^-(\s|$)/.test(rest); rest = text.slice(column)) {
    dashes.push(column);
    const next = rest.slice(1).search(/\S/);
    if (next < 0) {
      column = text.length;
      break;
    }
    column += 1 + next;
  }
  const match = KEY.exec(text.slice(column));
  return { dashes, column, key: match ? (match[1] ?? match[2] ?? match[3]) : undefined };
}

/** Returns the schemas that a value may have: its own, that of a reference, and those of alternatives. */
function alternatives(root: Schema, schema: Schema, depth = 0): Schema[] {
  if (depth > 8) return [];
  const name = schema.$ref?.split("/").at(-1);
  const referred = name ? [root.definitions?.[name] ?? {}] : [];
  const parts = [...referred, ...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [schema, ...parts.flatMap((part) => alternatives(root, part, depth + 1))];
}
