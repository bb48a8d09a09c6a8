// SPDX-License-Identifier: Apache-2.0
// Shapes of images to choose, and what the model makes of a size.

import {$, element} from './dom.js';

// Width to height.
const shapes = {Square: 1, Portrait: 3 / 4, Landscape: 4 / 3, Wide: 16 / 9};
const grid = 8; // Sizes are its multiples.

let variant = null;

// Returns the size of a shape with about as many pixels as the model's own.
export function sizeOf(shape, {width, height}) {
  const ratio = shapes[shape];
  if (Math.abs(width / height - ratio) < 0.01) return [width, height];
  const side = Math.sqrt(width * height);
  const whole = (x) => Math.max(grid, Math.round(x / grid) * grid);
  return [whole(side * Math.sqrt(ratio)), whole(side / Math.sqrt(ratio))];
}

// Returns what becomes of an image of another shape than the model's own.
export function warning(width, height, direct, v) {
  const [across, down] = [width / v.width, height / v.height];
  const size = (w, h) => `${w} × ${h}`;
  const other = width !== v.width || height !== v.height;
  if (direct)
    return other && v.native_only
      ? `${v.model} was made for ${size(v.width, v.height)}: expect faults.` : '';
  if (!v.native_only || Math.abs(across - down) < 0.01) return '';
  const cut = 100 * (1 - Math.min(across, down) / Math.max(across, down));
  return `${v.model} draws ${size(v.width, v.height)}. To fill ${size(width, height)}, `
    + `${cut.toFixed(0)} % of its ${across > down ? 'height' : 'width'} is cut off.`;
}

function current() {
  return [Number($('width').value) || variant.width,
    Number($('height').value) || variant.height];
}

export function show() {
  if (!variant) return;
  const [width, height] = current();
  for (const x of $('shapes').children) {
    const [w, h] = sizeOf(x.textContent, variant);
    x.ariaPressed = String(w === width && h === height);
  }
  // The size of an edit is that of its image, unless it is set.
  const set = $('source').hidden || $('width').value || $('height').value;
  $('size-hint').textContent = set
    ? warning(width, height, $('native-only').value === 'off', variant) : '';
}

export function model(v) {
  variant = v;
  show();
}

// `changed` follows a choice.
export function start(changed) {
  $('shapes').replaceChildren(...Object.keys(shapes).map((name) =>
    element('button', {type: 'button', className: 'chip', ariaPressed: 'false',
      onclick: () => {
        if (!variant) return;
        [$('width').value, $('height').value] = sizeOf(name, variant);
        changed();
      }}, name)));
}
