// SPDX-License-Identifier: Apache-2.0
// The form, the jobs that it starts, and the pictures that they bring.

import {events, pictureUrl, post, get} from './api.js';
import {MaskEditor} from './mask.js';

const $ = (id) => document.getElementById(id);
const numbers = ['steps', 'guidance', 'width', 'height', 'seed', 'n'];
const texts = ['prompt', 'negative_prompt', 'variant', 'sampler', 'priority',
  'native_only'];
const mostCards = 200;

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

// The inputs that the server made of its parameters.
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

// About eight previews of each picture: they cost the device time.
function previewPause(what) {
  const variant = variants.find((v) => v.name === what.variant) || variants[0];
  return Math.max(1, Math.round((what.steps || variant?.steps || 8) / 8));
}

class Card {
  constructor(what, index) {
    this.what = what;
    this.index = index;
    this.frame = element('div', {className: 'frame'}, 'waiting');
    this.bar = element('progress', {max: 1, value: 0, ariaLabel: 'Progress'});
    this.facts = element('p', {className: 'facts'});
    this.notes = element('ul', {className: 'notes', hidden: true});
    this.buttons = element('div', {className: 'row'});
    this.root = element('li', {className: 'card'}, this.frame, this.bar,
      element('p', {}, what.prompt || '(no prompt)'), this.facts, this.notes,
      this.buttons);
  }

  waiting(job) {
    this.buttons.replaceChildren(element('button', {
      type: 'button',
      onclick: () => post(`/v1/jobs/${job.id}/cancel`).catch(
        (e) => fail(e.message)),
    }, 'Cancel'));
  }

  progress(x) {
    if (x.steps) this.bar.value = x.step / x.steps;
    const parts = [];
    if (x.queue_position) parts.push(`${x.queue_position} ahead`);
    if (x.steps) parts.push(`step ${x.step} of ${x.steps}`);
    if (x.eta_s != null) parts.push(`${x.eta_s.toFixed(1)} s left`);
    this.facts.textContent = parts.join(', ');
    if (x.preview && (x.preview_of || 0) === this.index)
      this.show(x.preview, 'preview');
  }

  show(url, alt) {
    this.frame.replaceChildren(element('img', {src: url, alt}));
  }

  async done(image) {
    const url = await pictureUrl(image.url);
    this.show(url, this.what.prompt || 'a picture without a prompt');
    this.bar.remove();
    const facts = [`seed ${image.seed}`];
    for (const name of ['variant', 'sampler', 'steps', 'guidance'])
      if (image[name] != null) facts.push(`${name} ${image[name]}`);
    if (image.seconds != null) facts.push(`${image.seconds.toFixed(2)} s`);
    this.facts.textContent = facts.join(', ');
    const notes = image.notes || [];
    this.notes.replaceChildren(...notes.map((x) => element('li', {}, x.text)));
    this.notes.hidden = notes.length === 0;
    this.buttons.replaceChildren(
      element('button', {type: 'button', onclick: () => useAgain(this.what, image)},
        'Use again'),
      element('button', {type: 'button', onclick: () => editThis(url)}, 'Edit'),
      element('a', {href: url, download: `${image.seed}.png`}, 'Save'));
    say('A picture is there.');
  }

  failed(text) {
    this.bar.remove();
    this.buttons.replaceChildren();
    this.frame.replaceChildren('no picture');
    this.facts.className = 'why';
    this.facts.textContent = text;
    say(text);
  }
}

function useAgain(what, image) {
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
  $('prompt').focus();
}

async function editThis(source) {
  try {
    const blob = typeof source === 'string'
      ? await (await fetch(source)).blob() : source;
    await editor.show(blob);
  } catch {
    return fail('This file is no picture that the browser can read.');
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

async function follow(job, cards) {
  const ended = (text) => {
    for (const c of cards) if (!c.finished) { c.finished = true; c.failed(text); }
  };
  try {
    await events(`/v1/jobs/${job.id}/events`, (name, data) => {
      if (name === 'progress') {
        for (const c of cards) if (!c.finished) c.progress(data);
      } else if (name === 'image') {
        const card = cards[data.index];
        card.finished = true;
        card.done(data).catch((e) => card.failed(e.message));
      } else if (name === 'failed') {
        ended(data.error?.message || 'failed');
      } else if (name === 'cancelled') {
        ended('cancelled');
      }
    });
    ended('The server ended the connection.');
  } catch (e) {
    ended(e.message);
  }
}

async function draw(event) {
  event.preventDefault();
  fail('');
  const what = wanted();
  let job;
  try {
    job = await post('/v1/jobs', {...what, preview_every: previewPause(what)});
  } catch (e) {
    return fail(e.message);
  }
  $('nothing').hidden = true;
  const cards = Array.from({length: what.n || 1}, (_, i) => new Card(what, i));
  for (const c of [...cards].reverse()) {
    c.waiting(job);
    $('gallery').prepend(c.root);
  }
  while ($('gallery').children.length > mostCards)
    $('gallery').lastElementChild.remove();
  say('The request is accepted.');
  follow(job, cards);
}

function fillVariants() {
  const list = $('variant');
  list.replaceChildren(element('option', {value: ''}, 'the server chooses'),
    ...variants.map((v) => element('option', {value: v.name}, v.name)));
  showDefaults();
}

function showDefaults() {
  const v = variants.find((x) => x.name === $('variant').value) || variants[0];
  if (!v) return;
  $('steps').placeholder = v.steps;
  $('guidance').placeholder = v.guidance;
  $('width').placeholder = v.width;
  $('height').placeholder = v.height;
}

// Puts a word behind the others of the prompt.
function addWord(word) {
  const prompt = $('prompt');
  const before = prompt.value.trimEnd();
  prompt.value = before ? `${before} ${word}` : word;
  prompt.focus();
}

// The words of the model that draws, where it knows certain ones only.
async function fillVocabulary() {
  const v = variants.find((x) => x.name === $('variant').value) || variants[0];
  const known = v
    ? (await get(`/v1/models/${encodeURIComponent(v.model)}`)).vocabulary : null;
  $('words').hidden = !known;
  const rows = Object.entries(known || {}).filter(([, x]) => Array.isArray(x));
  $('vocabulary').replaceChildren(...rows.flatMap(([name, words]) => [
    element('dt', {}, name.replaceAll('_', ' ')),
    element('dd', {}, ...words.map((word) => element('button',
      {type: 'button', className: 'chip', onclick: () => addWord(word)}, word))),
  ]));
}

export async function refreshVariants() {
  try {
    variants = (await get('/v1/variants')).data;
    fillVariants();
    await fillVocabulary();
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
  $('variant').addEventListener('change', () => {
    showDefaults();
    fillVocabulary().catch((e) => fail(e.message));
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
