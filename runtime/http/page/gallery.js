// SPDX-License-Identifier: Apache-2.0
// The jobs of this key and their images, newest first: those that this page
// starts, and those that the server kept.

import {events, get, remove} from './api.js';
import {Card, JobState, setActions} from './card.js';
import {$, confirmed, element, fail, say} from './dom.js';
import * as memory from './memory.js';

// The most images that are shown at first, and how many more the button shows.
const page = 100;
const mostJobs = 1000; // The server lists no more.
const narrow = matchMedia('(max-width: 50rem)');

let leaveView;
let most = page;
// Newest first.
let jobs = [];

// One job: `told` is the server's JSON of it, `request` what it asked for, if
// this tab knows.
class Job {
  constructor(told, request) {
    this.id = told.id;
    this.kind = told.kind;
    this.n = told.pictures;
    this.created = told.created;
    this.error = told.error;
    this.open = told.status === 'queued' || told.status === 'running';
    this.path = `/v1/jobs/${told.id}`;
    this.request = request;
    const hidden = memory.hiddenOf(told.id);
    this.cards = Array.from({length: this.n}, (_, i) => i)
      .filter((i) => !hidden.includes(i)).map((i) => new Card(this, i));
    if (!this.open) return;
    this.state = new JobState(this);
    if (this.n === 1) this.cards[0]?.root.append(this.state.root);
    else this.line = element('li', {className: 'job'}, element('p', {},
      `${this.n} images${request ? ` of “${request.prompt}”` : ''}`), this.state.root);
  }

  roots() {
    return [...this.line ? [this.line] : [], ...this.cards.map((c) => c.root)];
  }

  // Returns what the server says of its images, by index.
  images() {
    this.details ??= get(`${this.path}?images=none`).then((x) =>
      new Map((x.result?.images || []).map((image) => [image.index, image])));
    return this.details;
  }

  drop() {
    this.line?.remove();
    for (const c of this.cards) c.drop();
    jobs = jobs.filter((x) => x !== this);
  }

  close() {
    this.open = false;
    this.state.root.remove();
    this.line?.remove();
    this.line = null;
  }

  async follow() {
    const ended = (text) => {
      for (const c of this.cards) if (!c.finished) { c.finish(); c.failed(text); }
    };
    const cardAt = (i) => this.cards.find((c) => c.index === i);
    try {
      let again = false;
      const hear = (name, data) => {
        for (const i of data.cancelled_images || []) cardAt(i)?.cancelled();
        if (name === 'status' || name === 'progress') {
          this.state.progress(data);
          for (const c of this.cards) if (!c.finished) c.progress(data);
        } else if (name === 'image') {
          cardAt(data.index)?.done(data);
        } else if (name === 'failed') {
          ended(data.error?.message || 'Failed');
        } else if (name === 'cancelled') {
          ended('Cancelled');
        } else if (name === 'error') {
          again = data.error?.code === 'overloaded';
        }
      };
      do {
        if (again) await new Promise((then) => { setTimeout(then, 1000); });
        again = false;
        await events(`${this.path}/events`, hear);
      } while (again);
      ended('The server closed the connection.');
    } catch (e) {
      ended(e.message);
    }
    this.close();
  }
}

function cards() {
  return jobs.flatMap((x) => x.cards);
}

// Returns the cards whose images can be viewed, newest first.
export function viewable() {
  return cards().filter((c) => c.finished && !c.gone);
}

function count() {
  const all = cards();
  $('nothing').hidden = all.length > 0;
  $('clear').hidden = !jobs.some((x) => !x.open);
}

// Removes an image, and its job with the last of its images. The focus goes to
// the next card.
async function removeCard(card) {
  const {job} = card;
  const last = job.cards.length === 1 && !job.open;
  try {
    if (last) await remove(job.path);
  } catch (e) {
    return fail(e.message);
  }
  leaveView(card);
  const all = cards();
  const next = all[all.indexOf(card) + 1] ?? all[all.indexOf(card) - 1];
  if (last) memory.forget(job.id);
  else memory.hide(job.id, card.index);
  card.drop();
  job.cards = job.cards.filter((c) => c !== card);
  if (last) job.drop();
  count();
  say('The image is removed.');
  if (!document.querySelector('dialog[open]')) (next?.root ?? $('prompt')).focus();
}

// Puts a job at its place by age, behind others of its second.
function enter(job) {
  const older = jobs.findIndex((x) => x.created < job.created);
  enterAt(job, older < 0 ? jobs.length : older);
}

function enterAt(job, at) {
  const before = jobs[at]?.roots()[0] ?? null;
  jobs.splice(at, 0, job);
  for (const root of job.roots()) $('gallery').insertBefore(root, before);
  for (const c of job.cards) if (!job.open) c.loadLater();
  if (job.open) job.follow().then(count);
}

// Keeps the newest images only, the newest job's in any case.
function trim() {
  let n = cards().length;
  while (n > most && jobs.length > 1) {
    n -= jobs.at(-1).cards.length;
    jobs.at(-1).drop();
    $('older').hidden = false;
  }
}

// Enters a job that this page started, and shows it.
export function started(told, request, from) {
  memory.keep(told.id, request, from);
  const {image, mask, ...rest} = request;
  const job = new Job(told, rest);
  enterAt(job, 0);
  trim();
  count();
  // On a phone the form is above: what is drawn comes into view.
  $('gallery').firstElementChild.scrollIntoView(
    {block: narrow.matches ? 'start' : 'nearest'});
  say(job.n === 1 ? 'Drawing an image.' : `Drawing ${job.n} images.`);
}

// A job that was cancelled before its first image has nothing to show.
function isShown(told) {
  return !told.expired && (told.pictures_done > 0 || told.status !== 'cancelled');
}

// Shows the jobs of this key that the server keeps.
export async function restore() {
  const limit = Math.min(mostJobs, most);
  const {data} = await get(`/v1/jobs?own=true&limit=${limit}`);
  const known = new Set(jobs.map((x) => x.id));
  let n = cards().length;
  let left = data.length === limit && limit < mostJobs;
  const entered = [];
  for (const told of data.filter((x) => isShown(x) && !known.has(x.id))) {
    const job = new Job(told, memory.requestOf(told.id));
    if (!job.cards.length) continue;
    if (n > 0 && n + job.cards.length > most) {
      left = true;
      break;
    }
    n += job.cards.length;
    entered.push(job);
  }
  for (const job of entered) enter(job);
  $('older').hidden = !left;
  count();
}

// Forgets what is shown and known: the key is another one.
export function leave() {
  for (const job of [...jobs]) job.drop();
  memory.forgetAll();
  most = page;
  count();
}

async function clear() {
  const ended = jobs.filter((x) => !x.open);
  const n = ended.flatMap((x) => x.cards).length;
  if (!await confirmed(`Remove ${n === 1 ? 'this image' : `all ${n} finished images`}? `
    + 'The server deletes the files too.', 'Remove')) return;
  // All cards go first: one that comes into view would fetch a removed image.
  for (const job of ended) job.drop();
  count();
  try {
    for (const job of ended) {
      await remove(job.path);
      memory.forget(job.id);
    }
  } catch (e) {
    fail(e.message);
    return restore();
  }
  say('The finished images are removed.');
  $('prompt').focus();
}

// `by` has the actions view, reuse, vary and edit on a card, and leave, which takes
// it out of the large view.
export function start(by) {
  setActions({...by, remove: removeCard});
  leaveView = by.leave;
  $('clear').addEventListener('click', clear);
  $('older').addEventListener('click', () => {
    most += page;
    restore().catch((e) => fail(e.message));
  });
  $('confirm-yes').addEventListener('click', () => $('confirm').close('yes'));
  $('confirm-no').addEventListener('click', () => $('confirm').close(''));
}
