"use strict";
// Buttons that save the picture as it is on the screen (SVG, PNG) and the tables (CSV), without any request.
(() => {
  const byId = (id) => document.getElementById(id);
  const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c])
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, " ");  // which XML forbids

  const download = (blob, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  };

  // ---- the picture ----------------------------------------------------------------------------------------------

  const FONT = "Helvetica, Arial, sans-serif";
  const text = (x, y, words, anchor, size) =>
    `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" font-family="${FONT}" font-size="${size}" fill="#000000">${escaped(words)}</text>`;

  const legendOf = () => Array.from(document.querySelectorAll(".key > span:not(.scripted)"), (span) => {
    const mark = span.querySelector("i");
    return { words: span.textContent.trim(), color: getComputedStyle(mark).backgroundColor, dot: mark.classList.contains("dot") };
  });

  const legend = (width, top) => {
    let x = 16, y = top;
    return legendOf().map(({ words, color, dot }) => {
      const wide = 44 + 6.4 * words.length;
      if (x > 16 && x + wide > width) [x, y] = [16, y + 20];
      const mark = dot
        ? `<circle cx="${x + 12}" cy="${y - 4}" r="5" fill="${color}"/>`
        : `<line x1="${x}" y1="${y - 4}" x2="${x + 24}" y2="${y - 4}" stroke="${color}" stroke-width="4"/>`;
      const made = mark + text(x + 32, y, words, "start", 12);
      x += wide;
      return [made, y];
    });
  };

  const pictureOf = (network) => {
    const [width, height] = network.size();
    const edges = network.model("edges").data, nodes = network.model("nodes").data;
    const at = (x, y) => network.place(x, y).map((value) => value.toFixed(1));
    const parts = network.model("edge_filter").indices.map((k) => {
      const [x0, y0] = at(edges.x0[k], edges.y0[k]), [x1, y1] = at(edges.x1[k], edges.y1[k]);
      return `<line x1="${x0}" y1="${y0}" x2="${x1}" y2="${y1}" stroke="${edges.color[k]}" stroke-width="${edges.width[k].toFixed(2)}" stroke-opacity="${edges.alpha[k].toFixed(2)}" stroke-linecap="round"/>`;
    });
    Array.from(nodes.x).forEach((_, k) => {
      const [x, y] = at(nodes.x[k], nodes.y[k]);
      parts.push(`<circle cx="${x}" cy="${y}" r="${(nodes.size[k] / 2).toFixed(1)}" fill="${nodes.color[k]}" fill-opacity="${nodes.alpha[k]}" stroke="#ffffff"/>`);
    });
    for (const k of network.model("label_filter").indices) {
      const [x, y] = network.place(nodes.x[k], nodes.y[k]);
      parts.push(text(x, y + nodes.below[k] + 12, nodes.label[k], "middle", 13));
    }
    const key = legend(width, height + 20), bottom = key.length ? key[key.length - 1][1] + 14 : height;
    const inside = [...parts, `<rect x="0" y="${height}" width="${width}" height="${bottom - height}" fill="#ffffff"/>`, ...key.map(([made]) => made)];
    return {
      width, height: bottom,
      svg: `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${bottom}" viewBox="0 0 ${width} ${bottom}"><rect width="${width}" height="${bottom}" fill="#ffffff"/>${inside.join("")}</svg>`,
    };
  };

  const saveSvg = () => download(new Blob([pictureOf(window.mnlearn.network()).svg], { type: "image/svg+xml" }), "network.svg");
  const savePng = () => {
    const { svg, width, height } = pictureOf(window.mnlearn.network());
    const image = new Image(), scale = 3, url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    image.addEventListener("load", () => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [width * scale, height * scale];
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      URL.revokeObjectURL(url);
      canvas.toBlob((blob) => download(blob, "network.png"), "image/png");
    });
    image.src = url;
  };

  // ---- tables ---------------------------------------------------------------------------------------------------

  const cell = (element) => {
    const named = element.querySelector("bdi")?.textContent ?? element.dataset.value ?? element.textContent.trim();
    const safe = element.dataset.value === undefined && /^[=+\-@\t\r\n＝＋－＠]/.test(named) ? `'${named}` : named;  // no formula
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const tableOf = (table) => {
    const rows = [table.tHead.rows[0], ...Array.from(table.tBodies[0].rows).filter((row) => !row.hidden)];
    return rows.map((row) => Array.from(row.cells, cell).join(",")).join("\n") + "\n";
  };

  window.mnlearn.saved = { picture: () => pictureOf(window.mnlearn.network()).svg, table: (id) => tableOf(byId(id)) };
  byId("save-svg").addEventListener("click", saveSvg);
  byId("save-png").addEventListener("click", savePng);
  document.querySelectorAll("[data-save-table]").forEach((button) => {
    const id = button.dataset.saveTable;
    button.addEventListener("click", () => download(new Blob(["\ufeff", tableOf(byId(id))], { type: "text/csv" }), `${id.replace("-table", "s")}.csv`));
  });
})();
