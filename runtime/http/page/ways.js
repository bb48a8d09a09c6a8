// SPDX-License-Identifier: Apache-2.0
// The share of the requests that each route takes: as planned for each class of
// them, and as observed, with routes on the left and models on the right.

import {colourOf, number, quantile, svg} from './plot.js';

const gap = 8;

// Returns routes with the models that drew, most used first: {route, variant, count, share, p50, p95}.
export function waysOf(recent) {
  const found = new Map();
  for (const r of recent) {
    const key = JSON.stringify([r.route || 'direct', r.variant]);
    if (!found.has(key)) found.set(key, []);
    found.get(key).push(r.seconds);
  }
  return [...found].map(([key, took]) => {
    const [route, variant] = JSON.parse(key);
    took.sort((a, b) => a - b);
    return {route, variant, count: took.length, share: took.length / recent.length,
      p50: quantile(took, 0.5), p95: quantile(took, 0.95)};
  }).sort((a, b) => b.count - a.count);
}

function percent(share) {
  return `${number(100 * share)} %`;
}

// Returns name -> {share, y, used}, one below the other.
function column(ways, field, scale) {
  const out = new Map();
  for (const w of ways) {
    const x = out.get(w[field]) ?? {share: 0, used: 0};
    x.share += w.share;
    out.set(w[field], x);
  }
  let y = 22;
  for (const x of out.values()) {
    x.y = y;
    y += x.share * scale + gap;
  }
  return out;
}

export function draw(into, ways) {
  const width = into.clientWidth || 320;
  const names = (field) => new Set(ways.map((w) => w[field]));
  const most = Math.max(names('route').size, names('variant').size);
  const scale = Math.max(80, 28 * most);
  const height = 22 + scale + gap * most;
  into.style.height = `${height}px`;
  into.setAttribute('viewBox', `0 0 ${width} ${height}`);
  into.setAttribute('aria-label', ways
    .map((w) => `${percent(w.share)} by ${w.route}, drawn by ${w.variant}`)
    .join('; '));
  const routes = column(ways, 'route', scale);
  const variants = column(ways, 'variant', scale);
  const side = Math.min(150, width * 0.34);
  const [left, right] = [side, width - side];
  const middle = (left + right) / 2;
  const parts = [svg('text', {x: left - 8, y: 12, 'text-anchor': 'end', class: 'unit'}, 'route'),
    svg('text', {x: right + 8, y: 12, class: 'unit'}, 'drawn by')];
  for (const w of ways) {
    const [from, to] = [routes.get(w.route), variants.get(w.variant)];
    const [a, b, h] = [from.y + from.used, to.y + to.used, w.share * scale];
    from.used += h;
    to.used += h;
    const band = svg('path', {class: 'band', fill: colourOf(w.variant),
      d: `M${left} ${a}C${middle} ${a} ${middle} ${b} ${right} ${b}v${h}`
        + `C${middle} ${b + h} ${middle} ${a + h} ${left} ${a + h}z`});
    band.append(svg('title', {}, `${w.route}, drawn by ${w.variant}: `
      + `${w.count} images, ${percent(w.share)}`));
    parts.push(band);
  }
  for (const [all, x, anchor, away] of [[routes, left, 'end', -8],
    [variants, right, 'start', 8]])
    for (const [name, n] of all) {
      parts.push(svg('rect', {x: x - 2, y: n.y, width: 4, fill: 'var(--ink)',
        height: Math.max(1, n.share * scale)}));
      parts.push(svg('text', {x: x + away, y: n.y + Math.max(11, n.share * scale / 2 + 4),
        'text-anchor': anchor}, `${name} ${percent(n.share)}`));
    }
  into.replaceChildren(...parts);
}

// The stages of a route, for people.
function stagesOf(route) {
  return route.stages.map((s) => s.join(' or ')).join(', then ') || 'nothing';
}

// Returns bars: {name, parts: [[index of the route, share]]}.
function barsOf(routes, ways) {
  const classes = Math.max(0, ...routes.map((r) => r.shares.length));
  const bars = Array.from({length: classes}, (_, c) => ({
    name: classes > 1 ? `class ${c}` : 'planned',
    parts: routes.map((r, i) => [i, r.shares[c] ?? 0]),
  }));
  const came = new Map();
  for (const w of ways) came.set(w.route, (came.get(w.route) ?? 0) + w.share);
  if (ways.length)
    bars.push({name: 'observed',
      parts: routes.map((r, i) => [i, came.get(r.name) ?? 0])});
  return bars;
}

// Draws the plan's shares, a bar for each class of requests, and those observed.
export function drawPlan(into, routes, ways) {
  const width = into.clientWidth || 320;
  const bars = barsOf(routes, ways);
  const [left, high, top] = [84, 26, 8];
  const legendTop = top + bars.length * (high + 8) + 22;
  const height = legendTop + 18 * routes.length;
  into.style.height = `${height}px`;
  into.setAttribute('viewBox', `0 0 ${width} ${height}`);
  const span = width - left - 12;
  const parts = [];
  bars.forEach((bar, row) => {
    const y = top + row * (high + 8);
    parts.push(svg('text', {x: left - 8, y: y + 17, 'text-anchor': 'end'}, bar.name));
    let x = left;
    for (const [i, share] of bar.parts) {
      if (share <= 0) continue;
      const wide = share * span;
      const box = svg('rect', {class: 'share', x, y, width: wide, height: high,
        fill: colourOf(routes[i].name)});
      box.append(svg('title', {}, `${bar.name}: ${percent(share)} by ${routes[i].name}`));
      parts.push(box);
      const label = wide > 110 ? `${routes[i].name} ${percent(share)}`
        : wide > 40 ? percent(share) : '';
      parts.push(svg('text', {class: 'on-plot', x: x + 5, y: y + 17}, label));
      x += wide;
    }
  });
  const axis = legendTop - 14;
  for (const share of [0, 0.5, 1])
    parts.push(svg('text', {x: left + share * span, y: axis + 4,
      'text-anchor': ['start', 'middle', 'end'][share * 2]}, percent(share)));
  routes.forEach((r, i) => {
    const y = legendTop + 18 * i;
    parts.push(svg('rect', {x: 0, y, width: 10, height: 10,
      fill: colourOf(r.name)}));
    parts.push(svg('text', {x: 16, y: y + 9}, `${r.name}: ${stagesOf(r)}`));
  });
  into.setAttribute('aria-label', bars.map((bar) => `${bar.name}: `
    + bar.parts.filter(([, share]) => share > 0)
      .map(([i, share]) => `${percent(share)} by ${routes[i].name}`).join(', '))
    .join('; ') );
  into.replaceChildren(...parts);
}
