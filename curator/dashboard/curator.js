// Adds the pages for curators to the dashboard, and what they need on other pages.
import { h, may } from './page.js';
import { register } from './register.js';
import { whatIsNew, seedsWithout } from './news.js';
import { latestPages } from './latest.js';
import { rendered, renderedOf, versionList, viewPage } from './versions.js';
import { comparePage } from './compare.js';
import { packagesPage } from './packages.js';
import { recordPage } from './record.js';
import { capturePage } from './capture.js';
import { importPage } from './import.js';
import { editPage, mainPage } from './edit.js';
import { manyPage } from './many.js';
import { frontsPage } from './fronts.js';
import { frontPage } from './front.js';

register({
  pages: { '': whatIsNew, view: viewPage, compare: comparePage, record: recordPage, packages: packagesPage, capture: capturePage, import: importPage, edit: editPage, many: manyPage, main: mainPage, fronts: frontsPage, front: frontPage },
  fresh: { '': 5_000, packages: 2_000 },
  tabs: { config: { edit: 'Files' } },
  under: { '': '', import: 'hosts', many: 'config', main: 'config', view: 'uri', compare: 'uri', record: 'uri', front: 'fronts' },
  parts: {
    hosts: (of) => [h('a', { class: 'button primary', href: '#/import' + of }, may('curate') ? 'Add sites' : 'Export seeds'), may('curate') && h('a', { class: 'button', href: '#/edit' + of }, 'Edit host files')],
    host: (name) => may('curate') && h('a', { class: 'button primary', href: '#/edit?host=' + encodeURIComponent(name) }, 'Edit the settings'),
    captures: (name) => h('a', { href: '#/?' + new URLSearchParams({ host: name }) }, 'latest captures'),
    troubles: seedsWithout,
    uri: versionList,
    picture: rendered,
    rendered: renderedOf,
    pages: latestPages,
    actions: (uri) => may('curate') && h('a', { class: 'button primary', href: '#/capture?' + new URLSearchParams({ u: uri }) }, 'Capture now'),
    config: () => may('curate') && h('a', { class: 'button primary', href: '#/edit' }, 'Edit the files'),
  },
});
