// The page: pointing, keys, search, legend, light or dark, and the two ways to choose a time.
for (const panel of panels) {
  if (panel.field && panel.marks.length) {
    panel.view = new Field(panel);
    for (const button of panel.section.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => {
        if (button.dataset.zoom === "fit") panel.view.fit();
        else panel.view.zoom(button.dataset.zoom === "in" ? 1.6 : 1 / 1.6);
      });
    }
  }
  const at = (event) => {
    const point = pointIn(panel, event);
    return nearest(panel, point.x, point.y, 12 * (panel.scale ?? 1));
  };
  panel.sheet.addEventListener("pointermove", (event) => {
    if (!pinned && !event.buttons) show(at(event));
  });
  panel.sheet.addEventListener("pointerleave", () => pinned || show(null));
  panel.sheet.addEventListener("click", (event) => {
    const mark = at(event);
    show(mark, !(pinned && mark === current));
  });
  panel.sheet.addEventListener("blur", () => pinned || show(null));
  panel.sheet.addEventListener("keydown", (event) => pressed(panel, event));
}

const tell = (mark) => {
  show(mark);
  said.textContent = mark ? [...card.children].map((part) => part.textContent).join(". ") : "";
};

const pressed = (panel, event) => {
  if (event.target !== panel.sheet || event.altKey || event.ctrlKey || event.metaKey) return;
  const zooms = { "+": 1.6, "=": 1.6, "-": 1 / 1.6 };
  if (event.key.startsWith("Arrow")) {
    const mark = beside(panel, event.key);
    if (mark) panel.view?.reveal(mark);
    tell(mark);
  } else if (event.key === "Enter" && current) {
    show(current, !pinned);
  } else if (panel.view && event.key in zooms) {
    panel.view.zoom(zooms[event.key], ...(current?.panel === panel ? [current.x, current.y] : []));
  } else if (panel.view && event.key === "0") {
    panel.view.fit();
  } else {
    return;
  }
  event.preventDefault();
};

addEventListener("keydown", (event) => event.key === "Escape" && show(null));

const search = document.getElementById("search");
let found = [];
search?.addEventListener("input", () => {
  const wanted = fold(search.value.trim());
  const hays = wanted ? new Map(marks.map((mark) => [mark, mark.hay])) : null;
  dim("search", wanted ? (mark) => hays.get(mark).includes(wanted) : null);
  found = wanted ? marks.filter((mark) => hays.get(mark).includes(wanted)) : [];
  const count = new Set(found.map((mark) => (mark.memory < 0 ? mark : mark.memory))).size;
  document.getElementById("hits").textContent = wanted ? fill(data.words.hits, { n: count }) : "";
  show(null);
});
search?.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !found.length) return;
  const next = found[(found.indexOf(current) + 1) % found.length];
  next.panel.view?.reveal(next);
  next.element.scrollIntoView({ block: "nearest", inline: "nearest" });
  tell(next);
});

for (const button of document.querySelectorAll(".legend button")) {
  button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", on);
    const { s, k } = button.dataset;
    const chosen = s === undefined ? `.tie.k-${CSS.escape(k)}` : [".dot", ".box", ".disc", ".area", ".curve"].map((role) => `${role}.s${s}`).join();
    for (const panel of panels) {
      if (!panel.section.classList.contains("coloured")) continue;
      for (const element of panel.sheet.querySelectorAll(chosen)) element.classList.toggle("off", !on);
      panel.view?.draw();
    }
    show(null);
  });
}

// The rules for a dark screen are switched by hand: a host may be dark where the system is light.
const media = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
  .filter((rule) => rule instanceof CSSMediaRule && rule.conditionText.includes("prefers-color-scheme"))
  .map((rule) => [rule, rule.conditionText]);
const paint = (dark) => {
  for (const [rule, text] of media) {
    rule.media.mediaText = text.replace(/\(prefers-color-scheme:\s*dark\)/, dark ? "(min-width:0px)" : "(max-width:0px)");
  }
  document.documentElement.style.colorScheme = dark ? "dark" : "light";
};
let dark = matchMedia("(prefers-color-scheme: dark)").matches;
document.getElementById("theme")?.addEventListener("click", () => paint((dark = !dark)));
const root = document.documentElement;
const follow = () => root.dataset.theme && paint((dark = root.dataset.theme === "dark"));
new MutationObserver(follow).observe(root, { attributeFilter: ["data-theme"] });
follow();

for (const panel of panels) {
  const input = panel.section.querySelector(".replay input");
  input?.addEventListener("input", () => {
    const count = Number(input.value);
    const all = count === Number(input.max);
    input.nextElementSibling.textContent = data.at[count - 1].slice(0, 10);
    input.setAttribute("aria-valuetext", data.at[count - 1]);
    dim("replay", all ? null : (mark) => mark.memory < count);
  });
}

// The brush over the strip of a timeline: what is outside of it is dimmed.
const timeline = panels.find((panel) => panel.section.classList.contains("timeline"));
const strip = timeline?.marks.filter((mark) => mark.element.classList.contains("strip")) ?? [];
if (strip.length > 1) {
  const left = strip[0].x - strip[0].w / 2;
  const step = strip[1].x - strip[0].x;
  const base = Math.max(...strip.map((mark) => mark.y + mark.h / 2));
  const make = (name, wide) => {
    const box = document.createElementNS(SVG, "rect");
    for (const [key, value] of Object.entries({ class: name, x: left, y: base - 52, width: wide, height: 54 })) box.setAttribute(key, value);
    return timeline.sheet.appendChild(box);
  };
  const area = make("brush-area", step * strip.length);
  const brush = make("brush", step * strip.length);
  const handles = [make("handle", 4), make("handle", 4)];
  let range = [0, strip.length];
  const title = (at) => strip[at].title.split(" – ")[0];
  const apply = () => {
    const [from, to] = range;
    const [start, end] = [left + from * step, left + to * step];
    brush.setAttribute("x", start);
    brush.setAttribute("width", end - start);
    handles.forEach((handle, side) => {
      handle.setAttribute("x", (side ? end : start) - 2);
      handle.setAttribute("aria-valuenow", side ? to - 1 : from);
      handle.setAttribute("aria-valuetext", title(side ? to - 1 : from));
    });
    const all = from === 0 && to === strip.length;
    const inside = new Set(timeline.dots.filter((dot) => dot.x >= start && dot.x < end).map((dot) => dot.memory));
    dim("brush", all ? null : (mark) => (mark.memory < 0 ? mark.panel !== timeline || (mark.x > start && mark.x < end) : inside.has(mark.memory)));
    const hits = document.getElementById("hits");
    hits.textContent = all ? "" : `${title(from)} – ${title(to - 1)} · ${fill(data.words.memories, { n: inside.size })}`;
  };
  const column = (event) => Math.min(Math.max((pointIn(timeline, event).x - left) / step, 0), strip.length);
  const drag = (element, begin, move) => {
    element.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      element.setPointerCapture(event.pointerId);
      const start = [column(event), ...range];
      begin(start);
      const moved = (next) => {
        move(start, column(next));
        apply();
      };
      element.addEventListener("pointermove", moved);
      element.addEventListener("lostpointercapture", () => element.removeEventListener("pointermove", moved), { once: true });
    });
  };
  const ordered = (a, b) => {
    const [low, high] = [Math.floor(Math.min(a, b)), Math.ceil(Math.max(a, b))];
    range = [Math.min(low, strip.length - 1), Math.max(high, low + 1)];
  };
  drag(area, () => {}, ([start], now) => ordered(start, now));
  drag(brush, () => {}, ([start, from, to], now) => {
    if (from === 0 && to === strip.length) return ordered(start, now);
    const shift = Math.min(Math.max(Math.round(now - start), -from), strip.length - to);
    range = [from + shift, to + shift];
  });
  handles.forEach((handle, side) => {
    const move = (to) => {
      range = side ? [range[0], Math.min(Math.max(to, range[0] + 1), strip.length)] : [Math.max(Math.min(to, range[1] - 1), 0), range[1]];
    };
    drag(handle, () => {}, (_, now) => move(Math.round(now)));
    for (const [key, value] of Object.entries({ tabindex: 0, role: "slider", "aria-label": side ? data.words.to : data.words.from, "aria-valuemin": 0, "aria-valuemax": strip.length - 1 })) handle.setAttribute(key, value);
    handle.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1, PageDown: -7, PageUp: 7, Home: -1e6, End: 1e6 }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      move(range[side] + by);
      apply();
    });
  });
  area.addEventListener("dblclick", () => {
    range = [0, strip.length];
    apply();
  });
  brush.addEventListener("dblclick", () => {
    range = [0, strip.length];
    apply();
  });
  apply();
}

// On a narrow screen a timeline is scrolled to its latest memories, or to the middle of all where they stand close together.
if (timeline?.dots.length) {
  const scroll = timeline.section.querySelector(".scroll");
  const heading = timeline.sheet.querySelector(".heading");
  const scale = () => timeline.sheet.clientWidth / timeline.sheet.viewBox.baseVal.width;
  scroll.addEventListener("scroll", () => heading.setAttribute("dx", scroll.scrollLeft / scale()));
  const places = timeline.dots.map((dot) => dot.x * scale());
  const first = places.reduce((a, b) => Math.min(a, b));
  const last = places.reduce((a, b) => Math.max(a, b));
  const screen = scroll.clientWidth;
  scroll.scrollLeft = Math.max((first + last - screen) / 2, last - 0.8 * screen);
}
