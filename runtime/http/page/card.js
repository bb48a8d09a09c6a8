// SPDX-License-Identifier: Apache-2.0
// The card of an image in the gallery, and the progress of a job.

import {imageBlob, post} from './api.js';
import {element, fail, say} from './dom.js';
import {factsOf, fileName, kindText, noteTexts, progressText, promptsIn} from './facts.js';

let actions;
const cardOf = new WeakMap();
// An image is fetched when its card comes near the view.
const near = new IntersectionObserver((all) => {
  for (const x of all)
    if (x.isIntersecting) cardOf.get(x.target).load();
}, {rootMargin: '400px'});

// `by` has the actions on a card: view, reuse, vary, edit and remove.
export function setActions(by) {
  actions = by;
}

function button(text, title, onclick) {
  return element('button', {type: 'button', title, onclick}, text);
}

// Cancels the job or the image at `path`, then calls `done` with whether the
// button had the focus, which a disabled button loses.
function cancelButton(text, label, path, done = () => {}) {
  const own = element('button', {type: 'button', className: 'cancel',
    ariaLabel: label, onclick: async () => {
      const focused = document.activeElement === own;
      own.disabled = true;
      try {
        await post(`${path}/cancel`);
        done(focused);
      } catch (e) {
        own.disabled = false;
        fail(e.message);
      }
    }}, text);
  return own;
}

// Bar, numbers and Cancel of a job: in the card of its only image, or above the
// cards of several, each of which then has a Cancel of its own.
export class JobState {
  constructor(job) {
    this.bar = element('progress', {max: 1, value: 0, ariaLabel: 'Progress'});
    this.facts = element('p', {className: 'facts'}, 'Waiting');
    this.root = element('div', {className: 'state'}, this.bar, this.facts,
      job.n === 1 ? cancelButton('Cancel this image', 'Cancel this image', job.path)
        : cancelButton('Cancel all', `Cancel all ${job.n} images`, job.path));
  }

  progress(x) {
    if (x.steps) this.bar.value = x.step / x.steps;
    this.facts.textContent = progressText(x);
  }
}

export class Card {
  constructor(job, index) {
    this.job = job;
    this.index = index;
    this.path = `${job.path}/images/${index}`;
    this.name = `Image ${index + 1} of ${job.n}`;
    this.frame = element('button', {type: 'button', className: 'frame', disabled: true,
      ariaLabel: this.name, title: 'Opens the large view', onclick: () => actions.view(this)});
    this.kind = element('p', {className: 'kind'}, kindText(job.kind));
    this.kind.hidden = job.kind === 'generation';
    this.prompt = element('p', {}, this.promptText());
    this.facts = element('p', {className: 'facts', hidden: true});
    this.notes = element('ul', {className: 'notes', hidden: true});
    this.buttons = element('div', {className: 'row', hidden: true});
    this.root = element('li', {className: 'card', tabIndex: -1}, this.frame, this.kind,
      this.prompt, this.facts, this.notes, this.buttons);
    cardOf.set(this.root, this);
    if (!job.open) this.finished = true;
    else if (job.n > 1) this.root.append(this.ownCancel());
  }

  promptText() {
    return this.job.request ? this.job.request.prompt || '(no prompt)' : '';
  }

  // The Cancel of one image among several.
  ownCancel() {
    const label = `Cancel image ${this.index + 1} of ${this.job.n}`;
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

  progress(x) {
    if (x.preview && (x.preview_of || 0) === this.index) this.show(x.preview, 'preview');
    else if (this.job.n > 1 && !this.frame.querySelector('img')) {
      const step = x.image_steps[this.index];
      this.frame.textContent = step ? `Step ${step} of ${x.steps_per_image}` : 'Waiting';
    }
  }

  show(url, alt) {
    this.frame.replaceChildren(element('img', {src: url, alt}));
  }

  tell(text) {
    this.facts.hidden = false;
    this.facts.textContent = text;
  }

  // Its image is complete: `told` is the server's JSON of it.
  done(told) {
    if (this.finished) return;
    this.finish();
    this.image = told;
    this.load();
    say(`${this.name} is ready.`);
  }

  // Fetches the image and shows it; does so once.
  load() {
    near.unobserve(this.root);
    this.loading ??= this.fetched().catch((e) => {
      this.failed(e.status === 410 || e.status === 404
        ? 'The server no longer keeps this image.' : e.message);
    });
    return this.loading;
  }

  async fetched() {
    this.image ??= (await this.job.images()).get(this.index);
    if (!this.image) return this.failed(this.job.error?.message || 'Cancelled');
    // Not by image.url: behind a proxy its host or scheme may not be the page's.
    const blob = await imageBlob(this.path);
    if (!this.root.isConnected) return;
    if (!this.job.request) {
      this.job.request = await promptsIn(blob);
      for (const c of this.job.cards) c.prompt.textContent = c.promptText();
    }
    this.blob = blob;
    this.url = URL.createObjectURL(blob);
    this.show(this.url, this.job.request?.prompt || 'an image without a prompt');
    this.frame.disabled = false;
    this.frame.ariaLabel = `Large view: ${this.job.request?.prompt || this.name}`;
    const facts = new Map(factsOf(this.job.request, this.image, this.job.kind));
    this.tell([`seed ${this.image.seed}`, this.image.variant, this.image.sampler,
      this.image.steps != null && `${this.image.steps}\u00a0steps`,
      facts.has('Guidance') && `guidance ${facts.get('Guidance')}`,
      facts.get('Time')?.replace(' ', '\u00a0')].filter(Boolean).join(', '));
    const notes = noteTexts(this.image.notes);
    this.notes.replaceChildren(...notes.map((x) => element('li', {}, x)));
    this.notes.hidden = notes.length === 0;
    this.buttons.replaceChildren(...this.actions());
    this.buttons.hidden = false;
  }

  // Returns the controls of a finished image.
  actions() {
    return [
      button('Reuse settings', 'Copies prompt, settings and seed to the form',
        () => actions.reuse(this)),
      button('Variations', 'Draws four images with these settings and other seeds',
        () => actions.vary(this)),
      button('Edit', 'Starts from this image', () => actions.edit(this)),
      element('a', {className: 'button', href: this.url, download: this.fileName()},
        'Save'),
      this.removeButton()];
  }

  removeButton() {
    return button('Remove', this.job.n > 1
      ? 'Hides this image; the server removes it with the last one of its job'
      : 'Removes it from this page and from the server', () => actions.remove(this));
  }

  fileName() {
    return fileName(this.job.request?.prompt, this.image.seed, this.blob.type);
  }

  failed(text) {
    this.gone = true;
    this.frame.replaceChildren('No image');
    this.facts.className = 'why';
    this.tell(text);
    this.buttons.replaceChildren(this.removeButton());
    this.buttons.hidden = false;
    if (this.job.open) say(text);
  }

  // Fetches the image once its card comes near the view.
  loadLater() {
    near.observe(this.root);
  }

  drop() {
    near.unobserve(this.root);
    if (this.url) URL.revokeObjectURL(this.url);
    this.url = null;
    this.root.remove();
  }
}
