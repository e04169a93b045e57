/** Tabs with the pattern of the ARIA Authoring Practices: arrow keys move between tabs, Tab goes to the panel. */

export class Tabs {
  private readonly tabs: HTMLElement[];

  constructor(
    list: HTMLElement,
    private readonly selected: (name: string) => void = () => undefined,
  ) {
    this.tabs = [...list.querySelectorAll<HTMLElement>("[role=tab]")];
    for (const tab of this.tabs) {
      tab.addEventListener("click", () => this.select(tab));
      tab.addEventListener("keydown", (event) => this.move(event, tab));
    }
  }

  show(name: string): void {
    const tab = this.tabs.find((candidate) => candidate.dataset["name"] === name);
    if (tab) this.select(tab);
  }

  private move(event: KeyboardEvent, tab: HTMLElement): void {
    const last = this.tabs.length - 1;
    const index = this.tabs.indexOf(tab);
    const targets: Record<string, number> = {
      ArrowRight: index === last ? 0 : index + 1,
      ArrowLeft: index === 0 ? last : index - 1,
      Home: 0,
      End: last,
    };
    const target = this.tabs[targets[event.key] ?? -1];
    if (!target) return;
    event.preventDefault();
    this.select(target);
    target.focus();
  }

  private select(tab: HTMLElement): void {
    for (const candidate of this.tabs) {
      const isSelected = candidate === tab;
      candidate.setAttribute("aria-selected", String(isSelected));
      candidate.tabIndex = isSelected ? 0 : -1;
      const panel = document.getElementById(candidate.getAttribute("aria-controls") ?? "");
      if (panel) panel.hidden = !isSelected;
    }
    this.selected(tab.dataset["name"] ?? "");
  }
}
