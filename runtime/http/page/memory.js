// SPDX-License-Identifier: Apache-2.0
// The state that a tab keeps across a reload: the form, and the request of each job.

import {imageBlob} from './api.js';

const store = window.sessionStorage;
const mostJobs = 300;
// Images to start from are large: these stay in memory, until the page is left.
const mostSources = 20;
// A mask of one colour is small enough for the store.
const longestMask = 50_000;

const sources = new Map();
let jobs = read('atelier-jobs', {});

function read(name, otherwise) {
  try {
    return JSON.parse(store.getItem(name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

// A full store keeps what it has.
function write(name, value) {
  try {
    store.setItem(name, JSON.stringify(value));
  } catch {
    store.removeItem(name);
  }
}

export function form() {
  return read('atelier-form', {});
}

export function keepForm(fields) {
  write('atelier-form', fields);
}

// Keeps the request of a job. `from` is the path of the image that it edits, if
// the server made that image.
export function keep(id, {image, mask, ...request}, from) {
  const kept = {request, hidden: []};
  if (image) {
    sources.set(id, {image, mask, from});
    if (sources.size > mostSources) sources.delete(sources.keys().next().value);
    if (from && (mask || '').length <= longestMask) kept.source = {from, mask};
  }
  jobs[id] = kept;
  for (const old of Object.keys(jobs).slice(0, -mostJobs)) delete jobs[old];
  write('atelier-jobs', jobs);
}

export function requestOf(id) {
  return jobs[id]?.request;
}

// The image that a job edits, and its mask; null if they are gone.
export async function sourceOf(id) {
  if (sources.has(id)) return sources.get(id);
  const source = jobs[id]?.source;
  if (!source) return null;
  try {
    return {image: await imageBlob(source.from), ...source};
  } catch {
    return null;
  }
}

// The images of a job that the user removed while others of it stayed.
export function hiddenOf(id) {
  return jobs[id]?.hidden ?? [];
}

export function hide(id, index) {
  jobs[id] ??= {hidden: []};
  jobs[id].hidden.push(index);
  write('atelier-jobs', jobs);
}

export function forget(id) {
  sources.delete(id);
  delete jobs[id];
  write('atelier-jobs', jobs);
}

export function forgetAll() {
  sources.clear();
  jobs = {};
  write('atelier-jobs', jobs);
}
