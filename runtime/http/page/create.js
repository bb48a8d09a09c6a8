// SPDX-License-Identifier: Apache-2.0
// The form, the jobs that it starts, and the images that they bring.

import {events, imageUrl, post, get, removeCard} from './api.js';
import {MaskEditor} from './mask.js';
import {number} from './plot.js';
import * as words from './words.js';

const $ = (id) => document.getElementById(id);
const numbers = ['steps', 'guidance', 'width', 'height', 'n'];
// A seed stays as it is written, for api.js.
const texts = ['prompt', 'negative_prompt', 'variant', 'sampler', 'priority',
  'native_only', 'seed'];
const mostCards = 200;
const narrow = matchMedia('(max-width: 50rem)');

let editor;
let variants = [];

function element(name, attributes = {}, ...children) {
  const x = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (key.startsWith('on')) x.addEventListener(key.slice(2), value);
    else if (key in x) x[key] = value;
    else x.setAttribute(key, value);
  x.append(...children);
  return x;
}

function say(text) {
  $('news').textContent = text;
}

function fail(text) {
  $('fault').textContent = text;
}

// The inputs that the server made from its parameters.
function moreFields() {
  return $('more').querySelectorAll('[name]');
}

// What the form asks for, in the words of POST /v1/jobs.
function wanted() {
  const form = new FormData($('wanted'));
  const x = {};
  for (const name of texts) if (form.get(name)) x[name] = form.get(name);
  x.prompt = form.get('prompt') || '';
  for (const name of numbers)
    if (form.get(name)) x[name] = Number(form.get(name));
  for (const field of moreFields())
    if (field.type === 'checkbox') {
      if (field.checked) x[field.name] = true;
    } else if (field.value) {
      x[field.name] =
        field.type === 'number' ? Number(field.value) : field.value;
    }
  if ($('deadline').value) x.deadline_ms = 1000 * Number($('deadline').value);
  if (!$('source').hidden) {
    x.image = editor.imageUrl();
    const mask = editor.maskUrl();
    if (mask) x.mask = mask;
    if ($('strength').value) x.strength = Number($('strength').value);
  }
  return x;
}

// About eight previews of each image: they cost the device time.
function previewPause(what) {
  return Math.max(1, Math.round((what.steps || chosen()?.steps || 8) / 8));
}

// Cancels the job or the image at `path`, then calls `done` with whether the
// button had the focus, which a disabled button loses.
function cancelButton(text, label, path, done = () => {}) {
  const button = element('button', {type: 'button', className: 'cancel',
    ariaLabel: label, onclick: async () => {
      const focused = document.activeElement === button;
      button.disabled = true;
      try {
        await post(`${path}/cancel`);
        done(focused);
      } catch (e) {
        button.disabled = false;
        fail(e.message);
      }
    }}, text);
  return button;
}

// Bar, numbers and Cancel of a job: in the card of its only image, or above the
// cards of several, each of which then has a Cancel of its own.
class JobState {
  constructor(n, job) {
    this.bar = element('progress', {max: 1, value: 0, ariaLabel: 'Progress'});
    this.facts = element('p', {className: 'facts'}, 'Waiting');
    const path = `/v1/jobs/${job.id}`;
    this.root = element('div', {className: 'state'}, this.bar, this.facts,
      n === 1 ? cancelButton('Cancel this image', 'Cancel this image', path)
        : cancelButton('Cancel all', `Cancel all ${n} images`, path));
  }

  progress(x) {
    if (x.steps) this.bar.value = x.step / x.steps;
    const parts = [];
    if (x.queue_position) parts.push(`${x.queue_position} ahead in the queue`);
    if (x.steps) parts.push(`step ${x.step} of ${x.steps}`);
    if (x.eta_s != null) parts.push(`${x.eta_s.toFixed(1)} s left`);
    this.facts.textContent = parts.join(', ');
  }
}

// What a job of several images shows once.
function jobLine(what, state) {
  return element('li', {className: 'job'},
    element('p', {}, `${what.n} images of “${what.prompt}”`), state.root);
}

class Card {
  constructor(what, index, job) {
    this.what = what;
    this.index = index;
    this.path = `/v1/jobs/${job.id}/images/${index}`;
    this.name = `Image ${index + 1} of ${what.n || 1}`;
    this.frame = element('div', {className: 'frame'}, 'Waiting');
    this.facts = element('p', {className: 'facts', hidden: true});
    this.notes = element('ul', {className: 'notes', hidden: true});
    this.buttons = element('div', {className: 'row', hidden: true});
    this.root = element('li', {className: 'card', tabIndex: -1}, this.frame,
      element('p', {}, what.prompt || '(no prompt)'), this.facts, this.notes,
      this.buttons);
    if (what.n > 1) this.root.append(this.ownCancel());
  }

  // The Cancel of one image among several.
  ownCancel() {
    const label = `Cancel image ${this.index + 1} of ${this.what.n}`;
    this.cancel = cancelButton('Cancel', label, this.path, (focused) => {
      this.cancelled();
      // The server's own news may have come first, and the user gone on.
      if (focused && document.activeElement === document.body)
        this.root.focus();
    });
    return this.cancel;
  }

  // Marks the card as complete. The focus stays in it if its Cancel had it.
  finish() {
    this.finished = true;
    if (!this.cancel) return;
    const focused = this.cancel.contains(document.activeElement);
    this.cancel.remove();
    if (focused) this.root.focus();
  }

  // Its image alone was cancelled, here or by another client.
  cancelled() {
    if (this.finished) return;
    this.finish();
    this.failed('Cancelled');
    say(`${this.name} is cancelled.`);
  }

  preview(x) {
    if (x.preview && (x.preview_of || 0) === this.index)
      this.show(x.preview, 'preview');
  }

  show(url, alt) {
    this.frame.replaceChildren(element('img', {src: url, alt}));
  }

  tell(text) {
    this.facts.hidden = false;
    this.facts.textContent = text;
  }

  async done(image) {
    // Not by image.url: behind a proxy its host or scheme may not be the page's.
    const url = await imageUrl(this.path);
    if (!this.root.isConnected) return URL.revokeObjectURL(url);
    this.show(url, this.what.prompt || 'an image without a prompt');
    const facts = [`seed ${image.seed}`, image.variant, image.sampler,
      image.steps != null && `${image.steps}\u00a0steps`,
      image.guidance != null && `guidance ${number(image.guidance)}`,
      image.timings_ms && `${number(image.timings_ms.total / 1000)}\u00a0s`];
    this.tell(facts.filter(Boolean).join(', '));
    const notes = image.notes || [];
    this.notes.replaceChildren(...notes.map((x) => element('li', {}, x.text)));
    this.notes.hidden = notes.length === 0;
    this.buttons.replaceChildren(
      element('button', {type: 'button', title: 'Copies prompt, settings and seed to the form',
        onclick: () => reuse(this.what, image)}, 'Reuse settings'),
      element('button', {type: 'button', title: 'Starts from this image',
        onclick: () => editThis(url)}, 'Edit'),
      element('a', {className: 'button', href: url, download: `${image.seed}.png`},
        'Save'));
    this.buttons.hidden = false;
    say(`${this.name} is ready.`);
  }

  failed(text) {
    this.frame.replaceChildren('No image');
    this.facts.className = 'why';
    this.tell(text);
    say(text);
  }
}

function reuse(what, image) {
  const form = $('wanted');
  for (const name of [...texts, ...numbers]) {
    const field = form.elements[name];
    if (field) field.value = what[name] ?? (name === 'n' ? 1 : '');
  }
  for (const field of moreFields())
    if (field.type === 'checkbox') field.checked = !!what[field.name];
    else field.value = what[field.name] ?? '';
  form.elements.seed.value = image.seed;
  form.elements.n.value = 1;
  form.elements.priority.value = what.priority || 'normal';
  $('deadline').value = what.deadline_ms ? what.deadline_ms / 1000 : '';
  countAdvanced();
  $('prompt').focus();
}

// A folded field that is set still shows.
function countAdvanced() {
  const fields = [...$('advanced').querySelectorAll('input, select')];
  const set = fields.filter((x) => x.type === 'checkbox' ? x.checked
    : x.id === 'priority' ? x.value !== 'normal' : x.value !== '').length;
  $('advanced').querySelector('summary').textContent =
    set ? `Advanced (${set} set)` : 'Advanced';
}

async function editThis(source) {
  try {
    const blob = typeof source === 'string'
      ? await (await fetch(source)).blob() : source;
    await editor.show(blob);
  } catch {
    return fail('The browser cannot read this file as an image.');
  }
  $('source').hidden = false;
  editor.draw();
  $('mask').focus();
}

function dropSource() {
  $('source').hidden = true;
  $('file').value = '';
  editor.drop();
}

async function follow(job, cards, state, line) {
  const ended = (text) => {
    for (const c of cards) if (!c.finished) { c.finish(); c.failed(text); }
  };
  try {
    await events(`/v1/jobs/${job.id}/events`, (name, data) => {
      for (const i of data.cancelled_images || []) cards[i].cancelled();
      if (name === 'progress') {
        state.progress(data);
        for (const c of cards) if (!c.finished) c.preview(data);
      } else if (name === 'image') {
        const card = cards[data.index];
        card.finish();
        card.done(data).catch((e) => card.failed(e.message));
      } else if (name === 'failed') {
        ended(data.error?.message || 'Failed');
      } else if (name === 'cancelled') {
        ended('Cancelled');
      }
    });
    ended('The server closed the connection.');
  } catch (e) {
    ended(e.message);
  }
  state.root.remove();
  if (line) line.remove();
}

// Puts a job's cards before the others and returns what follows it.
function enter(what, job) {
  const n = what.n || 1;
  const cards = Array.from({length: n}, (_, i) => new Card(what, i, job));
  const state = new JobState(n, job);
  const line = n > 1 ? jobLine(what, state) : null;
  if (!line) cards[0].root.append(state.root);
  $('nothing').hidden = true;
  $('gallery').prepend(...(line ? [line] : []), ...cards.map((c) => c.root));
  while ($('gallery').children.length > mostCards)
    removeCard($('gallery').lastElementChild);
  // On a phone the form is above: what is drawn comes into view.
  $('gallery').firstElementChild.scrollIntoView(
    {block: narrow.matches ? 'start' : 'nearest'});
  return {cards, state, line};
}

async function draw(event) {
  event.preventDefault();
  fail('');
  const what = wanted();
  if (!what.prompt.trim() && !what.image) {
    $('prompt').focus();
    return fail('Enter a prompt.');
  }
  let job;
  try {
    job = await post('/v1/jobs', {...what, preview_every: previewPause(what)});
  } catch (e) {
    return fail(e.message);
  }
  const {cards, state, line} = enter(what, job);
  say(cards.length === 1 ? 'Drawing an image.' : `Drawing ${cards.length} images.`);
  follow(job, cards, state, line);
}

function fillVariants() {
  const list = $('variant');
  list.replaceChildren(element('option', {value: ''}, 'automatic'),
    ...variants.map((v) => element('option', {value: v.name}, `${v.model}, ${v.steps} steps`)));
  showDefaults();
}

function chosen() {
  return variants.find((x) => x.name === $('variant').value) || variants[0];
}

function showDefaults() {
  const v = chosen();
  if (!v) return;
  $('steps').placeholder = v.steps;
  $('guidance').placeholder = v.guidance;
  $('width').placeholder = v.width;
  $('height').placeholder = v.height;
}

// Puts a word where the caret is.
function insert(word) {
  const prompt = $('prompt');
  const before = prompt.value.slice(0, prompt.selectionStart).trimEnd();
  const after = prompt.value.slice(prompt.selectionEnd).trimStart();
  const start = before ? `${before} ${word}` : word;
  prompt.value = after ? `${start} ${after}` : start;
  prompt.setSelectionRange(start.length, start.length);
  say(`Inserted ${word}.`);
}

function use(example) {
  $('prompt').value = example;
  say('The prompt is set.');
}

async function showWords() {
  const v = chosen();
  if (v)
    await words.fill(v.model, {examples: $('examples'), words: $('words'),
      vocabulary: $('vocabulary'), use, insert});
}

export async function refreshVariants() {
  try {
    variants = (await get('/v1/variants')).data;
    fillVariants();
    await showWords();
    fail('');
  } catch (e) {
    fail(e.message);
  }
}

export function start() {
  editor = new MaskEditor($('mask'), $('brush'));
  $('wanted').addEventListener('submit', draw);
  $('wanted').addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
      $('wanted').requestSubmit();
  });
  // What is wrong in a folded part is unfolded, else nobody sees why.
  $('wanted').addEventListener('invalid', (event) => {
    const part = event.target.closest('details');
    if (part) part.open = true;
  }, true);
  $('advanced').addEventListener('input', countAdvanced);
  $('settings').open = !narrow.matches;
  $('variant').addEventListener('change', () => {
    showDefaults();
    showWords().catch((e) => fail(e.message));
  });
  $('file').addEventListener('change', () => {
    if ($('file').files[0]) editThis($('file').files[0]);
  });
  $('mask-undo').addEventListener('click', () => editor.undo());
  $('mask-clear').addEventListener('click', () => editor.clear());
  $('mask-invert').addEventListener('click', () => editor.invert());
  $('source-drop').addEventListener('click', dropSource);
  refreshVariants();
}
