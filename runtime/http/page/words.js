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

function row(name, words, chosen) {
  const head = document.createElement('dt');
  head.textContent = name.replaceAll('_', ' ');
  const body = document.createElement('dd');
  body.append(...words.map((word) => button(word, chosen)));
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
