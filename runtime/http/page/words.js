// SPDX-License-Identifier: Apache-2.0
// What a model can draw: example prompts, and its vocabulary as words to choose.

import {get} from './api.js';

// For models that read any text.
const anyText = [
  'a watercolour of a lighthouse at dusk',
  'a photograph of a red fox in the snow',
  'an isometric drawing of a small workshop',
];

// Returns prompts of the vocabulary's own words.
export function examplesOf(known) {
  const word = (group, i) => (known[group] || [])[i] || '';
  const colour = (i) => word('object_colours', i);
  const shape = (i) => word('shapes', i);
  const all = [
    ['a', colour(0), shape(0)],
    ['a', word('sizes', 1), colour(3), shape(1), 'above a', word('sizes', 0),
      colour(4), shape(2)],
    ['a', word('textures', 1), colour(2), shape(3), 'on a',
      word('background_colours', 4), 'background'],
  ];
  return all.filter((words) => words.every(Boolean)).map((x) => x.join(' '));
}

function button(text, chosen) {
  const x = document.createElement('button');
  x.type = 'button';
  x.className = 'chip';
  x.textContent = text;
  x.addEventListener('click', () => chosen(text));
  return x;
}

// Places as they lie in an image.
const grid = [['top left', 'top', 'top right'], ['left', 'center', 'right'],
  ['bottom left', 'bottom', 'bottom right']];
const placesHint = 'Places next to one in the prompt are greyed: of two objects side by '
  + 'side, the model often draws only one.';

function cellOf(place) {
  const row = grid.findIndex((x) => x.includes(place));
  return row < 0 ? null : [row, grid[row].indexOf(place)];
}

// Returns the places that a prompt names.
export function placesIn(prompt, known) {
  const longestFirst = [...known].sort((a, b) => b.length - a.length);
  const found = prompt.toLowerCase().match(
    new RegExp(`\\b(?:${longestFirst.join('|')})\\b`, 'g'));
  return new Set(found || []);
}

// Returns the places beside those that a prompt names.
export function placesBeside(prompt, known) {
  const named = placesIn(prompt, known);
  return new Set(known.filter((place) => {
    const here = cellOf(place);
    return here && !named.has(place) && [...named].some((other) => {
      const there = cellOf(other);
      return there && Math.abs(here[0] - there[0]) + Math.abs(here[1] - there[1]) === 1;
    });
  }));
}

// Greys the words for places beside those of the prompt.
export function markPlaces(vocabulary, prompt) {
  const chips = [...vocabulary.querySelectorAll('[data-group="places"] .chip')];
  const beside = placesBeside(prompt, chips.map((x) => x.textContent));
  for (const x of chips) {
    const unsure = beside.has(x.textContent);
    x.classList.toggle('unsure', unsure);
    if (unsure) x.title = 'Next to a place in the prompt';
    else x.removeAttribute('title');
  }
  for (const hint of vocabulary.querySelectorAll('[data-group="places"] .hint'))
    hint.hidden = beside.size === 0;
}

function row(name, words, chosen) {
  const head = document.createElement('dt');
  head.textContent = name.replaceAll('_', ' ');
  const body = document.createElement('dd');
  body.dataset.group = name;
  // Numbers count what the model draws; they are no words of a prompt.
  if (words.every((word) => /^\d+$/.test(word)))
    body.append(`up to ${words.at(-1)} in an image, each described by its own words`);
  else
    body.append(...words.map((word) => button(word, chosen)));
  if (name === 'places') {
    const hint = document.createElement('p');
    hint.className = 'hint';
    hint.textContent = placesHint;
    body.append(hint);
  }
  return [head, body];
}

// Shows what `model` can draw; use(prompt) and insert(word) are told what is
// chosen.
export async function fill(model, {examples, words, vocabulary, use, insert}) {
  const known =
    (await get(`/v1/models/${encodeURIComponent(model)}`)).vocabulary;
  examples.replaceChildren(
    ...(known ? examplesOf(known) : anyText).map((x) => button(x, use)));
  examples.hidden = false;
  words.hidden = !known;
  vocabulary.replaceChildren(...Object.entries(known || {})
    .filter(([, list]) => Array.isArray(list))
    .flatMap(([name, list]) => row(name, list, insert)));
}
