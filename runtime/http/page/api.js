// SPDX-License-Identifier: Apache-2.0
// Calls of the server that this page came from.

const store = window.sessionStorage;

export function key() {
  return store.getItem('atelier-key') || '';
}

export function setKey(text) {
  if (text) store.setItem('atelier-key', text);
  else store.removeItem('atelier-key');
}

function headers(more) {
  const all = {...more};
  if (key()) all['Authorization'] = 'Bearer ' + key();
  return all;
}

async function reasonOf(reply) {
  try {
    const body = await reply.json();
    return body.error?.message || body.detail || reply.statusText;
  } catch {
    return reply.status + ' ' + reply.statusText;
  }
}

// Numbers of JavaScript are exact up to 2^53, and seeds have 64 bits: here they
// are texts, and numbers only on their way.
export function parse(text) {
  return JSON.parse(text.replace(/("seed"\s*:\s*)(\d+)/g, '$1"$2"'));
}

export function write(value) {
  return JSON.stringify(value).replace(/("seed":)"(-?\d+)"/g, '$1$2');
}

// A refusal of the server, with its status.
export class Refusal extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

async function call(method, path, body) {
  const reply = await fetch(path, {
    method,
    headers: headers(body ? {'Content-Type': 'application/json'} : {}),
    body: body ? write(body) : undefined,
  });
  if (!reply.ok) throw new Refusal(reply.status, await reasonOf(reply));
  return reply;
}

export async function get(path) {
  return parse(await (await call('GET', path)).text());
}

export async function post(path, body = {}) {
  return parse(await (await call('POST', path, body)).text());
}

// Removes what the server keeps; what it no longer has is removed already.
export async function remove(path) {
  try {
    await call('DELETE', path);
  } catch (e) {
    if (e.status !== 404 && e.status !== 410) throw e;
  }
}

export async function imageBlob(path) {
  return (await call('GET', path)).blob();
}

// Reads server-sent events until they end: told(name, data) for each. Not an
// EventSource, which can send no key.
export async function events(path, told, signal) {
  const reply = await fetch(path, {headers: headers({}), signal});
  if (!reply.ok) throw new Error(await reasonOf(reply));
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    rest += value;
    let end;
    while ((end = rest.indexOf('\n\n')) >= 0) {
      const block = rest.slice(0, end);
      rest = rest.slice(end + 2);
      let name = 'message';
      const data = [];
      for (const line of block.split('\n')) {
        if (line.startsWith('event:')) name = line.slice(6).trim();
        else if (line.startsWith('data:')) data.push(line.slice(5).trimStart());
      }
      if (data.length) told(name, parse(data.join('\n')));
    }
  }
}
