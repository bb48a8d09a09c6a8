// SPDX-License-Identifier: Apache-2.0
// Elements of the page, and its two places for messages.

export const $ = (id) => document.getElementById(id);

export function element(name, attributes = {}, ...children) {
  const x = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (key.startsWith('on')) x.addEventListener(key.slice(2), value);
    else if (key in x) x[key] = value;
    else x.setAttribute(key, value);
  x.append(...children);
  return x;
}

export function say(text) {
  $('news').textContent = text;
}

export function fail(text) {
  $('fault').textContent = text;
}

// Asks a question with two answers; returns whether `yes` was chosen.
export function confirmed(question, yes) {
  const box = $('confirm');
  $('confirm-text').textContent = question;
  $('confirm-yes').textContent = yes;
  box.returnValue = '';
  box.showModal();
  return new Promise((then) => {
    box.addEventListener('close', () => then(box.returnValue === 'yes'),
      {once: true});
  });
}
