// SPDX-License-Identifier: Apache-2.0
// The form, and the jobs that it starts.

import {get, post} from './api.js';
import {$, element, fail, say} from './dom.js';
import * as gallery from './gallery.js';
import {MaskEditor} from './mask.js';
import * as memory from './memory.js';
import * as sizes from './sizes.js';
import * as viewer from './viewer.js';
import * as words from './words.js';

const numbers = ['steps', 'guidance', 'width', 'height', 'n'];
// A seed stays as it is written, for api.js.
const texts = ['prompt', 'negative_prompt', 'variant', 'sampler', 'priority',
  'native_only', 'seed'];
const narrow = matchMedia('(max-width: 50rem)');

let editor;
let variants = [];
// The path of the image to start from, if the server made it.
let sourcePath;

// The inputs that the server made from its parameters.
function moreFields() {
  return $('more').querySelectorAll('[name]');
}

// What the form asks for, in the words of POST /v1/jobs, without the image.
function fields() {
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
  if ($('strength').value) x.strength = Number($('strength').value);
  return x;
}

function wanted() {
  const {strength, ...x} = fields();
  if ($('source').hidden) return x;
  x.image = editor.imageUrl();
  const mask = editor.maskUrl();
  if (mask) x.mask = mask;
  if (strength) x.strength = strength;
  return x;
}

// About eight previews of each image: they cost the device time.
function previewPause(what) {
  return Math.max(1, Math.round((what.steps || chosen()?.steps || 8) / 8));
}

// Shows what `fields` says, by the names of POST /v1/jobs.
function fill(fields) {
  const form = $('wanted');
  for (const name of [...texts, ...numbers, 'strength']) {
    const field = form.elements[name];
    if (field) field.value = fields[name] ?? (name === 'n' ? 1 : '');
  }
  for (const field of moreFields())
    if (field.type === 'checkbox') field.checked = !!fields[field.name];
    else field.value = fields[field.name] ?? '';
  form.elements.priority.value = fields.priority || 'normal';
  $('deadline').value = fields.deadline_ms ? fields.deadline_ms / 1000 : '';
  changed();
}

// Returns the request of a card's image. Without the request of its job, what
// the server says of the image stands in.
function requestOf({job, image}) {
  const {request} = job;
  if (request && 'n' in request) return {...request};
  return {...request, prompt: request?.prompt ?? '', variant: image.variant,
    width: image.width, height: image.height, steps: image.steps,
    guidance: image.guidance, sampler: image.sampler,
    ...job.kind === 'generation' ? {} : {strength: image.strength}};
}

async function reuse(card) {
  viewer.close();
  fail('');
  fill({...requestOf(card), seed: card.image.seed, n: 1});
  $('prompt').focus();
  if (card.job.kind === 'generation') return dropSource();
  const source = await memory.sourceOf(card.job.id);
  if (source) return startFrom(source.image, source.mask, source.from);
  dropSource();
  fail('The settings are restored, without the image that was edited: it is no '
    + 'longer kept. Choose it again.');
}

// Draws four images with a card's settings and other seeds. A request with a
// seed of its own starts from no earlier work: from that of the card's image,
// the first one would be the same image again.
async function vary(card) {
  viewer.close();
  fail('');
  const {cache, ...request} = requestOf(card);
  [request.seed] = crypto.getRandomValues(new Uint32Array(1));
  let from;
  if (card.job.kind !== 'generation') {
    const source = await memory.sourceOf(card.job.id);
    if (!source)
      return fail('The image that was edited is no longer kept: choose it again.');
    from = source.from;
    request.image = await dataUrl(source.image);
    if (source.mask) request.mask = source.mask;
  }
  await submit({...request, n: 4}, from);
}

async function edit(card) {
  viewer.close();
  await edits(card.blob, card.path);
}

function dataUrl(source) {
  if (typeof source === 'string') return source;
  return new Promise((then, otherwise) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => then(reader.result));
    reader.addEventListener('error', () => otherwise(reader.error));
    reader.readAsDataURL(source);
  });
}

// Follows a change of the form, by the user or by the page.
function changed() {
  countAdvanced();
  sizes.show();
  words.markPlaces($('vocabulary'), $('prompt').value);
  // Before the models are known, the list of them is empty.
  const {variant} = variants.length ? {} : memory.form();
  memory.keepForm({...fields(), ...variant && {variant}});
}

// A folded field that is set still shows.
function countAdvanced() {
  const fields = [...$('advanced').querySelectorAll('input, select')];
  const set = fields.filter((x) => x.type === 'checkbox' ? x.checked
    : x.id === 'priority' ? x.value !== 'normal' : x.value !== '').length;
  $('advanced').querySelector('summary').textContent =
    set ? `Advanced (${set} set)` : 'Advanced';
}

// Shows the image to start from, perhaps with a mask. `path` is its own if the
// server made it.
async function startFrom(source, mask, path) {
  try {
    await editor.show(source, mask);
  } catch {
    return fail('The browser cannot read this file as an image.');
  }
  sourcePath = path;
  $('source').hidden = false;
  editor.draw();
  $('source').scrollIntoView({block: 'nearest'});
}

// Starts an edit, of the image's own size.
async function edits(image, path) {
  for (const name of ['width', 'height']) $(name).value = '';
  await startFrom(image, null, path);
  changed();
  $('mask').focus();
}

function dropSource() {
  $('source').hidden = true;
  $('file').value = '';
  sourcePath = undefined;
  editor.drop();
  changed();
}

async function draw(event) {
  event.preventDefault();
  fail('');
  const what = wanted();
  if (!what.prompt.trim() && !what.image) {
    $('prompt').focus();
    return fail('Enter a prompt.');
  }
  await submit(what, what.image ? sourcePath : undefined);
}

// `from` is the path of the image that the request edits, if the server made it.
async function submit(request, from) {
  try {
    const told = await post('/v1/jobs', {...request, preview_every: previewPause(request)});
    gallery.started(told, request, from);
  } catch (e) {
    fail(e.message);
  }
}

function fillVariants() {
  const list = $('variant');
  list.replaceChildren(element('option', {value: ''}, 'automatic'),
    ...variants.map((v) => element('option', {value: v.name}, `${v.model}, ${v.steps} steps`)));
  list.value = memory.form().variant ?? '';
  if (list.selectedIndex < 0) list.value = '';
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
  sizes.model(v);
}

// Puts a word where the caret is.
function insert(word) {
  const prompt = $('prompt');
  const before = prompt.value.slice(0, prompt.selectionStart).trimEnd();
  const after = prompt.value.slice(prompt.selectionEnd).trimStart();
  const start = before ? `${before} ${word}` : word;
  prompt.value = after ? `${start} ${after}` : start;
  prompt.setSelectionRange(start.length, start.length);
  changed();
  say(`Inserted ${word}.`);
}

function use(example) {
  $('prompt').value = example;
  changed();
  say('The prompt is set.');
}

async function showWords() {
  const v = chosen();
  if (!v) return;
  await words.fill(v.model, {examples: $('examples'), words: $('words'),
      vocabulary: $('vocabulary'), use, insert});
  words.markPlaces($('vocabulary'), $('prompt').value);
}

export async function refresh() {
  try {
    variants = (await get('/v1/variants')).data;
    fillVariants();
    await showWords();
    await gallery.restore();
    fail('');
  } catch (e) {
    fail(e.message);
  }
}

// Another key has other jobs.
export function keyChanged() {
  gallery.leave();
  return refresh();
}

export function start() {
  gallery.start({view: viewer.open, reuse, vary, edit, leave: viewer.leave});
  viewer.start();
  sizes.start(changed);
  editor = new MaskEditor($('mask'), $('brush'), $('ring'));
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
  $('wanted').addEventListener('input', changed);
  $('settings').open = !narrow.matches;
  $('variant').addEventListener('change', () => {
    showDefaults();
    showWords().catch((e) => fail(e.message));
  });
  $('file').addEventListener('change', () => {
    if ($('file').files[0]) edits($('file').files[0]);
  });
  $('mask-undo').addEventListener('click', () => editor.undo());
  $('mask-clear').addEventListener('click', () => editor.clear());
  $('mask-invert').addEventListener('click', () => editor.invert());
  $('source-drop').addEventListener('click', dropSource);
  fill(memory.form());
  refresh();
}
