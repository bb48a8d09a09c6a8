// SPDX-License-Identifier: Apache-2.0
// What the devices do: tables, and plots over the last minutes.

import {get} from './api.js';

const $ = (id) => document.getElementById(id);
const svgNames = 'http://www.w3.org/2000/svg';
const pauseMs = 2000;
const keptSeconds = 600;

let timer = null;
let queue = []; // {at, waiting, running}, newest last.

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

function svg(name, attributes, text) {
  const x = document.createElementNS(svgNames, name);
  for (const [key, value] of Object.entries(attributes)) x.setAttribute(key, value);
  if (text != null) x.textContent = text;
  return x;
}

function color(i) {
  return `var(--plot-${i % 4 + 1})`;
}

// A round number at or above x.
function ceiling(x) {
  if (x <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(x));
  return [1, 2, 5, 10].map((f) => f * power).find((y) => y >= x);
}

// Draws frame, scale and legend; returns functions from values to places.
function frame(into, most, unit, names) {
  const width = into.clientWidth || 320;
  const height = into.clientHeight || 176;
  const left = 40, right = 8, top = names.length > 1 ? 22 : 8, bottom = 22;
  into.setAttribute('viewBox', `0 0 ${width} ${height}`);
  const y = (v) => height - bottom - v / most * (height - top - bottom);
  const parts = [0, 0.5, 1].flatMap((share) => [
    svg('line', {class: 'axis', x1: left, x2: width - right,
      y1: y(share * most), y2: y(share * most)}),
    svg('text', {x: left - 6, y: y(share * most) + 4, 'text-anchor': 'end'},
      +(share * most).toPrecision(3)),
  ]);
  let x = left;
  if (names.length > 1)
    names.forEach((name, i) => {
      parts.push(svg('rect', {x, y: 4, width: 10, height: 10, fill: color(i)}));
      parts.push(svg('text', {x: x + 14, y: 13}, name));
      x += 28 + 6.2 * name.length;
    });
  into.replaceChildren(...parts);
  return {left, width: width - left - right, y, base: height - bottom, height, unit};
}

function timeAxis(into, f, seconds) {
  for (const share of [0, 0.5, 1])
    into.append(svg('text', {
      x: f.left + share * f.width, y: f.height - 6,
      'text-anchor': ['start', 'middle', 'end'][share * 2],
    }, share === 1 ? 'now' : `${Math.round((share - 1) * seconds / 60 * 10) / 10} min`));
}

// series: [{name, points: [[age in seconds, value]]}]
function lines(into, series, dots) {
  const values = series.flatMap((s) => s.points.map((p) => p[1]));
  const f = frame(into, ceiling(Math.max(0, ...values)), '', series.map((s) => s.name));
  timeAxis(into, f, keptSeconds);
  const x = (age) => f.left + (1 - age / keptSeconds) * f.width;
  series.forEach((s, i) => {
    const points = s.points.filter((p) => p[0] <= keptSeconds);
    if (dots)
      for (const [age, v] of points)
        into.append(svg('circle', {cx: x(age), cy: f.y(v), r: 2.5, fill: color(i)}));
    else
      into.append(svg('polyline', {class: 'series', stroke: color(i),
        points: points.map(([age, v]) => `${x(age)},${f.y(v)}`).join(' ')}));
  });
}

function bars(into, counts) {
  const shown = counts.slice(1);
  const f = frame(into, ceiling(Math.max(0, ...shown)), '', []);
  const each = f.width / Math.max(1, shown.length);
  shown.forEach((n, i) => {
    into.append(svg('rect', {x: f.left + i * each + 1, width: Math.max(1, each - 2),
      y: f.y(n), height: f.base - f.y(n), fill: color(0)}));
    if (shown.length <= 16 || i % 8 === 0)
      into.append(svg('text', {x: f.left + (i + 0.5) * each, y: f.height - 6,
        'text-anchor': 'middle'}, i + 1));
  });
}

// Pictures a minute in windows of 20 s.
function rates(recent) {
  const window = 20;
  const names = [...new Set(recent.map((r) => r.variant))].sort();
  return names.map((name) => {
    const counts = Array(keptSeconds / window).fill(0);
    for (const r of recent)
      if (r.variant === name && r.age_s < keptSeconds)
        counts[Math.floor(r.age_s / window)] += 60 / window;
    return {name, points: counts.map((n, i) => [(i + 0.5) * window, n])};
  });
}

function latencies(recent) {
  const names = [...new Set(recent.map((r) => r.variant))].sort();
  return names.map((name) => ({name, points: recent
    .filter((r) => r.variant === name).map((r) => [r.age_s, r.seconds])}));
}

function total(name, value) {
  const x = document.createElement('div');
  x.className = 'card';
  const number = document.createElement('strong');
  number.textContent = value;
  const label = document.createElement('span');
  label.textContent = name;
  x.append(number, label);
  return x;
}

function show(x) {
  const r = x.requests;
  $('totals').replaceChildren(
    total('pictures', r.answered), total('running', r.running),
    total('waiting', r.waiting), total('failed', r.failed),
    total('cancelled', r.cancelled), total('refused', r.refused),
    total('late', r.late), total('resumed', r.resumed),
    total('slots in use', `${x.arena.slots_used} of ${x.arena.slots}`),
    total('policy', x.policy), total('plan', x.plan_version));
  table($('workers'), ['Device', 'Hosts', 'State', 'Requests', 'Rows of a step'],
    x.workers.map((w) => [w.device, w.variants.join(', ') || 'nothing',
      w.loading ? 'loading' : w.running ? 'working' : 'idle',
      meter(w.running, w.seats), `up to ${w.max_batch}`]));
  table($('processes'), ['Process', 'Number', 'State', 'Restarts'],
    x.processes.length
      ? x.processes.map((p) => [p.role, p.pid, p.alive ? 'alive' : 'down', p.restarts])
      : [['all in one', '', 'alive', '']]);
  const now = Date.now() / 1000;
  queue.push({at: now, waiting: r.waiting, running: r.running});
  queue = queue.filter((q) => now - q.at <= keptSeconds);
  lines($('plot-rate'), rates(x.recent));
  lines($('plot-latency'), latencies(x.recent), true);
  lines($('plot-queue'), ['waiting', 'running'].map((name) => ({
    name, points: queue.map((q) => [now - q.at, q[name]])})));
  bars($('plot-batches'), x.batches);
}

async function refresh() {
  try {
    show(await get('/v1/cluster'));
  } catch (e) {
    $('totals').replaceChildren(total('The server does not tell', e.message));
  }
}

export function open() {
  if (timer) return;
  refresh();
  timer = setInterval(refresh, pauseMs);
}

export function close() {
  clearInterval(timer);
  timer = null;
}
