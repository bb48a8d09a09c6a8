// SPDX-License-Identifier: Apache-2.0
// What the devices do: figures, tables, and plots over the last minutes.

import {get} from './api.js';
import {bars, lines, number, placeOf, quantile} from './plot.js';
import * as ways from './ways.js';

const $ = (id) => document.getElementById(id);
const pauseMs = 2000;
const keptSeconds = 600;
const mostWindows = 30;
// The server is asked every two seconds: a window holds two readings.
const leastWindowSeconds = 4;

let timer = null;
let told = null;
// What the page saw itself: {at, waiting, running, batches}, newest last.
let seen = [];
// The plan in force: what it says, and when the page saw it begin.
let plan = {content: null, since: null};

function cell(kind, text, head) {
  const x = document.createElement(kind);
  if (text instanceof Node) x.append(text);
  else x.textContent = text;
  x.setAttribute('role', kind === 'th' ? 'columnheader' : 'cell');
  if (head) x.dataset.head = head;
  return x;
}

// Roles are said, because a phone shows rows as blocks.
function row(cells, className = '') {
  const x = document.createElement('tr');
  x.setAttribute('role', 'row');
  x.className = className;
  x.append(...cells);
  return x;
}

function table(into, heads, rows) {
  into.setAttribute('role', 'table');
  into.hidden = !rows.length;
  into.replaceChildren(row(heads.map((h) => cell('th', h)), 'heads'),
    ...rows.map((r) => row(r.map((c, i) => cell('td', c, heads[i])))));
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

function lengthOf(over) {
  return Math.max(leastWindowSeconds, over / mostWindows);
}

// Puts what has an age into windows over some seconds, oldest first.
function inWindows(all, ageOf, over) {
  const each = lengthOf(over);
  const n = Math.round(over / each);
  const out = Array.from({length: n}, () => []);
  for (const x of all) {
    const k = n - 1 - Math.floor(ageOf(x) / each);
    if (k >= 0 && k < n) out[k].push(x);
  }
  return out;
}

function variantsOf(recent) {
  return [...new Set(recent.map((r) => r.variant))].sort();
}

function rates(recent) {
  return variantsOf(recent).map((name) => ({name, named: true,
    values: inWindows(recent.filter((r) => r.variant === name), (r) => r.age_s,
      keptSeconds).map((w) => w.length * 60 / lengthOf(keptSeconds))}));
}

function latencies(recent) {
  const sorted = inWindows(recent, (r) => r.age_s, keptSeconds)
    .map((w) => w.map((r) => r.seconds).sort((a, b) => a - b));
  return [['p50', 0.5], ['p95', 0.95]].map(([name, share]) => ({name,
    values: sorted.map((w) => w.length ? quantile(w, share) : null)}));
}

function images(recent) {
  return variantsOf(recent).map((name) => ({name, points: recent
    .filter((r) => r.variant === name).map((r) => [r.age_s, r.seconds])}));
}

function mean(values) {
  return values.length ? values.reduce((a, b) => a + b, 0) / values.length : null;
}

function queues(now, over) {
  const all = inWindows(seen, (s) => now - s.at, over);
  return ['waiting', 'running'].map((name) => ({name,
    values: all.map((w) => mean(w.map((s) => s[name])))}));
}

// Images of a step in each window: by what the counters grew.
function imagesOfSteps(now, over) {
  let before = null;
  const values = inWindows(seen, (s) => now - s.at, over).map((w) => {
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

const named = new Set(['accepted', 'answered', 'running', 'waiting', 'failed',
  'late', 'cancelled', 'refused', 'resumed']);

// The figures keep their places while the server tells the same ones: only their
// values change.
function showTotals(x) {
  const r = x.requests;
  const all = {Images: r.answered, Running: r.running, Waiting: r.waiting,
    Failed: r.failed, 'Past deadline': r.late, Cancelled: r.cancelled,
    Refused: r.refused, Resumed: r.resumed,
    'Slots in use': `${x.arena.slots_used} / ${x.arena.slots}`};
  // Those without a word of their own here have the server's name.
  for (const [name, value] of Object.entries(r))
    if (!named.has(name)) all[name.replaceAll('_', ' ')] = value;
  const heads = [...$('totals').querySelectorAll('dt')].map((x) => x.textContent);
  if (heads.join('\n') !== Object.keys(all).join('\n')) {
    $('totals').replaceChildren();
    for (const name of Object.keys(all)) {
      const box = document.createElement('div');
      const [head, value] = [document.createElement('dt'), document.createElement('dd')];
      head.textContent = name;
      box.append(head, value);
      $('totals').append(box);
    }
  }
  Object.values(all).forEach((value, i) => {
    $('totals').children[i].lastElementChild.textContent = value;
  });
}

// A plan is made anew every so often: what counts is whether it says something
// else, be it what devices host or which requests take which route.
function notePlan(x) {
  const content = JSON.stringify([x.policy, x.routes, x.thresholds,
    x.workers.map((w) => [w.device, w.variants])]);
  if (content === plan.content) return;
  plan = {content, since: plan.content == null ? null : new Date()};
}

function onlyRoute(x) {
  const used = x.routes.filter((r) => r.shares.some((share) => share > 0));
  return used.length === 1 ? used[0] : null;
}

function showPlan(x, all) {
  const only = onlyRoute(x);
  const since = plan.since ? `changed at ${plan.since.toLocaleTimeString()}`
    : 'unchanged since this page was opened';
  const routes = only ? ` Every request takes the route ${only.name}.` : '';
  $('plan').textContent = `Policy ${x.policy}, ${since}.${routes}`;
  const trouble = [
    x.saturated ? 'The devices cannot serve all that is requested.' : '',
    x.infeasible || ''].filter(Boolean).join(' ');
  $('plan-trouble').textContent = trouble;
  $('plan-trouble').hidden = !trouble;
  const others = all.some((w) => w.route !== only?.name);
  const drawn = x.routes.length > 0 && (!only || others);
  $('plan-figure').hidden = !drawn;
  if (drawn) ways.drawPlan($('plot-plan'), x.routes, all);
}

function stateOf(w) {
  if (!w.alive) return 'down';
  const state = w.loading ? 'loading' : w.running ? 'working' : 'idle';
  return w.slow ? `${state}, slow` : state;
}

function showTables(x) {
  table($('workers'), ['Device', 'Models', 'State', 'Requests', 'Batch size'],
    x.workers.map((w) => [w.device, w.variants.join(', ') || 'none',
      stateOf(w), meter(w.running, w.seats), `up to ${w.max_batch}`]));
  table($('processes'), ['Process', 'PID', 'State', 'Restarts'],
    x.processes.length
      ? x.processes.map((p) => [p.role, p.pid, p.alive ? 'running' : 'down', p.restarts])
      : [['all in one', '-', 'running', '-']]);
}

function showWays(all) {
  const missing = !all.length ? 'No image was finished in the last 10 minutes.'
    : all.length === 1 ? `All ${all[0].count} images took one route.` : '';
  $('ways-missing').textContent = missing;
  $('ways-missing').hidden = !missing;
  $('plot-ways').parentElement.hidden = all.length < 2;
  if (all.length > 1) ways.draw($('plot-ways'), all);
  table($('ways'), ['Route', 'Drawn by', 'Images', 'Share', 'p50', 'p95'],
    all.map((w) => [w.route, w.variant, w.count, `${number(100 * w.share)} %`,
      `${number(w.p50)} s`, `${number(w.p95)} s`]));
}

function note(x) {
  told = x;
  notePlan(x);
  // Hosted variants have the first colours, in the same order after a reload.
  for (const name of [...new Set(x.workers.flatMap((w) => w.variants))].sort())
    placeOf(name);
  const now = Date.now() / 1000;
  seen.push({at: now, waiting: x.requests.waiting, running: x.requests.running,
    batches: x.batches});
  seen = seen.filter((s) => now - s.at <= keptSeconds);
}

// What this page saw is short at first: so is the axis.
function secondsSeen(now) {
  const age = now - seen[0].at;
  return [60, 120, 300].find((x) => age <= x) ?? keptSeconds;
}

function show() {
  const x = told;
  const now = Date.now() / 1000;
  showTotals(x);
  showTables(x);
  const recent = x.recent.filter((r) => r.age_s <= keptSeconds);
  const all = ways.waysOf(recent);
  showPlan(x, all);
  showWays(all);
  const over = {seconds: keptSeconds,
    missing: 'No image was finished in the last 10 minutes.'};
  lines($('plot-rate'), {...over, unit: 'images/min', series: rates(recent)});
  lines($('plot-latency'), {...over, unit: 's', series: latencies(recent),
    dots: images(recent)});
  const here = secondsSeen(now);
  lines($('plot-queue'), {seconds: here, unit: 'requests', series: queues(now, here),
    missing: 'Recorded while this page is open. It starts in a few seconds.'});
  lines($('plot-rows'), {seconds: here, unit: 'images',
    series: imagesOfSteps(now, here),
    missing: 'Recorded while this page is open. No step has run since.'});
  bars($('plot-batches'), {unit: 'steps', axis: 'images in a batch',
    values: x.batches.slice(1), missing: 'No step has run since the server started.'});
}

async function refresh() {
  try {
    note(await get('/v1/cluster'));
    $('cluster-fault').hidden = true;
    show();
  } catch (e) {
    $('cluster-fault').textContent = `The cluster status is unavailable: ${e.message}`;
    $('cluster-fault').hidden = false;
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
