// The card beside what is pointed at, and the ties of a memory while it is pointed at.
const card = document.getElementById("card");
const SVG = "http://www.w3.org/2000/svg";
let current = null;
let pinned = false;

const line = (name, text) => {
  const element = document.createElement(name);
  element.dir = "auto";
  element.textContent = text;
  return element;
};

const lines = (mark) => {
  if (mark.memory < 0) return [line("p", mark.title)];
  const m = mark.memory;
  const facts = [names[data.domain[m]], names[data.category[m]], data.at[m]];
  const figures = [`${data.words.importance} ${data.importance[m]}`, fill(data.words.uses, { n: data.uses[m] })];
  const tags = tagsOf(m).map((tag) => `#${tag}`);
  return [
    line("p", data.text[m]),
    line("small", facts.join(" · ")),
    line("small", figures.join(" · ")),
    ...(tags.length ? [line("small", tags.join(" "))] : []),
    line("code", data.id[m]),
  ];
};

const glow = (mark) => {
  for (const old of document.querySelectorAll(".glow")) old.remove();
  if (!mark || mark.memory < 0) return;
  const ties = mark.panel.ties.get(mark.panel.dots.indexOf(mark)) ?? [];
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("class", "glow");
  path.setAttribute("transform", `scale(1 ${mark.panel.spread ?? 1})`);
  path.setAttribute("d", ties.map(([a, b, bend]) => {
    const x = (a.x + b.x) / 2 - bend * (b.flat - a.flat);
    const y = (a.flat + b.flat) / 2 + bend * (b.x - a.x);
    return `M${a.x} ${a.flat}Q${x} ${y} ${b.x} ${b.flat}`;
  }).join(""));
  const first = mark.panel.sheet.querySelector("g.dot");
  first.parentNode.insertBefore(path, first);
};

const show = (mark, pin = false) => {
  if (current !== mark) {
    current?.element.classList.remove("at");
    mark?.element.classList.add("at");
    glow(mark);
  }
  current = mark;
  pinned = pin && mark !== null;
  card.hidden = !mark;
  card.classList.toggle("pinned", pinned);
  if (!mark) return;
  card.replaceChildren(...lines(mark));
  const box = mark.element.getBoundingClientRect();
  const { offsetWidth: wide, offsetHeight: high } = card;
  const left = Math.min(Math.max(box.left + box.width / 2 - wide / 2, 8), innerWidth - wide - 8);
  const above = box.top - high - 10;
  card.style.left = `${left}px`;
  card.style.top = `${above > 8 ? above : Math.min(box.bottom + 10, innerHeight - high - 8)}px`;
};

// Of the marks that are not hidden, the nearest within reach.
const nearest = (panel, x, y, reach) => {
  let best = null;
  let least = reach;
  for (const mark of panel.marks) {
    const away = mark.away(x, y) + (mark.element.classList.contains("dim") ? reach : 0);
    // Among those under the pointer the smaller: a bubble before the circle around it.
    if (away < least - 1e-6 || (best && away <= 0 && least <= 0 && mark.w < best.w)) {
      if (mark.isOff) continue;
      best = mark;
      least = away;
    }
  }
  return best;
};

// Where an event is, in the coordinates of the marks; a path may be stretched, and what is off need not have any.
const pointIn = (panel, event) => {
  const point = new DOMPoint(event.clientX, event.clientY);
  return point.matrixTransform((panel.field?.querySelector(":is(g, circle):not(.off)") ?? panel.sheet).getScreenCTM().inverse());
};

const beside = (panel, key) => {
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  const free = panel.marks.filter((mark) => !mark.isOff && !mark.element.classList.contains("dim"));
  if (current?.panel !== panel) return free[0] ?? null;
  const cost = (mark) => {
    const along = (mark.x - current.x) * dx + (mark.y - current.y) * dy;
    const across = Math.abs((mark.x - current.x) * dy) + Math.abs((mark.y - current.y) * dx);
    return along <= 0.5 ? Infinity : along + 2.5 * across;
  };
  const best = free.reduce((one, other) => (cost(other) < cost(one) ? other : one), current);
  return best === current || cost(best) < Infinity ? best : current;
};
