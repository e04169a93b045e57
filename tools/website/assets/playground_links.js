// Adds a link to the playground below each graph of a page, and to the top of the page of an example.
{
  const playground = new URL("../playground/index.html", document.currentScript.src);

  function link(fragment) {
    const anchor = document.createElement("a");
    anchor.className = "playground-link";
    anchor.href = playground.href + fragment;
    anchor.textContent = "Open in the playground";
    const paragraph = document.createElement("p");
    paragraph.append(anchor);
    return paragraph;
  }

  for (const code of document.querySelectorAll("article pre > code")) {
    const text = code.textContent;
    if (/^apiVersion: nvidia\.com\//m.test(text) && /^kind: Dynamo(Graph|Component)/m.test(text)) {
      (code.closest(".highlight") ?? code.parentElement).after(link(`#graph=${encodeURIComponent(text)}`));
    }
  }

  const example = /\/examples\/([\w-]+)\//.exec(location.pathname)?.[1];
  if (example) {
    fetch(new URL("examples.json", playground))
      .then((response) => response.json())
      .then((examples) => {
        if (examples.some(({ name }) => name === example)) document.querySelector("article h1")?.after(link(`#example=${example}`));
      })
      .catch(() => undefined); // a copy on a disk cannot read other files
  }
}
