// SPDX-License-Identifier: Apache-2.0
// Texts about an image: its file's name, its facts and notes, and its progress.

import {number} from './plot.js';

const longestName = 60;
const endings = {'image/jpeg': 'jpg', 'image/webp': 'webp'};

// Returns "a-red-circle-42.png".
export function fileName(prompt, seed, type) {
  let words = '';
  for (const word of (prompt || '').toLowerCase().match(/[\p{L}\p{N}]+/gu) || []) {
    if (words.length + word.length >= longestName) break;
    words += `${word}-`;
  }
  return `${words}${seed}.${endings[type] || 'png'}`;
}

// `kind` is that of a job.
export function kindText(kind) {
  return {edit: 'Edit of an image, within a mask', variation: 'Edit of an image'}[kind]
    ?? '';
}

function sizeText(x) {
  const size = (w, h) => `${w} × ${h}`;
  return x.drawn_width && (x.drawn_width !== x.width || x.drawn_height !== x.height)
    ? `${size(x.width, x.height)}, drawn at ${size(x.drawn_width, x.drawn_height)}`
    : size(x.width, x.height);
}

// Returns [name, value] for people, of what is known.
export function factsOf(request, image, kind) {
  const of = image || {};
  const all = [
    ['Prompt', request?.prompt || '(no prompt)'],
    ['Negative prompt', request?.negative_prompt],
    ['Made as', kindText(kind)],
    ['Seed', of.seed],
    ['Size', of.width && sizeText(of)],
    ['Model', of.model],
    ['Steps', of.steps != null && (of.steps_run != null && of.steps_run !== of.steps
      ? `${of.steps}, of which ${of.steps_run} were run` : of.steps)],
    ['Sampler', of.sampler],
    ['Guidance', of.guidance != null && number(of.guidance)],
    ['Strength', kind !== 'generation' && of.strength != null && number(of.strength)],
    ['Time', of.timings_ms && `${number(of.timings_ms.total / 1000)} s`],
  ];
  return all.filter(([, value]) => value || value === 0);
}

// The names that fields of requests have in the form, with those of their values.
function controls() {
  const out = new Map();
  for (const field of document.querySelectorAll('#wanted [name]')) {
    const label = field.labels?.[0];
    const own = [...label?.childNodes ?? []].find((x) => x.nodeType === 3
      && x.textContent.trim());
    if (!own) continue;
    const values = new Map([...field.options ?? []].map((x) => [x.value, x.text]));
    out.set(field.name, {label: own.textContent.trim(), values});
  }
  return out;
}

// Returns the texts of notes: with the page's names of settings, and each list of
// words once.
export function noteTexts(notes) {
  const names = controls();
  const lists = new Set();
  return (notes || []).map(({text}) => {
    const list = text.match(/: (?:its )?(\w+ are .+)$/);
    if (list && lists.has(list[1])) text = text.slice(0, list.index);
    if (list) lists.add(list[1]);
    return text.replace(/\b([a-z_]+)=(\w+)\b/g, (whole, name, value) => {
      const field = names.get(name);
      return field ? `“${field.label}: ${field.values.get(value) ?? value}”` : whole;
    });
  });
}

function images(running, of) {
  const all = running.map((i) => i + 1);
  const [first, last] = [all[0], all.at(-1)];
  const row = all.length > 2 && last - first === all.length - 1;
  return all.length === 1 ? `image ${first} of ${of}`
    : `images ${row ? `${first} to ${last}` : all.join(' and ')} of ${of}`;
}

// Returns "step 20 of 50, image 2 of 4, 3.1 s left" of a job's progress.
export function progressText(x) {
  const parts = [];
  if (x.queue_position === 1) parts.push('next in the queue');
  else if (x.queue_position) parts.push(`number ${x.queue_position} in the queue`);
  const of = x.steps_per_image;
  if (of && x.step) {
    const gone = new Set(x.cancelled_images);
    const begun = x.image_steps.map((_, i) => i)
      .filter((i) => x.image_steps[i] > 0 && !gone.has(i));
    const running = begun.filter((i) => x.image_steps[i] < of);
    const step = running.length ? Math.max(...running.map((i) => x.image_steps[i])) : of;
    parts.push(`step ${step} of ${of}`);
    if (x.pictures > 1 && running.length) parts.push(images(running, x.pictures));
  }
  if (x.eta_s != null) parts.push(`${x.eta_s.toFixed(1)} s left`);
  return parts.join(', ') || 'Waiting';
}

function pngTexts(bytes) {
  const view = new DataView(bytes);
  const out = {};
  if (bytes.byteLength < 8 || view.getUint32(0) !== 0x89504e47) return out;
  for (let i = 8; i + 12 <= bytes.byteLength;) {
    const [length, type] = [view.getUint32(i), view.getUint32(i + 4)];
    if (type === 0x49444154 || i + 12 + length > bytes.byteLength) break; // IDAT
    const raw = new Uint8Array(bytes, i + 8, length);
    const end = raw.indexOf(0);
    const name = new TextDecoder('latin1').decode(raw.subarray(0, end));
    if (type === 0x74455874) // tEXt
      out[name] = new TextDecoder('latin1').decode(raw.subarray(end + 1));
    else if (type === 0x69545874 && raw[end + 1] === 0) { // iTXt, not compressed
      const language = raw.indexOf(0, end + 3);
      const translated = raw.indexOf(0, language + 1);
      out[name] = new TextDecoder().decode(raw.subarray(translated + 1));
    }
    i += 12 + length;
  }
  return out;
}

// Returns {prompt, negative_prompt} that an image's file names; null without.
export async function promptsIn(blob) {
  const text = pngTexts(await blob.arrayBuffer()).parameters;
  const end = text?.lastIndexOf('\nSteps: ') ?? -1;
  if (end < 0) return null;
  const [prompt, negative] = text.slice(0, end).split(/\n?Negative prompt: /);
  return negative ? {prompt, negative_prompt: negative} : {prompt};
}
