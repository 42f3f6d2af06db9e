// Everything on the page that follows from the chosen numbers.
const POINTS = 81, MAP = 60;
const chosen = {};
let axis = "", stepAxis = stepNames[0] || "";

const digits = (x) => (Number.isFinite(x) ? String(Number(x.toPrecision(5))) : String(x));
const element = (name, properties, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};
const drawn = (name, attributes, text) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
};

// A slider's place, from 0 to 1000, and the number that it stands for.
function placed(p, x) {
  if (p.kind === "nonnegative" && x === 0) return 0;
  const share = Math.log(x / p.low) / Math.log(p.high / p.low);
  return Math.round(1000 * Math.min(1, Math.max(p.kind === "nonnegative" ? 0.001 : 0, share)));
}
function meant(p, place) {
  if (p.kind === "nonnegative" && place === 0) return 0;
  const x = p.low * Math.pow(p.high / p.low, place / 1000);
  return p.kind === "whole" ? Math.max(1, Math.round(x)) : Number(x.toPrecision(4));
}
function admissible(p, x) {
  if (!Number.isFinite(x)) return false;
  if (p.kind === "whole") return Number.isInteger(x) && x >= 1;
  return p.kind === "real" || x > 0 || (p.kind === "nonnegative" && x === 0);
}

function controls() {
  const place = document.getElementById("controls");
  for (const p of model.parameters) {
    const id = "p-" + p.name;
    const number = element("input", { type: "number", id, step: "any", value: chosen[p.name] });
    const slider = element("input", { type: "range", min: 0, max: 1000, value: placed(p, chosen[p.name]) });
    slider.setAttribute("aria-label", p.name + ": " + p.meaning);
    number.setAttribute("aria-describedby", id + "-meaning");
    const set = (x, from) => {
      if (!admissible(p, x)) { number.setAttribute("aria-invalid", "true"); return; }
      number.removeAttribute("aria-invalid");
      chosen[p.name] = x;
      largest.delete(p.name);
      if (from !== number) number.value = x;
      if (from !== slider) slider.value = placed(p, x);
      refresh();
    };
    slider.addEventListener("input", () => set(meant(p, Number(slider.value)), slider));
    number.addEventListener("input", () => set(number.value === "" ? NaN : Number(number.value), number));
    const row = element("div", { className: "control" });
    row.append(element("label", { htmlFor: id, textContent: p.name }), slider, number);
    if (p.step) {
      const box = element("input", { type: "checkbox", id: id + "-largest", checked: largest.has(p.name) });
      box.addEventListener("change", () => { if (box.checked) largest.add(p.name); else largest.delete(p.name); refresh(); });
      row.append(element("label", { className: "largest" }, box, " largest admissible"));
    }
    row.append(element("small", { id: id + "-meaning", textContent: p.meaning }));
    place.append(row);
    p.show = (x) => {
      if (document.activeElement !== number) number.value = digits(x);
      if (document.activeElement !== slider) slider.value = placed(p, x);
      if (p.step) document.getElementById(id + "-largest").checked = largest.has(p.name);
    };
  }
  const choice = (id, names, value, use) => {
    const select = document.getElementById(id);
    for (const name of names) select.append(element("option", { value: name, textContent: name }));
    select.value = value;
    select.addEventListener("change", () => { use(select.value); refresh(); });
  };
  choice("axis", model.parameters.filter((p) => p.kind !== "real").map((p) => p.name), axis, (name) => { axis = name; });
  choice("step-axis", stepNames, stepAxis, (name) => { stepAxis = name; });
  document.getElementById("region-part").hidden = stepNames.length === 0;
}

// Where the axis of the curve is evaluated.
function along() {
  const p = byName[axis], found = [];
  for (let k = 0; k < POINTS; k++) {
    const x = p.low * Math.pow(p.high / p.low, k / (POINTS - 1));
    const value = p.kind === "whole" ? Math.max(1, Math.round(x)) : x;
    if (found.at(-1) !== value) found.push(value);
  }
  return found;
}

const WIDTH = 640, HEIGHT = 360, LEFT = 64, BOTTOM = 40, TOP = 12, RIGHT = 12;
function scale(low, high, from, to) {
  const a = Math.log(low), b = Math.log(high);
  return (x) => from + (to - from) * (b > a ? (Math.log(x) - a) / (b - a) : 0.5);
}
function ticks(low, high) {
  const found = [], first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first) / 6));
  for (let k = first; k <= last; k += every) found.push(Math.pow(10, k));
  return found.length > 1 ? found : [low, high];
}
function axes(svg, x, y, xs, ys, name) {
  for (const tick of ticks(...xs)) {
    svg.append(drawn("line", { x1: x(tick), x2: x(tick), y1: TOP, y2: HEIGHT - BOTTOM, class: "grid" }));
    svg.append(drawn("text", { x: x(tick), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, digits(tick)));
  }
  for (const tick of ticks(...ys)) {
    svg.append(drawn("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(tick), y2: y(tick), class: "grid" }));
    svg.append(drawn("text", { x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }, tick.toExponential(0)));
  }
  svg.append(drawn("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, name));
}

function curve() {
  const svg = document.getElementById("curve");
  svg.replaceChildren();
  const rows = along().map((x) => {
    const found = evaluate(filled({ ...chosen, [axis]: x }));
    return { x, applicable: found.applicable, ...found.claims[0] };
  }).filter((row) => Number.isFinite(row.value) && row.value > 0);
  if (!rows.length) return;
  const dots = (model.measured[axis] || []).filter((each) => each.left > 0);
  const top = Math.max(...rows.map((row) => row.value), ...dots.map((each) => each.left));
  const least = Math.min(...rows.map((row) => row.value), ...dots.map((each) => each.left));
  const ys = [Math.max(least / 30, top * 1e-9), top * 1.3], xs = [rows[0].x, rows.at(-1).x];
  const x = scale(...xs, LEFT, WIDTH - RIGHT), y = scale(...ys, HEIGHT - BOTTOM, TOP);
  axes(svg, x, y, xs, ys, axis);
  const path = (pick, wanted) => rows.map((row, k) => {
    const value = pick(row);
    if (!(value > 0) || value < ys[0] || !wanted(row)) return "";
    const before = k && wanted(rows[k - 1]) && pick(rows[k - 1]) >= ys[0];
    return (before ? "L" : "M") + x(row.x).toFixed(1) + " " + y(value).toFixed(1);
  }).join("");
  rows[0].terms.forEach((term, k) => svg.append(
    drawn("path", { d: path((row) => row.terms[k].value, () => true), class: "term term-" + (k % 6) })));
  svg.append(drawn("path", { d: path((row) => row.value, (row) => row.applicable), class: "bound" }));
  svg.append(drawn("path", { d: path((row) => row.value, (row) => !row.applicable), class: "bound broken" }));
  for (const each of dots) svg.append(drawn("circle", { cx: x(each.x), cy: y(each.left), r: 4, class: "measured" }));
  const here = filled(chosen)[axis], now = evaluate(filled(chosen)).claims[0].value;
  if (here >= xs[0] && here <= xs[1] && now > ys[0]) {
    svg.append(drawn("circle", { cx: x(here), cy: y(now), r: 5, class: "here" }));
  }
  const legend = document.getElementById("legend");
  legend.replaceChildren(element("li", { className: "bound", textContent: "bound (dashed where a condition is broken)" }));
  rows[0].terms.forEach((term, k) =>
    legend.append(element("li", { className: "term-" + (k % 6), textContent: term.label })));
  if (dots.length) {
    legend.append(element("li", { className: "measured", textContent: "measured: " + model.measuredAt }));
  }
}

function region() {
  if (!stepAxis) return;
  const canvas = document.getElementById("region"), context = canvas.getContext("2d");
  const other = axis === stepAxis ? model.parameters.find((p) => p.name !== stepAxis && p.kind !== "real").name : axis;
  const p = byName[other], s = byName[stepAxis], given = filled(chosen);
  const centre = given[stepAxis], low = Math.log(centre) - 6, high = Math.log(centre) + 6;
  const style = getComputedStyle(document.documentElement);
  const yes = style.getPropertyValue("--good"), no = style.getPropertyValue("--bad");
  const w = canvas.width / MAP, h = canvas.height / MAP;
  const rest = { ...given };
  delete rest[stepAxis];
  for (let k = 0; k < MAP; k++) {
    const x = p.low * Math.pow(p.high / p.low, (k + 0.5) / MAP);
    const at = { ...rest, [other]: p.kind === "whole" ? Math.max(1, Math.round(x)) : x };
    for (let j = 0; j < MAP; j++) {
      const step = Math.exp(low + (high - low) * (j + 0.5) / MAP);
      context.fillStyle = admits(at, stepAxis, step) ? yes : no;
      context.fillRect(Math.floor(k * w), Math.floor(canvas.height - (j + 1) * h), Math.ceil(w), Math.ceil(h));
    }
  }
  const px = canvas.width * Math.log(given[other] / p.low) / Math.log(p.high / p.low);
  context.beginPath();
  context.arc(px, canvas.height / 2, 5, 0, 7);
  context.fillStyle = style.getPropertyValue("--ink");
  context.fill();
  document.getElementById("region-x").textContent =
    other + " from " + digits(p.low) + " to " + digits(p.high) + ", left to right";
  document.getElementById("region-y").textContent =
    stepAxis + " from " + digits(Math.exp(low)) + " to " + digits(Math.exp(high)) + ", bottom to top";
}

function refresh() {
  const given = filled(chosen);
  for (const p of model.parameters) p.show(given[p.name]);
  const found = evaluate(given);
  const rows = document.getElementById("terms");
  rows.replaceChildren();
  for (const claim of found.claims) {
    for (const term of claim.terms) {
      const share = claim.value > 0 ? 100 * term.value / claim.value : 0;
      rows.append(element("tr", {}, element("th", { scope: "row", textContent: term.label }),
        element("td", { textContent: digits(term.value) }), element("td", { textContent: share.toFixed(1) + "%" })));
    }
    rows.append(element("tr", { className: "total" },
      element("th", { scope: "row", textContent: model.claims.length > 1 ? "bound, " + claim.name : "bound" }),
      element("td", { textContent: digits(claim.value) }), element("td", {})));
  }
  const list = document.getElementById("conditions");
  list.replaceChildren(...found.conditions.map((each) => element("li", {
    className: each.holds === false ? "broken" : "holds",
    textContent: (each.holds === false ? "broken: " : each.holds ? "holds: " : "open: ") + each.text +
      (each.holds === null ? "" : "   " + digits(each.left) + " " + each.operator + " " + digits(each.right)),
  })));
  const open = (ends) => (ends[0] === 0 ? "0 < " : digits(ends[0]) + " <= ") ;
  document.getElementById("admissible").replaceChildren(...stepNames.map((name) => {
    const parts = intervals(given, name).map((ends) =>
      open(ends) + name + (Number.isFinite(ends[1]) ? " <= " + digits(ends[1]) : ""));
    return element("li", { textContent: parts.join(" or ") || "no " + name + " is admissible at these numbers" });
  }));
  document.getElementById("set").textContent = model.steps.filter((step) => step.name in found.values)
    .map((step) => step.name + " = " + digits(found.values[step.name])).join(", ");
  const first = found.claims[0].value;
  document.getElementById("said").textContent =
    "The bound is " + digits(first) + (found.applicable ? "; every condition holds." : "; a condition is broken, so it bounds nothing.");
  const words = model.parameters.map((p) => p.name + "=" + given[p.name]).join(" ");
  document.getElementById("command").textContent = "ratecheck bound " + model.key + " " + words;
  history.replaceState(null, "", "#" + model.parameters
    .map((p) => p.name + "=" + (largest.has(p.name) ? "largest" : chosen[p.name])).concat("axis=" + axis).join("&"));
  curve();
  region();
}

// The setting that a link names; what it does not name is as the page begins.
function restore() {
  for (const p of model.parameters) {
    chosen[p.name] = p.value ?? 1;
    if (p.step) largest.add(p.name);
  }
  axis = ["T", "K"].find((name) => name in byName) || model.parameters.find((p) => p.kind !== "real").name;
  for (const part of decodeURIComponent(location.hash.slice(1)).split("&")) {
    const [name, value] = part.split("=");
    if (name === "axis" && value in byName) axis = value;
    if (!(name in byName)) continue;
    if (value !== "largest" && admissible(byName[name], Number(value))) {
      chosen[name] = Number(value);
      largest.delete(name);
    }
  }
}

restore();
controls();
refresh();
window.addEventListener("hashchange", () => location.reload());
