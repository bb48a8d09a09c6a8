// SPDX-License-Identifier: Apache-2.0
// What the devices do: tables, and plots over the last minutes.

import {get} from './api.js';
import {bars, lines, number, quantile} from './plot.js';
import * as ways from './ways.js';

const $ = (id) => document.getElementById(id);
const pauseMs = 2000;
const keptSeconds = 600;
const windowSeconds = 20;
const windows = keptSeconds / windowSeconds;

let timer = null;
let told = null;
// What the page saw itself: {at, waiting, running, batches}, newest last.
let seen = [];

function cell(kind, text) {
  const x = document.createElement(kind);
  if (text instanceof Node) x.append(text);
  else x.textContent = text;
  return x;
}

function table(into, heads, rows) {
  const head = document.createElement('tr');
  head.append(...heads.map((h) => cell('th', h)));
  const body = rows.map((row) => {
    const line = document.createElement('tr');
    line.append(...row.map((c) => cell('td', c)));
    return line;
  });
  into.replaceChildren(head, ...body);
}

function meter(value, most) {
  const x = document.createElement('meter');
  x.max = most || 1;
  x.value = value;
  x.textContent = `${value} of ${most}`;
  const box = document.createElement('span');
  box.append(x, ` ${value} of ${most}`);
  return box;
}

// Puts what has an age into windows, oldest first.
function inWindows(all, ageOf) {
  const out = Array.from({length: windows}, () => []);
  for (const x of all) {
    const age = ageOf(x);
    if (age >= 0 && age < keptSeconds)
      out[windows - 1 - Math.floor(age / windowSeconds)].push(x);
  }
  return out;
}

function variantsOf(recent) {
  return [...new Set(recent.map((r) => r.variant))].sort();
}

function rates(recent) {
  return variantsOf(recent).map((name) => ({name,
    values: inWindows(recent.filter((r) => r.variant === name), (r) => r.age_s)
      .map((w) => w.length * 60 / windowSeconds)}));
}

function latencies(recent) {
  const sorted = inWindows(recent, (r) => r.age_s)
    .map((w) => w.map((r) => r.seconds).sort((a, b) => a - b));
  return [['p50', 0.5], ['p95', 0.95]].map(([name, share]) => ({name,
    values: sorted.map((w) => w.length ? quantile(w, share) : null)}));
}

function pictures(recent) {
  return variantsOf(recent).map((name) => ({name, points: recent
    .filter((r) => r.variant === name).map((r) => [r.age_s, r.seconds])}));
}

function mean(values) {
  return values.length ? values.reduce((a, b) => a + b, 0) / values.length : null;
}

function queues(now) {
  const all = inWindows(seen, (s) => now - s.at);
  return ['waiting', 'running'].map((name) => ({name,
    values: all.map((w) => mean(w.map((s) => s[name])))}));
}

// Rows of a step in each window: by what the counters grew.
function rowsOfSteps(now) {
  let before = null;
  const values = inWindows(seen, (s) => now - s.at).map((w) => {
    if (!w.length) return null;
    const last = w.at(-1).batches;
    const first = before ?? w[0].batches;
    before = last;
    const grown = last.map((n, rows) => n - (first[rows] ?? 0));
    const steps = grown.reduce((a, b) => a + b, 0);
    return steps > 0 ? grown.reduce((a, n, rows) => a + n * rows, 0) / steps : null;
  });
  return [{name: 'mean', values}];
}

function total(name, value) {
  const x = document.createElement('div');
  x.className = 'card';
  const text = document.createElement('strong');
  text.textContent = value;
  const label = document.createElement('span');
  label.textContent = name;
  x.append(text, label);
  return x;
}

function showTables(x) {
  const r = x.requests;
  $('totals').replaceChildren(
    total('pictures', r.answered), total('running', r.running),
    total('waiting', r.waiting), total('failed', r.failed),
    total('cancelled', r.cancelled), total('refused', r.refused),
    total('late', r.late), total('resumed', r.resumed),
    total('slots in use', `${x.arena.slots_used} of ${x.arena.slots}`));
  $('plan').textContent = `Plan ${x.plan_version} of the policy ${x.policy}`
    + (x.saturated ? ': more is asked for than the devices can do' : '');
  table($('workers'), ['Device', 'Hosts', 'State', 'Requests', 'Rows of a step'],
    x.workers.map((w) => [w.device, w.variants.join(', ') || 'nothing',
      w.loading ? 'loading' : w.running ? 'working' : 'idle',
      meter(w.running, w.seats), `up to ${w.max_batch}`]));
  table($('processes'), ['Process', 'Number', 'State', 'Restarts'],
    x.processes.length
      ? x.processes.map((p) => [p.role, p.pid, p.alive ? 'alive' : 'down', p.restarts])
      : [['all in one', '', 'alive', '']]);
}

function showWays(x, recent) {
  const all = ways.waysOf(recent);
  ways.drawPlan($('plot-plan'), x.routes, all);
  ways.draw($('plot-ways'), all);
  table($('ways'), ['Route', 'Drawn by', 'Pictures', 'Share', 'p50', 'p95'],
    all.map((w) => [w.route, w.variant, w.count, `${number(100 * w.share)} %`,
      `${number(w.p50)} s`, `${number(w.p95)} s`]));
}

function note(x) {
  told = x;
  const now = Date.now() / 1000;
  seen.push({at: now, waiting: x.requests.waiting, running: x.requests.running,
    batches: x.batches});
  seen = seen.filter((s) => now - s.at <= keptSeconds);
}

function show() {
  const x = told;
  const now = Date.now() / 1000;
  showTables(x);
  const recent = x.recent.filter((r) => r.age_s <= keptSeconds);
  showWays(x, recent);
  const over = {seconds: keptSeconds};
  lines($('plot-rate'), {...over, unit: 'pictures/min', series: rates(recent)});
  lines($('plot-latency'), {...over, unit: 's', series: latencies(recent),
    dots: pictures(recent)});
  lines($('plot-queue'), {...over, unit: 'requests', series: queues(now)});
  lines($('plot-rows'), {...over, unit: 'rows', series: rowsOfSteps(now)});
  bars($('plot-batches'), {unit: 'steps', axis: 'rows in a batch',
    values: x.batches.slice(1)});
}

async function refresh() {
  try {
    note(await get('/v1/cluster'));
    show();
  } catch (e) {
    $('totals').replaceChildren(total('The server does not tell', e.message));
  }
}

// Plots are drawn for the width that they have.
window.addEventListener('resize', () => {
  if (timer && told) show();
});

export function open() {
  if (timer) return;
  refresh();
  timer = setInterval(refresh, pauseMs);
}

export function close() {
  clearInterval(timer);
  timer = null;
}
