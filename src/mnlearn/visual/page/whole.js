"use strict";
// Large networks: search over all variables, and the surroundings of one of them. The picture of report.js is a part.
// Names are only ever set as text.
(() => {
  const byId = (id) => document.getElementById(id);
  const packed = JSON.parse(byId("whole-data").textContent);
  const { names, count } = packed, n = names.length;
  const bytes = (text) => {
    const letters = atob(text), found = new Uint8Array(letters.length);
    for (let k = 0; k < found.length; k += 1) found[k] = letters.charCodeAt(k);
    return found;
  };
  const values = packed.values === null ? null : new Float32Array(bytes(packed.values).buffer);
  const weights = packed.weights === null ? null : new Int16Array(bytes(packed.weights).buffer);
  const drawnAt = new Map(packed.drawn.map((x, k) => [x, k]));
  // Places here are those of the names in the file; tables of the page have the index of a variable in the network.
  const places = packed.places === null ? null : new Map(packed.places.map((x, k) => [x, k]));
  const indexOf = (x) => (places === null ? x : packed.places[x]);
  const SHOWN = 40, LISTED = 300, SUGGESTED = 20;

  // ---- edges: the neighbours of x are around[starts[x]] to around[starts[x + 1] - 1] --------------------------------

  const ends = [new Int32Array(count), new Int32Array(count)], starts = new Int32Array(n + 1);
  const unpack = () => {  // keys beyond 32 bits: no shifts
    const raw = bytes(packed.pairs);
    let at = 0, key = 0;
    for (let k = 0; k < count; k += 1) {
      let byte = raw[at], scale = 1;
      for (at += 1; byte > 127; at += 1) { key += (byte - 128) * scale; scale *= 128; byte = raw[at]; }
      key += byte * scale;
      ends[0][k] = Math.floor(key / n);
      ends[1][k] = key - ends[0][k] * n;
      starts[ends[0][k] + 1] += 1;
      starts[ends[1][k] + 1] += 1;
    }
  };
  unpack();
  for (let x = 0; x < n; x += 1) starts[x + 1] += starts[x];
  const around = new Int32Array(2 * count), edgeOf = new Int32Array(2 * count), next = starts.slice();
  for (let k = 0; k < count; k += 1) {
    for (const side of [0, 1]) {
      const place = next[ends[side][k]];
      next[ends[side][k]] += 1;
      around[place] = ends[1 - side][k];
      edgeOf[place] = k;
    }
  }
  const neighbours = (x) => {  // the most certain first
    const found = [];
    for (let k = starts[x]; k < starts[x + 1]; k += 1) found.push([around[k], edgeOf[k]]);
    const sure = (k) => (values === null || Number.isNaN(values[k]) ? -Infinity : values[k]);
    return found.sort((a, b) => sure(b[1]) - sure(a[1]) || a[0] - b[0]);
  };
  const total = (x) => (packed.hidden.length ? packed.hidden[x] : starts[x + 1] - starts[x]);
  const weightOf = (k) => (weights === null || weights[k] === -32768 ? null : weights[k] / 16384 * packed.strongest);
  const number = (value) => (Number.isNaN(value) ? "" : Math.abs(value) < 10 ? value.toFixed(3) : value.toFixed(1));

  // ---- the panel ------------------------------------------------------------------------------------------------

  let choose = null;  // of report.js: what stands out in the picture
  const element = (tag, text, className) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  const nameButton = (x) => {
    const button = element("button", undefined, "name");
    button.type = "button";
    button.dataset.node = indexOf(x);
    button.append(element("bdi", names[x]));
    return button;
  };
  const about = (k) => {
    const said = values === null ? "" : number(values[k]), weight = weightOf(k);
    return weight === null || !weight ? said : `${weight > 0 ? "▲" : "▼"} ${said}`;
  };
  const sentence = (x, listed) => {
    const all = total(x), known = starts[x + 1] - starts[x];
    if (!all) return "It has no neighbours: no other variable tells anything about it.";
    const words = all === 1 ? "Its only neighbour." : `Its ${all.toLocaleString("en")} neighbours, the most certain first.`;
    const more = known < all ? ` The file has the ${known.toLocaleString("en")} most certain of them.` : "";
    return words + more + (listed < known ? ` ${listed} are listed.` : "");
  };
  const fill = (x) => {
    const panel = byId("panel"), ego = byId("ego");
    panel.replaceChildren();
    ego.hidden = x === null;
    if (x === null) {
      panel.append(element("p", "Click a variable, or find one by its name, to see its neighbours: all that is needed to predict it from the others.", "quiet"));
      return;
    }
    const near = neighbours(x), heading = element("h3"), list = element("ul");
    heading.append(element("bdi", names[x]));
    list.id = "blanket";
    for (const [y, k] of near.slice(0, LISTED)) {
      const item = element("li"), said = element("span", about(k));
      said.title = [packed.measure, weightOf(k) === null ? null : `${packed.weight} ${weightOf(k).toFixed(2)}`].filter(Boolean).join(", ");
      item.append(nameButton(y), said);
      list.append(item);
    }
    const close = element("button", "Show the overview again", "name"), end = element("p");
    close.type = "button";
    close.id = "unchoose";
    close.addEventListener("click", () => choose(null));
    end.append(close);
    panel.append(heading, element("p", sentence(x, Math.min(near.length, LISTED))), list, end);
    draw(x, near);
  };

  // ---- the picture of one variable and its neighbours -------------------------------------------------------------

  const SVG = "http://www.w3.org/2000/svg";
  const shape = (tag, attributes, parent) => {
    const made = document.createElementNS(SVG, tag);
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    parent.append(made);
    return made;
  };
  const colour = (k) => { const w = weightOf(k); return w > 0 ? "#2f6db5" : w < 0 ? "#c44536" : "#7a808a"; };
  const draw = (x, near) => {
    const shown = near.slice(0, SHOWN), ego = byId("ego"), picture = document.createElementNS(SVG, "svg");
    picture.setAttribute("viewBox", "-500 -310 1000 620");
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", "The chosen variable and its most certain neighbours; the list holds the same.");
    const at = new Map([[x, [0, 0]]]);
    shown.forEach(([y], k) => {
      const angle = 2 * Math.PI * k / shown.length - Math.PI / 2, ring = shown.length > 14 && k % 2 ? 0.62 : 1;
      at.set(y, [400 * ring * Math.cos(angle), 250 * ring * Math.sin(angle)]);
    });
    const top = values === null ? 1 : Math.max(...shown.map(([, k]) => values[k] || 0), 1e-12);
    const line = (a, b, k, faint) => shape("line", {
      x1: at.get(a)[0], y1: at.get(a)[1], x2: at.get(b)[0], y2: at.get(b)[1], stroke: colour(k), "stroke-opacity": faint ? 0.35 : 0.8,
      "stroke-width": faint ? 1 : 1 + 4 * Math.min(Math.max((values === null ? 1 : values[k] || 0) / top, 0), 1),
    }, picture);
    for (const [y] of shown) {
      for (let k = starts[y]; k < starts[y + 1]; k += 1) if (around[k] > y && around[k] !== x && at.has(around[k])) line(y, around[k], edgeOf[k], true);
    }
    for (const [y, k] of shown) line(x, y, k, false);
    for (const [y, [px, py]] of [...at].reverse()) {
      const group = shape("g", { "data-node": indexOf(y), class: "node" }, picture);
      shape("circle", { cx: px, cy: py, r: y === x ? 13 : 9, fill: y === x ? "#e08a1e" : "#3b7dd8", stroke: "white" }, group);
      const words = Array.from(names[y]);
      shape("text", { x: px, y: py + (y === x ? 30 : 24), "text-anchor": "middle", "font-size": y === x ? 17 : 13 }, group).textContent = words.length > 22 ? `${words.slice(0, 21).join("")}…` : words.join("");
    }
    const caption = near.length > SHOWN ? `The ${SHOWN} most certain of ${total(x).toLocaleString("en")} neighbours. Click one to go on.` : "Click a neighbour to go on.";
    ego.replaceChildren(picture, element("p", caption, "quiet"));
  };

  // ---- search ---------------------------------------------------------------------------------------------------

  const lower = names.map((name) => name.toLowerCase());
  const search = (sure) => {
    const text = byId("search").value.trim().toLowerCase(), status = byId("search-found"), list = byId("variable-names");
    list.replaceChildren();
    if (!text) { status.textContent = ""; return; }
    let hits = 0, first = -1;
    const exact = lower.indexOf(text);
    for (let x = 0; x < n; x += 1) {
      if (!lower[x].includes(text)) continue;
      if (hits < SUGGESTED) list.append(Object.assign(document.createElement("option"), { value: names[x] }));
      if (first < 0) first = x;
      hits += 1;
    }
    status.textContent = hits === 1 ? "1 variable" : `${hits.toLocaleString("en")} variables`;
    const found = exact >= 0 ? exact : sure ? first : -1;
    if (found >= 0) chosen(found);
  };
  const chosen = (x) => choose(drawnAt.get(x) ?? null, x);

  window.mnlearnWhole = { attach: (callback) => { choose = callback; }, choose: (index) => { const x = places === null ? index : places.get(index); if (x !== undefined) chosen(x); }, fill, search, neighbours: (x) => neighbours(x).map(([y]) => names[y]), drawn: packed.drawn, degrees: packed.degrees };
})();
