// A field can be zoomed and moved; names keep their size and come out where there is room for them.
const MOST = 90;
const FEW = 150;
const pen = document.createElement("canvas").getContext("2d");
pen.font = `100px ${getComputedStyle(document.body).fontFamily}`;
const advances = new Map();
const advance = (letter) => {
  if (!advances.has(letter)) advances.set(letter, pen.measureText(letter).width / 100);
  return advances.get(letter);
};
const room = (text, size) => size * [...text].reduce((sum, letter) => sum + advance(letter), 0);
const shorten = (text, space, size) => {
  if (room(text, size) <= space) return text;
  let kept = "";
  let used = size * advance("…");
  for (const letter of text) {
    used += size * advance(letter);
    if (used > space) break;
    kept += letter;
  }
  return kept ? `${kept.trimEnd()}…` : "";
};

class Field {
  constructor(panel) {
    this.panel = panel;
    this.svg = panel.field;
    this.whole = this.svg.getAttribute("viewBox").split(" ").map(Number);
    this.box = [...this.whole];
    this.fixed = [...this.svg.querySelectorAll("text.hill, text.bond, text.faint")].map((text) => this.#label(text));
    for (const text of this.svg.querySelectorAll("text.name, text.more, text.inner")) text.remove();
    this.names = this.svg.appendChild(document.createElementNS(SVG, "g"));
    this.order = [...panel.marks].sort((a, b) => this.#weight(b) - this.#weight(a));
    this.held = new Map();
    this.#listen();
    this.frame = panel.sheet.querySelector("rect.panel");
    this.drawn = this.whole;
    new ResizeObserver(() => this.#resized()).observe(panel.sheet);
  }

  // On a narrow screen the field becomes a square: memories spread over all of it, groups keep their shape.
  #resized() {
    const [, , wide, high] = this.drawn;
    const tall = this.panel.sheet.clientWidth < 560 ? wide : high;
    if (tall !== this.whole[3]) {
      const spreads = this.panel.dots.length > 0;
      if (spreads) this.#spread(tall / high);
      this.whole = [0, spreads ? 0 : (high - tall) / 2, wide, tall];
      this.panel.sheet.setAttribute("viewBox", `0 0 ${wide} ${tall}`);
      this.frame.setAttribute("height", tall - 1);
      this.fit();
    }
    this.draw();
  }

  #spread(by) {
    this.panel.spread = by;
    for (const dot of this.panel.dots) dot.element.setAttribute("cy", (dot.y = dot.flat * by));
    for (const label of this.fixed) label.element.setAttribute("y", (label.y = label.flat * by));
    for (const path of this.svg.querySelectorAll("path, .ring")) path.setAttribute("transform", `scale(1 ${by})`);
  }

  #weight(mark) {
    return mark.memory < 0 ? mark.r : data.importance[mark.memory] + (mark.element.classList.contains("center") ? 9 : 0);
  }

  #label(element) {
    const of = (name) => Number(element.getAttribute(name));
    element.removeAttribute("textLength"); // here the room is measured, and the size goes with the zoom
    return { element, x: of("x"), y: of("y"), flat: of("y"), size: of("font-size"), text: element.textContent };
  }

  get scale() {
    return this.box[2] / (this.panel.sheet.clientWidth || this.box[2]);
  }

  set(box) {
    const [x, y, w, h] = this.whole;
    const wide = Math.min(Math.max(box[2], w / 40), w);
    const high = (wide * h) / w;
    this.box = [Math.min(Math.max(box[0], x), x + w - wide), Math.min(Math.max(box[1], y), y + h - high), wide, high];
    this.svg.setAttribute("viewBox", this.box.join(" "));
    this.svg.classList.toggle("near", wide < w);
    this.waiting ??= requestAnimationFrame(() => this.draw());
  }

  zoom(by, x = this.box[0] + this.box[2] / 2, y = this.box[1] + this.box[3] / 2) {
    const wide = Math.min(Math.max(this.box[2] / by, this.whole[2] / 40), this.whole[2]);
    const share = wide / this.box[2];
    this.set([x - (x - this.box[0]) * share, y - (y - this.box[1]) * share, wide, 0]);
  }

  fit() {
    this.set(this.whole);
  }

  reveal(mark) {
    const [x, y, w, h] = this.box;
    const inside = mark.x > x && mark.x < x + w && mark.y > y && mark.y < y + h;
    if (!inside) this.set([mark.x - w / 2, mark.y - h / 2, w, h]);
  }

  draw() {
    this.waiting = undefined;
    const k = this.scale;
    this.panel.scale = k;
    this.svg.style.setProperty("--k", k);
    const [, , wide] = this.whole;
    const soft = Math.sqrt(k * (this.panel.sheet.clientWidth / wide)) * Math.min(Math.max(wide / this.panel.sheet.clientWidth, 1), 1.6);
    for (const dot of this.panel.dots) dot.element.setAttribute("r", (dot.w / 2) * soft);
    for (const dot of this.panel.dots) dot.r = (dot.w / 2) * soft;
    this.taken = [];
    for (const label of this.fixed) this.#place(label, k);
    this.names.replaceChildren();
    for (const mark of this.order) {
      if (this.names.childElementCount >= MOST) break;
      this.#name(mark, k);
    }
  }

  #free(box) {
    const [x, y, w, h] = this.box;
    if (box[0] < x || box[1] < y || box[2] > x + w || box[3] > y + h) return false;
    return !this.taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]);
  }

  #place({ element, x, y, size, text }, k) {
    const big = Math.min(size, this.whole[3] === this.whole[2] ? 14 : size) * k;
    const wide = room(text, big) * 1.12; // these are bold
    const box = [x - wide / 2, y - big, x + wide / 2, y + big * 0.3];
    const free = this.#free(box);
    if (free) this.taken.push(box);
    element.style.fontSize = `${big}px`;
    element.classList.toggle("hidden", !free);
  }

  #name(mark, k) {
    const [x, y, w, h] = this.box;
    if (mark.x < x || mark.x > x + w || mark.y < y || mark.y > y + h || mark.isOff) return;
    if (mark.element.classList.contains("domain")) return;
    if (mark.memory < 0) return void this.#inner(mark, k);
    const crowd = this.panel.dots.length > 600 && w > this.whole[2] / 2.2;
    if (!crowd) this.#outer(mark, k);
  }

  // Whole and a little smaller rather than cut.
  #inner(mark, k) {
    const name = mark.title.split(" – ")[0];
    const size = (room(name, 12 * k) > mark.r * 1.8 ? 10.5 : 12) * k;
    const text = shorten(name, mark.r * 1.8, size);
    if (text === name || text.length > 2) this.#write("inner", text, mark.x, mark.y + size * 0.36, size, "middle");
  }

  // The fewer there are, the larger and the longer; among few a short name is tried where a long one has no room.
  #outer(mark, k) {
    const count = this.panel.dots.length;
    const center = mark.element.classList.contains("center");
    const size = (center || count <= 3 ? 15 : count <= 12 ? 13 : 11.5) * k;
    const most = count <= 3 ? 480 : center ? 300 : count <= 12 ? 240 : count <= 60 ? 220 : 160;
    const lengths = [most, ...(count <= 60 ? [160, 110, 64] : count <= FEW ? [110] : [])].filter((long) => long <= most);
    for (const long of lengths) {
      const text = shorten(mark.text, long * k, size);
      const side = text && this.#sides(mark, room(text, size), size, k).find((one) => this.#free(one.box) && !this.#covers(one.box, mark));
      if (!side) continue;
      this.taken.push(side.box);
      this.#write("name", text, side.x, side.y + size * 0.36, size, side.anchor);
      break;
    }
    const more = this.panel.more.get(this.panel.dots.indexOf(mark));
    if (more) this.#badge(mark, `+${more}`, 10.5 * k);
  }

  #sides(mark, wide, size, k) {
    const { x, y } = mark;
    const gap = mark.r + 4 * k;
    const half = size * 0.65;
    const side = (anchor, at, height) => {
      const left = { start: at, end: at - wide, middle: at - wide / 2 }[anchor];
      return { anchor, x: at, y: height, box: [left, height - half, left + wide, height + half] };
    };
    const beside = [side("end", x - gap, y), side("start", x + gap, y)];
    if (x >= this.whole[2] / 2) beside.reverse();
    if (this.panel.dots.length > FEW) return beside;
    return [...beside, side("middle", x, y + gap + half), side("middle", x, y - gap - half)];
  }

  #covers(box, own) {
    return this.panel.dots.some((dot) => dot !== own && dot.x > box[0] - dot.r && dot.x < box[2] + dot.r && dot.y > box[1] - dot.r && dot.y < box[3] + dot.r);
  }

  #badge(mark, text, size) {
    const y = mark.y - mark.r - size * 0.3;
    const box = [mark.x - room(text, size) / 2, y - size, mark.x + room(text, size) / 2, y];
    if (!this.#free(box)) return;
    this.taken.push(box);
    this.#write("more", text, mark.x, y, size, "middle");
  }

  #write(role, text, x, y, size, anchor) {
    const element = document.createElementNS(SVG, "text");
    element.setAttribute("class", role);
    element.setAttribute("x", x);
    element.setAttribute("y", y);
    element.setAttribute("font-size", size);
    element.setAttribute("text-anchor", anchor);
    element.textContent = text;
    this.names.append(element);
  }

  #listen() {
    const { svg } = this;
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
      event.preventDefault();
      const point = pointIn(this.panel, event);
      this.zoom(Math.exp(-event.deltaY / 240), point.x, point.y);
    }, { passive: false });
    svg.addEventListener("dblclick", (event) => {
      const point = pointIn(this.panel, event);
      this.zoom(2, point.x, point.y);
    });
    svg.addEventListener("pointerdown", (event) => this.held.set(event.pointerId, [event.clientX, event.clientY]));
    svg.addEventListener("pointermove", (event) => this.#drag(event));
    for (const name of ["pointerup", "pointercancel", "pointerleave"]) {
      svg.addEventListener(name, (event) => {
        this.held.delete(event.pointerId);
        svg.classList.remove("held");
      });
    }
  }

  #drag(event) {
    const before = this.held.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    const others = [...this.held].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    if (others.length) {
      const [ox, oy] = others[0];
      const was = Math.hypot(before[0] - ox, before[1] - oy) || 1;
      const point = pointIn(this.panel, { clientX: (now[0] + ox) / 2, clientY: (now[1] + oy) / 2 });
      this.zoom(Math.hypot(now[0] - ox, now[1] - oy) / was, point.x, point.y);
    } else if (event.pointerType !== "touch" || this.svg.classList.contains("near")) {
      this.svg.classList.add("held");
      const k = this.scale;
      this.set([this.box[0] - (now[0] - before[0]) * k, this.box[1] - (now[1] - before[1]) * k, this.box[2], this.box[3]]);
    }
    this.held.set(event.pointerId, now);
  }
}
