// SPDX-License-Identifier: Apache-2.0
// Plots as SVG: axes with units, a legend, and values that the pointer and the
// arrow keys read. Series differ by colour and by dashes or the shape of dots.

const svgNames = 'http://www.w3.org/2000/svg';
const dashes = ['', '7 4', '2 3', '10 3 2 3'];
const margin = {left: 46, right: 10, bottom: 22};

export function svg(name, attributes, text) {
  const x = document.createElementNS(svgNames, name);
  for (const [key, value] of Object.entries(attributes)) x.setAttribute(key, value);
  if (text != null) x.textContent = text;
  return x;
}

const colours = 6;
const places = new Map();

// Returns the number of a variant or route, the same in all plots: its colour,
// dashes and dots follow from it.
export function placeOf(name) {
  if (!places.has(name)) places.set(name, places.size);
  return places.get(name);
}

export function colourOf(name) {
  return `var(--plot-${placeOf(name) % colours + 1})`;
}

// What is of no variant and no route has the colour of the text.
const plain = 'var(--ink)';

// Three digits, which is more than a plot shows.
export function number(x) {
  return String(+x.toPrecision(3));
}

export function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

// A round number at or above x.
function ceiling(x) {
  if (x <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(x));
  return [1, 2, 5, 10].map((f) => f * power).find((y) => y >= x);
}

function dot(i, colour, x, y) {
  const r = 3;
  const shapes = [
    `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`,
    `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
    `M${x} ${y - r}l${r} ${2 * r}h${-2 * r}z`,
    `M${x} ${y - r - 1}l${r + 1} ${r + 1}l${-r - 1} ${r + 1}l${-r - 1} ${-r - 1}z`,
  ];
  return svg('path', {class: 'dot', d: shapes[i % 4], fill: colour});
}

// Draws frame, scale, unit and legend; returns where values are.
function frame(into, most, unit, legend) {
  const width = into.clientWidth || 320;
  const height = into.clientHeight || 176;
  const rows = [];
  let x = margin.left;
  let row = 0;
  for (const item of legend) {
    const wide = 40 + 6.4 * item.name.length;
    if (x > margin.left && x + wide > width) {
      x = margin.left;
      ++row;
    }
    rows.push({...item, x, row});
    x += wide;
  }
  const top = 22 + (legend.length ? 16 * (row + 1) : 0);
  into.setAttribute('viewBox', `0 0 ${width} ${height}`);
  const y = (v) => height - margin.bottom
    - v / most * (height - margin.bottom - top);
  const parts = [svg('text', {x: 0, y: top - 9, class: 'unit'}, unit)];
  for (const share of [0, 0.5, 1])
    parts.push(
      svg('line', {class: 'axis', x1: margin.left, x2: width - margin.right,
        y1: y(share * most), y2: y(share * most)}),
      svg('text', {x: margin.left - 6, y: y(share * most) + 4,
        'text-anchor': 'end'}, number(share * most)));
  for (const item of rows) {
    const at = 9 + 16 * item.row;
    parts.push(item.dots
      ? dot(item.place, item.colour, item.x + 10, at)
      : svg('line', {class: 'series', x1: item.x, x2: item.x + 20, y1: at, y2: at,
        stroke: item.colour, 'stroke-dasharray': dashes[item.place % 4]}));
    parts.push(svg('text', {x: item.x + 24, y: at + 4}, item.name));
  }
  into.replaceChildren(...parts);
  return {left: margin.left, width: width - margin.left - margin.right, y, top,
    base: height - margin.bottom, height};
}

// How long ago, in what suits the whole axis.
function age(x, seconds) {
  return seconds <= 120 ? `${number(x)} s ago` : `${number(x / 60)} min ago`;
}

function timeAxis(into, f, seconds) {
  const ago = (share) => age((1 - share) * seconds, seconds);
  for (const share of [0, 0.5, 1])
    into.append(svg('text', {
      x: f.left + share * f.width, y: f.height - 6,
      'text-anchor': ['start', 'middle', 'end'][share * 2],
    }, share === 1 ? 'now' : ago(share)));
}

// Has the plot's <output> tell the value under the pointer or the arrow keys.
// reader: {steps, place(k), text(k), nearest(x)}, steps from the left.
function readable(into, f, reader) {
  into.reader = {f, ...reader};
  const show = (k) => {
    into.querySelector('.cursor')?.remove();
    const out = into.parentElement.querySelector('output');
    into.at = k;
    out.textContent = k == null ? '' : into.reader.text(k);
    if (k == null) return;
    const x = into.reader.place(k);
    into.append(svg('line', {class: 'cursor', x1: x, x2: x,
      y1: into.reader.f.top, y2: into.reader.f.base}));
  };
  if (into.at != null) show(Math.min(into.at, reader.steps - 1));
  if (into.tabIndex === 0) return;
  into.tabIndex = 0;
  into.addEventListener('keydown', (event) => {
    const last = into.reader.steps - 1;
    const to = {ArrowLeft: (into.at ?? last + 1) - 1, ArrowRight: (into.at ?? -1) + 1,
      Home: 0, End: last}[event.key];
    if (event.key === 'Escape') return show(null);
    if (to == null || last < 0) return;
    event.preventDefault();
    show(Math.max(0, Math.min(last, to)));
  });
  into.addEventListener('pointermove', (event) => {
    const box = into.getBoundingClientRect();
    if (into.reader.steps > 0) show(into.reader.nearest(event.clientX - box.left));
  });
  for (const name of ['pointerleave', 'blur'])
    into.addEventListener(name, () => show(null));
}

// Shows a figure's plot, or in its place why there is none.
function shown(into, missing) {
  const figure = into.parentElement;
  let text = figure.querySelector('.missing');
  if (!text) {
    text = document.createElement('p');
    text.className = 'missing';
    figure.append(text);
  }
  text.textContent = missing;
  text.hidden = !missing;
  into.toggleAttribute('hidden', !!missing);
  const out = figure.querySelector('output');
  if (out) out.hidden = !!missing;
  return !missing;
}

// Lines over the last `seconds`, in windows of the same length.
// series: [{name, values}], a value or null for each window, oldest first;
// dots: [{name, points: [[age in seconds, value]]}]. A series that is `named` has
// the colour of its name, as dots have.
// missing: what to say where there is nothing to draw.
export function lines(into, {unit, seconds, series, dots = [], missing}) {
  const known = series.some((s) => s.values.filter((v) => v != null).length > 1)
    || dots.some((s) => s.points.length);
  if (!shown(into, known ? '' : missing)) return;
  const styles = series.map((s, i) => s.named
    ? {place: placeOf(s.name), colour: colourOf(s.name)} : {place: i, colour: plain});
  const legend = [
    ...series.map((s, i) => ({name: s.name, ...styles[i]})),
    ...dots.map((s) => ({name: s.name, place: placeOf(s.name), colour: colourOf(s.name),
      dots: true}))];
  const all = [...series.flatMap((s) => s.values),
    ...dots.flatMap((s) => s.points.map((p) => p[1]))];
  const f = frame(into, ceiling(Math.max(0, ...all)), unit, legend);
  timeAxis(into, f, seconds);
  dots.forEach((s) => {
    for (const [age, v] of s.points)
      if (age <= seconds)
        into.append(dot(placeOf(s.name), colourOf(s.name),
          f.left + (1 - age / seconds) * f.width, f.y(v)));
  });
  const windows = series[0]?.values.length ?? 0;
  const place = (k) => f.left + (k + 0.5) / windows * f.width;
  series.forEach((s, i) => {
    let run = [];
    const flush = () => {
      if (run.length === 1)
        into.append(dot(styles[i].place, styles[i].colour, place(run[0]),
          f.y(s.values[run[0]])));
      else if (run.length)
        into.append(svg('polyline', {class: 'series', stroke: styles[i].colour,
          'stroke-dasharray': dashes[styles[i].place % 4],
          points: run.map((k) => `${place(k)},${f.y(s.values[k])}`).join(' ')}));
      run = [];
    };
    s.values.forEach((v, k) => v == null ? flush() : run.push(k));
    flush();
  });
  readable(into, f, {
    steps: windows, place,
    nearest: (x) => Math.max(0, Math.min(windows - 1,
      Math.floor((x - f.left) / f.width * windows))),
    text: (k) => `${age((windows - k - 0.5) / windows * seconds, seconds)}: `
      + series.map((s) => `${s.name} `
        + (s.values[k] == null ? 'none' : number(s.values[k]))).join(', ')
      + ` ${unit}`,
  });
}

// values: from 1 on.
export function bars(into, {unit, axis, values, missing}) {
  if (!shown(into, values.some((n) => n > 0) ? '' : missing)) return;
  const f = frame(into, ceiling(Math.max(0, ...values)), unit, []);
  const each = Math.min(48, f.width / Math.max(1, values.length));
  values.forEach((n, i) => {
    into.append(svg('rect', {x: f.left + i * each + 1, width: Math.max(1, each - 2),
      y: f.y(n), height: f.base - f.y(n), fill: plain}));
    if (values.length <= 16 || i % 8 === 0)
      into.append(svg('text', {x: f.left + (i + 0.5) * each, y: f.height - 6,
        'text-anchor': 'middle'}, i + 1));
  });
  into.append(svg('text', {x: f.left + f.width, y: f.top - 9, 'text-anchor': 'end'},
    axis));
  readable(into, f, {
    steps: values.length,
    place: (k) => f.left + (k + 0.5) * each,
    nearest: (x) => Math.max(0, Math.min(values.length - 1,
      Math.floor((x - f.left) / each))),
    text: (k) => `${k + 1} ${axis}: ${values[k]} ${unit}`,
  });
}
