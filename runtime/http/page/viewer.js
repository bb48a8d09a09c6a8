// SPDX-License-Identifier: Apache-2.0
// The large view of an image: its facts, its neighbours in the gallery, and for an
// edit the image that it started from.

import {$, element} from './dom.js';
import {factsOf, noteTexts} from './facts.js';
import {viewable} from './gallery.js';
import * as memory from './memory.js';

let shown = null;
let before = null;

function dropBefore() {
  if (before) URL.revokeObjectURL(before);
  before = null;
  $('view-before').removeAttribute('src');
  for (const id of ['view-before', 'view-compare']) $(id).hidden = true;
}

// Shows as much of the image before the edit as the slider says, from the left.
function compare() {
  $('view-before').style.clipPath = `inset(0 ${100 - $('view-share').value}% 0 0)`;
}

async function showBefore(card) {
  dropBefore();
  $('view-gone').hidden = true;
  if (card.job.kind === 'generation') return;
  const source = await memory.sourceOf(card.job.id);
  if (shown !== card) return;
  $('view-gone').hidden = source != null;
  if (!source) return;
  if (typeof source.image !== 'string') before = URL.createObjectURL(source.image);
  $('view-before').src = before ?? source.image;
  $('view-share').value = 0;
  compare();
  for (const id of ['view-before', 'view-compare']) $(id).hidden = false;
}

async function show(card) {
  shown = card;
  await card.load();
  if (shown !== card) return;
  if (!card.url) return $('viewer').close();
  const all = viewable();
  const at = all.indexOf(card);
  $('view-image').src = card.url;
  $('view-image').alt = card.job.request?.prompt || 'an image without a prompt';
  $('view-place').textContent = `${at + 1} of ${all.length}`;
  // A disabled button would lose the focus.
  $('view-newer').ariaDisabled = String(at === 0);
  $('view-older').ariaDisabled = String(at === all.length - 1);
  $('view-facts').replaceChildren(
    ...factsOf(card.job.request, card.image, card.job.kind).flatMap(([name, value]) =>
      [element('dt', {}, name), element('dd', {}, String(value))]));
  const notes = noteTexts(card.image.notes);
  $('view-notes').replaceChildren(...notes.map((x) => element('li', {}, x)));
  $('view-notes').hidden = notes.length === 0;
  const focused = [...$('view-actions').children].indexOf(document.activeElement);
  $('view-actions').replaceChildren(...card.actions());
  $('view-actions').children[focused]?.focus();
  await showBefore(card);
}

function move(by) {
  const all = viewable();
  const next = all[all.indexOf(shown) + by];
  if (next) show(next);
}

export function open(card) {
  $('viewer').showModal();
  $('view-image').focus();
  show(card);
}

// Closes the view; the focus stays with what the caller shows next.
export function close() {
  shown = null;
  $('viewer').close();
}

// Shows the next image in place of one that is about to be removed.
export function leave(card) {
  if (shown !== card || !$('viewer').open) return;
  const all = viewable();
  const at = all.indexOf(card);
  const next = all[at + 1] ?? all[at - 1];
  if (!next) return $('viewer').close();
  $('view-close').focus();
  show(next);
}

export function start() {
  $('view-newer').addEventListener('click', () => move(-1));
  $('view-older').addEventListener('click', () => move(1));
  $('view-close').addEventListener('click', () => $('viewer').close());
  $('view-share').addEventListener('input', compare);
  $('viewer').addEventListener('keydown', (event) => {
    const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    // The slider has the arrow keys while it has the focus.
    if (!by || event.target === $('view-share')) return;
    event.preventDefault();
    move(by);
  });
  // A click beside the box closes it, as Escape does.
  $('viewer').addEventListener('click', (event) => {
    if (event.target === $('viewer')) $('viewer').close();
  });
  $('viewer').addEventListener('close', () => {
    const card = shown;
    shown = null;
    dropBefore();
    $('view-image').removeAttribute('src');
    if (card?.root.isConnected) card.frame.focus();
  });
}
