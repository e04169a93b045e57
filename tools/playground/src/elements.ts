/** Creates elements. Texts become text nodes, so that nothing in an input is read as HTML. */

type Content = Node | string;

/** Creates an element with a class and contents. */
export function element<K extends keyof HTMLElementTagNameMap>(name: K, className = "", ...contents: Content[]): HTMLElementTagNameMap[K] {
  const created = document.createElement(name);
  if (className) created.className = className;
  created.append(...contents);
  return created;
}

/** Creates a button. */
export function button(text: string, clicked: () => void): HTMLButtonElement {
  const created = element("button", "", text);
  created.type = "button";
  created.addEventListener("click", clicked);
  return created;
}

/** Returns the element with an id. Throws an error if the page has none. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  return found as T;
}
