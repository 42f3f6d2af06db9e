// What the statement's own formulas, as SymPy writes them, say of chosen numbers; `model` stands before this.
"use strict";
const formula = (text) => new Function("v", "return " + text);
for (const step of model.steps) step.f = formula(step.f);
for (const claim of model.claims) for (const term of claim.terms) term.f = formula(term.f);
for (const each of model.conditions) { each.left = formula(each.left); each.right = formula(each.right); }
const ROUNDING = 1e-12;
const SCAN = 480, HALVINGS = 70;
const byName = Object.fromEntries(model.parameters.map((p) => [p.name, p]));
const stepNames = model.parameters.filter((p) => p.step).map((p) => p.name);
// The step sizes that are to be at their largest admissible values.
const largest = new Set();

// Whether left <operator> right, up to rounding; a difference of so much is none.
function holds(left, operator, right) {
  const finite = Number.isFinite(left) && Number.isFinite(right);
  const slack = finite ? ROUNDING * Math.max(Math.abs(left), Math.abs(right)) : 0;
  if (operator === "<=") return left <= right + slack;
  if (operator === ">=") return left >= right - slack;
  if (operator === "<") return left < right - slack;
  if (operator === ">") return left > right + slack;
  return left === right || Math.abs(left - right) <= slack;
}

// All numbers that follow from those that are given.
function complete(given) {
  const v = { ...given };
  for (const step of model.steps) {
    if (!(step.name in v) && step.needs.every((name) => name in v)) v[step.name] = step.f(v);
  }
  return v;
}

// Both sides of every condition; undecided, null, where a number is missing.
function checked(v) {
  return model.conditions.map((each) => {
    if (!each.needs.every((name) => name in v)) return { text: each.text, holds: null };
    const left = each.left(v), right = each.right(v);
    return { text: each.text, operator: each.operator, left, right, holds: holds(left, each.operator, right) };
  });
}

function evaluate(given) {
  const v = complete(given);
  const claims = model.claims.map((claim) => {
    const terms = claim.terms.map((term) => ({ label: term.label, value: term.f(v) }));
    return { name: claim.name, terms, value: terms.reduce((sum, term) => sum + term.value, 0) };
  });
  const conditions = checked(v);
  return { values: v, claims, conditions, applicable: conditions.every((each) => each.holds !== false) };
}

function admits(given, name, x) {
  return checked(complete({ ...given, [name]: x })).every((each) => each.holds !== false);
}

// Intervals of a step size in which no condition is broken, by a scan and bisection; the ends of the scan are open.
function intervals(given, name) {
  const p = byName[name], rest = { ...given };
  delete rest[name];
  const low = Math.log(p.low) - 20, high = Math.log(p.high) + 20;
  const at = (k) => Math.exp(low + (high - low) * k / SCAN);
  const edge = (inside, outside) => {
    for (let k = 0; k < HALVINGS; k++) {
      const middle = Math.sqrt(inside * outside);
      if (admits(rest, name, middle)) inside = middle; else outside = middle;
    }
    return inside;
  };
  const found = [];
  let from = null;
  for (let k = 0; k <= SCAN; k++) {
    const inside = admits(rest, name, at(k));
    if (inside && from === null) from = k === 0 ? 0 : edge(at(k), at(k - 1));
    if (!inside && from !== null) { found.push([from, edge(at(k - 1), at(k))]); from = null; }
  }
  if (from !== null) found.push([from, Infinity]);
  return found;
}

// The chosen numbers, with step sizes at their largest admissible values where that is wanted.
function filled(given) {
  const v = { ...given };
  for (const name of stepNames) if (largest.has(name)) delete v[name];
  for (const name of stepNames) {
    if (!largest.has(name)) continue;
    const last = intervals(v, name).at(-1);
    v[name] = last && Number.isFinite(last[1]) ? last[1] : byName[name].value ?? 1;
  }
  return v;
}
