// Adds the pages for curators to the dashboard, and what they need on other pages.
import { h } from './page.js';
import { register } from './register.js';
import { whatIsNew } from './news.js';
import { versionList, viewPage } from './versions.js';
import { comparePage } from './compare.js';
import { packagesPage } from './packages.js';
import { recordPage } from './record.js';
import { capturePage } from './capture.js';
import { importPage } from './import.js';
import { editPage, mainPage } from './edit.js';
import { manyPage } from './many.js';

register({
  pages: { '': whatIsNew, view: viewPage, compare: comparePage, record: recordPage, packages: packagesPage, capture: capturePage, import: importPage, edit: editPage, many: manyPage, main: mainPage },
  fresh: { '': 5_000, packages: 2_000 },
  under: { '': '', import: 'hosts', edit: 'config', many: 'config', main: 'config', view: 'uri', compare: 'uri', record: 'uri' },
  parts: {
    hosts: (of) => [h('a', { href: '#/import' + of }, 'Import or export seeds'), ' · ', h('a', { href: '#/edit' + of }, 'Edit host files')],
    host: (name) => h('a', { class: 'button', href: '#/edit?host=' + encodeURIComponent(name) }, 'Edit the settings'),
    captures: (name) => h('a', { href: '#/?' + new URLSearchParams({ host: name }) }, 'latest captures'),
    uri: versionList,
    config: () => h('a', { class: 'button', href: '#/edit' }, 'Edit the files'),
  },
});
