// SPDX-License-Identifier: Apache-2.0
// The views, and the API key that the server may ask for.

import {key, setKey} from './api.js';
import * as cluster from './cluster.js';
import * as create from './create.js';

const views = {create, cluster};

function show(name) {
  for (const each of Object.keys(views)) {
    const tab = document.getElementById('tab-' + each);
    tab.setAttribute('aria-selected', String(each === name));
    tab.tabIndex = each === name ? 0 : -1;
    document.getElementById(each + '-view').hidden = each !== name;
  }
  if (name === 'cluster') cluster.open();
  else cluster.close();
  // No element has this id: the Tab key would begin there.
  history.replaceState(null, '', '#' + name);
}

const tabs = [...document.querySelectorAll('[role="tab"]')];
tabs.forEach((tab, i) => {
  tab.addEventListener('click', () => show(tab.id.slice(4)));
  tab.addEventListener('keydown', (event) => {
    const by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!by) return;
    const next = tabs[(i + by + tabs.length) % tabs.length];
    show(next.id.slice(4));
    next.focus();
  });
});

const field = document.getElementById('key');
field.value = key();
field.addEventListener('change', () => {
  setKey(field.value);
  create.keyChanged();
});
document.getElementById('key-form')
  .addEventListener('submit', (event) => event.preventDefault());

document.querySelector('.skip').addEventListener('click', () => show('create'));
create.start();
show(location.hash === '#cluster' ? 'cluster' : 'create');
