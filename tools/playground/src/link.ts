/** The part of the address behind `#`. Browsers do not send it, so the input in a link reaches no server. */

import type { Inputs } from "./protocol";

const LIMIT = 2 * 1024 * 1024;

/** The input of a link: texts, or the name of an example. */
export type Linked = Partial<Inputs> & { example?: string };

/** Writes the texts into a fragment, compressed. */
export async function write(inputs: Inputs): Promise<string> {
  const texts = Object.fromEntries(Object.entries(inputs).filter(([, text]) => text));
  const stream = new Blob([JSON.stringify(texts)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return `#input=${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** Reads a fragment: `#input=` of `write`, `#graph=` with a text, or `#example=` with a name. Throws an error for a broken link. */
export async function read(fragment: string): Promise<Linked> {
  const [name, value = ""] = split(fragment.replace(/^#/, ""));
  if (name === "example") return { example: decodeURIComponent(value) };
  if (name === "graph") return { graph: decodeURIComponent(value) };
  if (name !== "input") return {};
  const texts: unknown = JSON.parse(await unpack(value));
  if (typeof texts !== "object" || texts === null) throw new Error("the link has no texts");
  const entries = Object.entries(texts).filter(([key, text]) => ["graph", "settings", "old"].includes(key) && typeof text === "string");
  return Object.fromEntries(entries);
}

function split(fragment: string): [string, string?] {
  const at = fragment.indexOf("=");
  return at < 0 ? [fragment] : [fragment.slice(0, at), fragment.slice(at + 1)];
}

async function unpack(text: string): Promise<string> {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let unpacked = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    unpacked += decoder.decode(part.value, { stream: true });
    if (unpacked.length > LIMIT) throw new Error("the input in the link is too large");
  }
  return unpacked + decoder.decode();
}
