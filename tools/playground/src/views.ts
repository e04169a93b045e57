/** The panels of the output: findings, origins of a field, the picture, and the changes. */

import { button, element } from "./elements";
import type { Answers, ExplainedField, Finding, Origin, Picture } from "./protocol";

/** Goes to a line of a file: `graph.yaml`, `settings.yaml` or `before.yaml`. */
export type Go = (file: string, line: number) => void;

/** What the buttons of findings do: go to a line, load the page of a code, or make the fix of a finding, by its number. */
export interface FindingActions {
  go: Go;
  page(code: string): Promise<string>;
  fix(finding: number): void;
}

/** Shows findings, each with a button for its line, one for its fix, and the page of its code. */
export function showFindings(panel: HTMLElement, findings: Finding[], actions: FindingActions): void {
  if (!findings.length) {
    panel.replaceChildren(element("p", "quiet", "No findings."));
    return;
  }
  const list = element("ul", "findings");
  for (const [number, finding] of findings.entries()) {
    const head = element("p", "", element("span", `severity ${finding.severity}`, finding.severity), ` ${finding.code} `);
    if (finding.file && finding.line) head.append(lineButton(finding.file, finding.line, actions.go));
    if (finding.fix) head.append(" ", button(finding.fix, () => actions.fix(number)));
    const entry = element("li", "", head);
    if (finding.field) entry.append(element("p", "quiet", finding.field));
    entry.append(element("p", "", finding.message), codePage(finding.code, actions.page));
    list.append(entry);
  }
  panel.replaceChildren(list);
}

function codePage(code: string, page: (code: string) => Promise<string>): HTMLElement {
  const text = element("pre");
  const details = element("details", "", element("summary", "", `What ${code} means, and the fix`), text);
  details.addEventListener("toggle", async () => {
    if (details.open && !text.textContent) text.textContent = await page(code).catch((problem: unknown) => String(problem));
  });
  return details;
}

function lineButton(file: string, line: number, go: Go): HTMLButtonElement {
  return button(`${file}:${line}`, () => go(file, line));
}

/** Shows the origins of the fields on one line of the output. */
export function showOrigins(panel: HTMLElement, fields: ExplainedField[], go: Go): void {
  if (!fields.length) {
    panel.replaceChildren(element("p", "quiet", "Choose a line with a value: click it, or press Enter on it. Its origins are then here."));
    return;
  }
  panel.replaceChildren(
    ...fields.flatMap((field) => {
      const list = element("ul");
      list.append(...field.origins.map((origin) => element("li", "", ...describe(origin, go))));
      for (const old of field.wonOver ?? []) {
        const parts = old.origins.flatMap((origin) => [" ", ...describe(origin, go)]);
        list.append(element("li", "", `instead of ${JSON.stringify(old.value)}, which comes from`, ...parts));
      }
      return [element("h3", "", field.field), list];
    }),
  );
}

function describe(origin: Origin, go: Go): (Node | string)[] {
  if (origin.kind === "rule") return [element("strong", "", "Rule "), `${origin.name}: ${origin.says}`];
  if (origin.kind === "unknown") return ["The origin is not known."];
  const name = origin.kind === "user" ? origin.field : origin.key;
  const kind = element("strong", "", origin.kind === "user" ? "Your field " : "Setting ");
  const location = origin.file && origin.line ? [" ", lineButton(origin.file, origin.line, go)] : [];
  return [kind, `${name}${origin.default ? " (default)" : ""}`, ...location];
}

/** Shows a diagram as an image, and its nodes and arrows as text. */
export function showPicture(panel: HTMLElement, picture: Picture, colours: boolean): void {
  if (!picture.svg) {
    panel.replaceChildren(element("p", "quiet", "There is no graph to draw."));
    return;
  }
  const image = element("img", "picture");
  const address = URL.createObjectURL(new Blob([picture.svg], { type: "image/svg+xml" }));
  image.addEventListener("load", () => URL.revokeObjectURL(address), { once: true });
  image.alt = `A diagram of ${picture.nodes.length} parts and ${picture.arrows.length} connections. The text below it names them.`;
  image.src = address;
  const list = (texts: string[]) => {
    const created = element("ul", "arrows");
    created.append(...texts.map((text) => element("li", "", text)));
    return created;
  };
  const details = element("details", "", element("summary", "", "The diagram as text"), list(picture.nodes), element("p", "quiet", "Connections"), list(picture.arrows));
  panel.replaceChildren(image, ...(colours ? [element("p", "quiet", "New, removed and restarting services have a colour and a word.")] : []), details);
}

/** Shows the report of a change, and its diagram. */
export function showChanges(panel: HTMLElement, changes: Answers["diff"]): void {
  const picture = element("div");
  showPicture(picture, changes, true);
  panel.replaceChildren(element("pre", "", ...(changes.text ? coloured(changes.text) : ["Nothing changes."])), picture);
}

/** Turns the colours of a terminal (SGR of ECMA-48) into elements with a class. */
function coloured(text: string): (Node | string)[] {
  const classes = new Set<string>();
  return text.split(/\x1b\[(\d+)m/).flatMap((part, index): (Node | string)[] => {
    if (index % 2 === 0) return part && classes.size ? [element("span", [...classes].join(" "), part)] : [part];
    if (part === "0") classes.clear();
    else classes.add(`sgr-${part}`);
    return [];
  });
}
