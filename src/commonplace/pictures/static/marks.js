// What is drawn, as things that can be pointed at: circles of memories, and bars or circles of groups.
const data = JSON.parse(document.getElementById("data").textContent);
const names = Object.keys(data.names);
const said = document.getElementById("said");
const fold = (text) => text.normalize("NFKC").toLowerCase();
const fill = (text, facts) => text.replace(/\{(\w+)\}/g, (_, key) => facts[key]?.toLocaleString(document.documentElement.lang) ?? "");

class Mark {
  constructor(panel, element, memory, title) {
    const of = (name) => Number(element.getAttribute(name));
    Object.assign(this, { panel, element, memory, title });
    this.round = element.localName === "circle";
    [this.w, this.h] = this.round ? [2 * of("r"), 2 * of("r")] : [of("width"), of("height")];
    this.x = this.round ? of("cx") : of("x") + this.w / 2;
    this.y = this.flat = this.round ? of("cy") : of("y") + this.h / 2;
    this.r = of("r");
  }

  // How far a point is from it; within is nearest.
  away(x, y) {
    if (this.round) return Math.hypot(x - this.x, y - this.y) - this.r;
    return Math.max(Math.abs(x - this.x) - this.w / 2, Math.abs(y - this.y) - this.h / 2);
  }

  get text() {
    return this.memory < 0 ? this.title : data.text[this.memory];
  }

  get hay() {
    if (this.memory < 0) return fold(this.title);
    const m = this.memory;
    const words = [data.text[m], names[data.category[m]], names[data.domain[m]], data.id[m], ...tagsOf(m)];
    return fold(words.join("\n"));
  }

  get isOff() {
    return this.element.closest(".off") !== null;
  }
}

const tagsOf = (memory) => data.tags[memory].map((tag) => names[tag]);

const panels = [...document.querySelectorAll("svg.sheet")].map((sheet, at) => {
  const [memories, more, ties] = data.panels[at];
  const panel = { sheet, field: sheet.querySelector("svg.field"), section: sheet.closest("section"), more: new Map(more) };
  const dots = [...sheet.querySelectorAll("g.dot circle")].map((dot, i) => new Mark(panel, dot, memories[i], ""));
  const groups = [...sheet.querySelectorAll(".box, .disc")].map((group) => {
    const title = group.querySelector("title");
    const mark = new Mark(panel, group, -1, title.textContent);
    title.remove(); // the card says it
    return mark;
  });
  panel.dots = dots;
  panel.marks = [...groups, ...dots];
  panel.ties = new Map();
  for (const [from, to, bend] of ties) {
    for (const end of [from, to]) {
      if (!panel.ties.has(end)) panel.ties.set(end, []);
      panel.ties.get(end).push([dots[from], dots[to], bend]);
    }
  }
  return panel;
});
const marks = panels.flatMap((panel) => panel.marks);

// Which marks are dimmed: each reason is a test that a mark must pass.
const reasons = new Map();
const dim = (name, test) => {
  if (test) reasons.set(name, test);
  else reasons.delete(name);
  let found = 0;
  const tests = [...reasons.values()];
  for (const mark of marks) {
    const passes = tests.every((passing) => passing(mark));
    mark.element.classList.toggle("dim", !passes);
    mark.element.classList.toggle("hit", passes && reasons.has("search"));
    found += passes ? 1 : 0;
  }
  for (const panel of panels) panel.sheet.classList.toggle("asked", reasons.size > 0);
  return found;
};
