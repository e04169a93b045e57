// Repairs of what the theme writes while a page runs, for readers with a keyboard or a screen reader.
{
  const repair = () => {
    // The buttons of a block are no way through the site, and a page has many.
    document.querySelectorAll("nav.md-code__nav:not([role])").forEach((buttons) => buttons.setAttribute("role", "none"));
    // A copy of a console session has its commands, without prompts and output.
    document.querySelectorAll(".language-console button[data-md-type=copy]:not([data-clipboard-text])").forEach((button) => {
      const session = button.closest("pre").querySelector("code").cloneNode(true);
      session.querySelectorAll(".gp, .go").forEach((part) => part.remove());
      button.dataset.clipboardText = session.textContent.split("\n").filter((line) => line.trim()).join("\n");
    });
    // A wide table or block scrolls with the arrow keys.
    document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex]), .md-typeset pre > code:not([tabindex])").forEach((region) => {
      region.tabIndex = 0;
    });
  };
  new MutationObserver(repair).observe(document.body, { childList: true, subtree: true });
  repair();
}
