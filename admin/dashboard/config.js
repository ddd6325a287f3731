// The page of the configuration in force.
import { h, ask, moment, when, table, pairs, notice, button } from './page.js';
import { partsOf } from './register.js';

export async function configPage(again) {
  const c = await ask('config');
  const list = (caption, faults) =>
    table(
      caption,
      [
        ['where', (f) => [f.file, f.line, f.column].filter(Boolean).join(':'), 'wide'],
        ['key', (f) => f.key || '–', 'left'],
        ['value', (f) => f.value || '–', 'wide'],
        ['problem', (f) => f.problem, 'wide'],
        ['remedy', (f) => f.remedy || '–', 'wide'],
      ],
      faults,
    );
  return [
    h('div', { class: 'title' }, h('h1', {}, 'Configuration'), h('div', { class: 'row' }, await partsOf('config'), button('Reload', () => ask('reload', {}), again, null, 'operate'))),
    c.faults.length
      ? notice(
          'bad',
          `The last reload, ${when(c.last_reload)}, failed. The configuration of ${moment(c.loaded)} stays in force.`,
        )
      : h('p', { class: 'lead health good' }, `In force since ${when(c.loaded)}.`),
    pairs([
      ['file', h('code', {}, c.path)],
      ['digest', h('code', {}, c.digest)],
    ]),
    c.faults.length ? [h('h2', {}, 'Faults'), list('Faults of the last reload', c.faults)] : null,
    c.warnings.length ? [h('h2', {}, 'Warnings'), list('Warnings of the configuration in force', c.warnings)] : h('p', {}, 'It has no faults, and nothing to warn of.'),
  ];
}
