"use strict";
// What the page does: which edges and names are shown, whose neighbours stand out, how tables are sorted.
// Bokeh draws; names are only ever set as text.
(() => {
  const byId = (id) => document.getElementById(id);
  const read = (id) => JSON.parse(byId(id).textContent);
  const data = read("page-data");
  const whole = window.mnlearnWhole ?? null;  // of a large network, of which the picture is a part
  document.documentElement.classList.remove("no-script");

  const neighbours = data.names.map(() => []);
  data.edges.forEach(([u, v], k) => { neighbours[u].push([v, k]); neighbours[v].push([u, k]); });
  const degree = neighbours.map((around) => around.length);
  const state = { measure: 0, threshold: -Infinity, chosen: null, found: null, shown: data.edges.map(() => true) };

  // ---- pictures ------------------------------------------------------------------------------------------------

  class Picture {
    constructor(root, element) {
      this.root = root;
      this.element = element;
      this.box = [0, 0, 1, 1];  // left, bottom, right, top of all there is
    }
    model(name) { return this.root.document.get_model_by_name(name); }
    size() { return [this.element.clientWidth || 800, this.element.clientHeight || 620]; }
    show(left, bottom, right, top) {
      this.root.x_range.setv({ start: left, end: right });
      this.root.y_range.setv({ start: bottom, end: top });
    }
    fit() {  // the same scale in both directions
      const [width, height] = this.size();
      const [left, bottom, right, top] = this.box;
      const scale = Math.max((right - left) / width, (top - bottom) / height);
      const x = (left + right) / 2, y = (bottom + top) / 2;
      this.show(x - scale * width / 2, y - scale * height / 2, x + scale * width / 2, y + scale * height / 2);
    }
    move(dx, dy, factor) {  // shares of the view; factor < 1 comes closer
      const { x_range: xs, y_range: ys } = this.root;
      const w = xs.end - xs.start, h = ys.end - ys.start;
      const x = (xs.start + xs.end) / 2 + dx * w, y = (ys.start + ys.end) / 2 + dy * h;
      this.show(x - w * factor / 2, y - h * factor / 2, x + w * factor / 2, y + h * factor / 2);
    }
    place(x, y) {  // pixels from the upper left corner
      const { x_range: xs, y_range: ys } = this.root;
      const [width, height] = this.size();
      return [(x - xs.start) / (xs.end - xs.start) * width, (ys.end - y) / (ys.end - ys.start) * height];
    }
  }

  const embed = async (id) => {
    const item = read(`${id}-item`);
    await Bokeh.embed.embed_item(item, id);
    const root = Bokeh.documents.flatMap((doc) => doc.roots()).find((model) => model.id === item.root_id);
    return new Picture(root, byId(id));
  };

  let network = null;
  let heatmap = null;

  // ---- names: as many as fit, the chosen and the best connected first -------------------------------------------

  const drawLabels = () => {
    const nodes = network.model("nodes").data;
    const [width, height] = network.size();
    const rank = (x) => (x === state.chosen ? 3e6 : 0) + (stands(x) && someoneStands() ? 1e6 : 0) + degree[x];
    const order = data.names.map((_, x) => x).sort((a, b) => rank(b) - rank(a) || a - b);
    const boxes = [];
    const kept = [];
    const places = order.map((x) => network.place(nodes.x[x], nodes.y[x]));
    order.forEach((x, k) => {
      const [px, py] = places[k];
      if (px < 0 || py < 0 || px > width || py > height) return;
      const half = 3.8 * Array.from(nodes.label[x]).length + 2, top = py + nodes.below[x];
      const box = [px - half, top, px + half, top + 16];
      if (boxes.every((b) => box[0] > b[2] || box[2] < b[0] || box[1] > b[3] || box[3] < b[1])) {
        boxes.push(box);
        kept.push(x);
      }
    });
    network.model("label_filter").indices = kept.sort((a, b) => a - b);
  };
  let waiting = false;
  const labelsSoon = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; drawLabels(); });
  };

  // ---- what stands out ------------------------------------------------------------------------------------------

  const someoneStands = () => state.chosen !== null || state.found !== null;
  const stands = (x) => {
    if (state.found !== null) return state.found.has(x);
    if (state.chosen === null) return true;
    return x === state.chosen || neighbours[state.chosen].some(([y, k]) => y === x && state.shown[k]);
  };
  const edgeStands = (k) => {
    const [u, v] = data.edges[k];
    return state.chosen === null ? stands(u) && stands(v) : u === state.chosen || v === state.chosen;
  };

  let strength = null;
  const paint = () => {
    const nodes = network.model("nodes"), edges = network.model("edges");
    strength ??= Array.from(edges.data.alpha);
    nodes.data = { ...nodes.data, alpha: data.names.map((_, x) => (stands(x) ? 1 : 0.18)) };
    edges.data = { ...edges.data, alpha: strength.map((a, k) => (edgeStands(k) ? a : 0.08)) };
    labelsSoon();
  };

  // ---- the panel ------------------------------------------------------------------------------------------------

  const element = (tag, text, className) => {
    const made = document.createElement(tag);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  const nameButton = (x) => {
    const button = element("button", undefined, "name");
    button.type = "button";
    button.dataset.node = x;
    button.append(element("bdi", data.names[x]));
    return button;
  };
  const number = (value) => (value === null ? "" : Math.abs(value) < 10 ? value.toFixed(3) : value.toFixed(1));
  const arrow = { 1: "positive", "-1": "negative", 0: "" };

  const fillPanel = () => {
    const panel = byId("panel");
    panel.replaceChildren();
    if (state.chosen === null) {
      panel.append(element("p", "Click a variable to see its neighbours: all that is needed to predict it from the others.", "quiet"));
      return;
    }
    const around = neighbours[state.chosen].filter(([, k]) => state.shown[k]);
    const hidden = degree[state.chosen] - around.length;
    const heading = element("h3");
    heading.append(element("bdi", data.names[state.chosen]));
    panel.append(heading, element("p", sentence(around.length, hidden)));
    const list = element("ul");
    list.id = "blanket";
    const measure = data.measures[state.measure];
    const sure = ([, k]) => (measure ? measure.values[k] ?? -Infinity : 0);
    for (const [y, k] of around.sort((a, b) => sure(b) - sure(a))) {
      const item = element("li"), about = element("span", measure ? number(measure.values[k]) : "");
      about.title = [measure ? measure.label : "", arrow[data.signs[k]]].filter(Boolean).join(", ");
      if (data.signs[k]) about.textContent = `${data.signs[k] > 0 ? "▲" : "▼"} ${about.textContent}`;
      item.append(nameButton(y), about);
      list.append(item);
    }
    panel.append(list);
    const close = element("button", "Show all again", "name");
    close.type = "button";
    close.id = "unchoose";
    close.addEventListener("click", () => choose(null));
    const end = element("p");
    end.append(close);
    panel.append(end);
  };
  const sentence = (count, hidden) => {
    const others = data.names.length - 1 - count;
    const also = hidden ? ` ${hidden} more ${hidden === 1 ? "is" : "are"} hidden by the slider.` : "";
    if (!count) return `It has no neighbours${hidden ? " here" : ""}: no other variable tells anything about it.${also}`;
    const known = count === 1 ? "Its only neighbour. Once it is known" : `Its ${count} neighbours. Once they are known`;
    return others ? `${known}, the other ${others} variable${others === 1 ? "" : "s"} tell${others === 1 ? "s" : ""} nothing more about it.${also}` : `${known.split(".")[0]}.${also}`;
  };

  const choose = (x, inWhole = whole && x !== null ? whole.drawn[x] : null) => {
    state.chosen = x;
    state.found = null;
    if (network) {
      const selected = network.model("nodes").selected, wanted = x === null ? [] : [x];
      if (String(selected.indices) !== String(wanted)) selected.indices = wanted;
      paint();
    }
    if (whole) {
      whole.fill(inWhole);
      return;
    }
    fillPanel();
    document.querySelectorAll("#edge-table tbody tr").forEach((row) => {
      row.classList.toggle("chosen", x !== null && data.edges[row.dataset.edge].includes(x));
    });
  };

  // ---- the slider -----------------------------------------------------------------------------------------------

  const setScale = () => {
    const slider = byId("threshold"), measure = data.measures[state.measure];
    const values = measure.values.filter((value) => value !== null);
    const low = measure.shares ? 0 : Math.floor(Math.min(...values) * 10) / 10;
    const high = measure.shares ? 1 : Math.ceil(Math.max(...values) * 10) / 10;
    slider.min = low;
    slider.max = high;
    slider.step = measure.shares ? 0.01 : Math.max((high - low) / 200, 0.01);
    slider.value = low;
  };
  const filterEdges = () => {
    const slider = byId("threshold");
    if (!slider) return;
    const values = data.measures[state.measure].values;
    const all = Number(slider.value) <= Number(slider.min);
    state.shown = values.map((value) => all || (value !== null && value >= Number(slider.value)));
    const kept = state.shown.flatMap((shown, k) => (shown ? [k] : []));
    byId("threshold-value").textContent = Number(slider.value).toFixed(2);
    byId("edges-shown").textContent = `${kept.length} of ${data.edges.length} edges shown`;
    document.querySelectorAll("#edge-table tbody tr[data-edge]").forEach((row) => { row.hidden = !state.shown[row.dataset.edge]; });
    if (network) network.model("edge_filter").indices = kept;
    if (heatmap) heatmap.model("cell_filter").indices = [...kept, ...kept.map((k) => k + data.edges.length)];
    if (state.chosen !== null) {
      if (!whole) fillPanel();
      paint();
    }
  };

  // ---- search ---------------------------------------------------------------------------------------------------

  const search = (sure) => {
    if (whole) {
      whole.search(sure);
      return;
    }
    const text = byId("search").value.trim().toLowerCase(), status = byId("search-found");
    if (!text) {
      state.found = null;
      status.textContent = "";
      if (network) paint();
      return;
    }
    const names = data.names.map((name) => name.toLowerCase());
    const hits = names.flatMap((name, x) => (name.includes(text) ? [x] : []));
    const exact = names.indexOf(text);
    status.textContent = hits.length === 1 ? "1 variable" : `${hits.length} variables`;
    if (exact >= 0 || (sure && hits.length)) {
      const x = exact >= 0 ? exact : hits[0];
      choose(x);
      centre(x);
      return;
    }
    state.chosen = null;
    state.found = new Set(hits);
    fillPanel();
    if (network) paint();
  };
  const centre = (x) => {  // only if it is out of sight
    if (!network) return;
    const nodes = network.model("nodes").data;
    const [px, py] = network.place(nodes.x[x], nodes.y[x]), [width, height] = network.size();
    if (px < 20 || py < 20 || px > width - 20 || py > height - 40) network.move((px - width / 2) / width, (height / 2 - py) / height, 1);
  };

  // ---- tables ---------------------------------------------------------------------------------------------------

  const sortTable = (table, column, heading) => {
    const up = heading.getAttribute("aria-sort") !== (heading.classList.contains("number") ? "descending" : "ascending");
    const ascending = heading.classList.contains("number") ? !up : up;
    const key = (row) => {
      const cell = row.cells[column];
      if (cell.dataset.value === undefined) return cell.textContent.toLowerCase();
      return cell.dataset.value === "" ? -Infinity : Number(cell.dataset.value);
    };
    const rows = Array.from(table.tBodies[0].rows, (row) => [key(row), row]);
    const sign = ascending ? 1 : -1;
    rows.sort(([a], [b]) => sign * (typeof a === "string" ? a.localeCompare(b) : a === b ? 0 : a - b));
    table.tBodies[0].append(...rows.map(([, row]) => row));
    table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  };

  // ---- what the pointer is on -------------------------------------------------------------------------------------

  const tell = (event, heading, text) => {
    const tip = byId("tip");
    tip.hidden = heading === null;
    if (tip.hidden) return;
    const name = element("b");
    name.append(element("bdi", heading));
    tip.replaceChildren(name, document.createTextNode(text));
    const left = event.clientX + 14 + tip.offsetWidth > innerWidth ? event.clientX - 14 - tip.offsetWidth : event.clientX + 14;
    tip.style.left = `${Math.max(left, 4)}px`;
    tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 4)}px`;
  };
  const tellEdge = (event, k) => {
    const said = data.measures.filter(({ values, absolute }) => values[k] !== null && !absolute).map(({ label, values }) => `${label} ${number(values[k])}`);
    const weight = data.weights[k];
    if (weight !== null) said.push(`${arrow[data.signs[k]] || "no direction"} (${data.weight} ${weight.toFixed(2)})`);
    tell(event, data.edges[k].map((x) => data.names[x]).join(" – "), said.join(", "));
  };
  const inside = (picture, event) => {
    const box = picture.element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const fromSegment = (x, y, [ax, ay], [bx, by]) => {
    const dx = bx - ax, dy = by - ay, length = dx * dx + dy * dy || 1;
    const t = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / length));
    return Math.hypot(x - ax - t * dx, y - ay - t * dy);
  };
  const nearest = (count, distance, reach) => {  // the index of the nearest within reach, or -1
    let best = -1, least = Infinity;
    for (let k = 0; k < count; k += 1) {
      const away = distance(k) - reach(k);
      if (away <= 0 && away < least) [best, least] = [k, away];
    }
    return best;
  };
  const pointAtNetwork = (event) => {
    const nodes = network.model("nodes").data, [x, y] = inside(network, event);
    const places = data.names.map((_, k) => network.place(nodes.x[k], nodes.y[k]));
    const node = nearest(places.length, (k) => Math.hypot(places[k][0] - x, places[k][1] - y), (k) => nodes.size[k] / 2 + 2);
    if (node >= 0) {
      const count = whole ? whole.degrees[node] : degree[node];
      tell(event, data.names[node], count === 1 ? "1 neighbour" : `${count} neighbours`);
      return;
    }
    const ends = (k) => data.edges[k].map((end) => places[end]);
    const edge = nearest(data.edges.length, (k) => (state.shown[k] ? fromSegment(x, y, ...ends(k)) : Infinity), () => 5);
    if (edge >= 0) tellEdge(event, edge);
    else tell(event, null);
  };
  const cells = new Map();
  data.edges.forEach(([u, v], k) => { cells.set(`${u},${v}`, k); cells.set(`${v},${u}`, k); });
  const placeOf = data.names.map(() => 0);
  data.order.forEach((x, place) => { placeOf[x] = place; });
  const cellNear = (row, column) => {  // cells of a large heat map reach beyond their place
    const exact = cells.get(`${row},${column}`);
    if (exact !== undefined && state.shown[exact]) return exact;
    for (let i = -data.reach; i <= data.reach; i += 1) {
      for (let j = -data.reach; j <= data.reach; j += 1) {
        const k = cells.get(`${data.order[placeOf[row] + i]},${data.order[placeOf[column] + j]}`);
        if (k !== undefined && state.shown[k]) return k;
      }
    }
    return undefined;
  };
  const pointAtHeatmap = (event) => {
    const { x_range: xs, y_range: ys } = heatmap.root, [x, y] = inside(heatmap, event), [width, height] = heatmap.size();
    const column = data.order[Math.floor(xs.start + x / width * (xs.end - xs.start))];
    const row = data.order[Math.floor(-(ys.end - y / height * (ys.end - ys.start)))];
    const k = cellNear(row, column);
    if (k !== undefined && state.shown[k]) tellEdge(event, k);
    else if (row !== undefined && column !== undefined && row !== column) tell(event, `${data.names[row]} – ${data.names[column]}`, "no edge");
    else tell(event, null);
  };

  // ---- light and dark -------------------------------------------------------------------------------------------

  const paintTheme = () => {
    const style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue("--ink").trim(), paper = style.getPropertyValue("--paper").trim();
    const labels = network.root.renderers.find((renderer) => renderer.name === "labels").glyph;
    labels.text_color = ink;
    labels.background_fill_color = paper;
    network.root.renderers.filter((renderer) => renderer.data_source === network.model("nodes") && renderer.name !== "labels")
      .forEach((renderer) => { renderer.glyph.line_color = paper; });
    heatmap.root.renderers.filter((renderer) => /_names$/.test(renderer.name ?? ""))
      .forEach((renderer) => { renderer.glyph.text_color = ink; });
  };

  // ---- hands on the page ----------------------------------------------------------------------------------------

  const listen = () => {
    byId("threshold")?.addEventListener("input", filterEdges);
    byId("measure")?.addEventListener("change", (event) => { state.measure = Number(event.target.value); setScale(); filterEdges(); });
    byId("search").addEventListener("input", () => search(false));
    byId("search").addEventListener("keydown", (event) => { if (event.key === "Enter") search(true); });
    document.addEventListener("click", (event) => {
      const button = event.target.closest("[data-node]");
      if (!button) return;
      if (whole) {
        whole.choose(Number(button.dataset.node));
        if (button.closest("table")) byId("network-section").scrollIntoView();
        return;
      }
      choose(Number(button.dataset.node));
      if (!byId("panel").contains(button) && button.closest("table")) byId("network-section").scrollIntoView();
      centre(Number(button.dataset.node));
    });
    document.querySelectorAll("table.sortable").forEach((table) => {
      table.querySelectorAll("th").forEach((heading, column) => {
        heading.querySelector("button").addEventListener("click", () => sortTable(table, column, heading));
      });
    });
  };
  const listenToPictures = () => {
    byId("zoom-in").addEventListener("click", () => network.move(0, 0, 0.7));
    byId("zoom-out").addEventListener("click", () => network.move(0, 0, 1 / 0.7));
    byId("zoom-all").addEventListener("click", () => network.fit());
    const keys = {
      "+": [0, 0, 0.8], "=": [0, 0, 0.8], "-": [0, 0, 1.25],
      ArrowLeft: [-0.1, 0, 1], ArrowRight: [0.1, 0, 1], ArrowUp: [0, 0.1, 1], ArrowDown: [0, -0.1, 1],
    };
    byId("network").addEventListener("keydown", (event) => {
      if (event.key === "0") network.fit();
      else if (event.key === "Escape") choose(null);
      else if (keys[event.key]) network.move(...keys[event.key]);
      else return;
      event.preventDefault();
    });
    const nodes = network.model("nodes");
    nodes.selected.properties.indices.change.connect(() => {
      const [x] = nodes.selected.indices;
      if ((x ?? null) !== state.chosen) choose(x ?? null);
    });
    for (const range of [network.root.x_range, network.root.y_range]) range.change.connect(labelsSoon);
    for (const [picture, point] of [[network, pointAtNetwork], [heatmap, pointAtHeatmap]]) {
      picture.element.addEventListener("mousemove", point);
      picture.element.addEventListener("mouseleave", (event) => tell(event, null));
    }
    new ResizeObserver(() => { network.fit(); heatmap.fit(); }).observe(document.querySelector("main"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paintTheme);
  };

  const boxOf = (xs, ys, room) => {
    const low = (v) => v.reduce((a, b) => Math.min(a, b), Infinity), high = (v) => v.reduce((a, b) => Math.max(a, b), -Infinity);
    const wide = Math.max((high(xs) - low(xs)) * room, 0.8), tall = Math.max((high(ys) - low(ys)) * room, 0.8);
    return [low(xs) - wide, low(ys) - tall, high(xs) + wide, high(ys) + tall];
  };

  const start = async () => {
    if (whole) whole.attach(choose);
    listen();
    if (byId("threshold")) { setScale(); filterEdges(); }
    network = await embed("network");
    heatmap = await embed("heatmap");
    const nodes = network.model("nodes").data;
    network.box = boxOf(Array.from(nodes.x), Array.from(nodes.y), 0.07);
    const n = data.names.length, room = n <= 60 ? Math.max(n * 0.3, 2.2) : n * 0.22;
    heatmap.box = [-room, -n - n * 0.03, n + n * 0.03, room];
    network.fit();
    heatmap.fit();
    paintTheme();
    listenToPictures();
    filterEdges();
    drawLabels();
    document.documentElement.dataset.ready = "yes";
  };

  // For tests and for the curious: where a variable stands on the screen, and what is shown.
  window.mnlearn = {
    state,
    network: () => network,
    at: (name) => {
      const x = data.names.indexOf(name), nodes = network.model("nodes").data;
      const [px, py] = network.place(nodes.x[x], nodes.y[x]), box = byId("network").getBoundingClientRect();
      return [box.left + px, box.top + py];
    },
    edgesDrawn: () => network.model("edge_filter").indices.length,
    labelsDrawn: () => network.model("label_filter").indices.map((x) => data.names[x]),
    range: () => [network.root.x_range.start, network.root.x_range.end],
  };
  start();
})();
