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
    h('h1', {}, 'Configuration'),
    h('div', { class: 'row' }, await partsOf('config'), h('a', { class: 'button', href: '#/users' }, 'Users')),
    c.faults.length
      ? notice(
          'bad',
          `The last reload, ${when(c.last_reload)}, failed. The configuration of ${moment(c.loaded)} stays in force.`,
        )
      : notice('good', `In force since ${when(c.loaded)}.`),
    h(
      'div',
      { class: 'row' },
      button('Reload', () => ask('reload', {}), again),
    ),
    pairs([
      ['file', h('code', {}, c.path)],
      ['digest', h('code', {}, c.digest)],
    ]),
    h('h2', {}, 'Faults'),
    c.faults.length ? list('Faults of the last reload', c.faults) : h('p', { class: 'panel' }, 'None.'),
    h('h2', {}, 'Warnings'),
    c.warnings.length
      ? list('Warnings of the configuration in force', c.warnings)
      : h('p', { class: 'panel' }, 'None.'),
  ];
}
