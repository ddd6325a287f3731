// Turns a difference between two versions into a scrubbing rule: proposes it, shows what it would have hidden, saves it.
import { h, ask, committed, count, plural, moment, notice, may } from './page.js';

const kinds = { scrub: 'expression (scrub)', scrub_css: 'selector (scrub_css)' };

// ignoreButton is the button of a row of a comparison. place is where the panel appears.
export const ignoreButton = (comparison, row, place) =>
  may('curate') &&
  h('button', { type: 'button', class: 'small', 'aria-label': 'Ignore this part', onclick: () => open(comparison, row, place) }, 'Ignore');

const textOf = (line) => (line ? line.parts.map((p) => p.text).join('') : '');

// open proposes rules for a row and shows the panel.
async function open(c, row, place) {
  show(place, h('p', {}, 'Looking for a rule …'));
  try {
    const wish = { uri: c.uri, before: c.before.at, at: c.after.at, what: c.what, left: textOf(row.left), right: textOf(row.right) };
    const found = await ask('ignore/propose', wish);
    panel(c, place, found.rules.length ? found.rules : [{ kind: 'scrub_css', rule: '' }], found.problem);
  } catch (e) {
    show(place, notice('bad', e.message));
  }
}

function show(place, ...content) {
  place.replaceChildren(
    h('section', { class: 'panel', tabindex: '-1', 'aria-label': 'Ignore a part' }, h('h2', {}, 'Ignore this part'), ...content.flat(Infinity).filter(Boolean)),
  );
  place.firstChild.focus();
}

// panel shows rules that can be edited, and what they would have hidden.
export function panel(c, place, rules, problem) {
  const result = h('div', { role: 'status' });
  const fields = rules.map((r) => ({
    kind: h('select', { 'aria-label': 'Kind of rule' }, Object.entries(kinds).map(([key, name]) => h('option', { value: key, selected: key === r.kind }, name))),
    rule: h('input', { value: r.rule, 'aria-label': 'Rule', spellcheck: 'false' }),
  }));
  const wanted = () => ({ uri: c.uri, rules: fields.filter((f) => f.rule.value).map((f) => ({ kind: f.kind.value, rule: f.rule.value })) });
  const look = () => preview(wanted(), result, place, c.saved);
  show(
    place,
    problem ? notice('warn', problem) : h('p', {}, 'This hides the difference, and no main content. What it hides will not count as a change any more.'),
    fields.map((f) => h('div', { class: 'row' }, f.kind, h('label', { class: 'grow' }, 'Rule', f.rule))),
    h(
      'div',
      { class: 'row' },
      h('button', { type: 'button', onclick: look }, 'Show the effect'),
      h('button', { type: 'button', onclick: () => place.replaceChildren() }, 'Cancel'),
    ),
    result,
  );
  if (rules[0].rule) look();
}

// preview shows the effect of rules on the newest versions and on the host file, with the button that saves them. After
// that it calls saved, if it is set.
async function preview(wanted, result, place, saved) {
  result.replaceChildren(h('p', {}, 'Trying it on the newest versions …'));
  let p;
  try {
    p = await ask('ignore/preview', wanted);
  } catch (e) {
    result.replaceChildren(notice('bad', e.message));
    return;
  }
  const save = h('button', { type: 'button' }, 'Save to ' + p.file.split('/').pop());
  save.onclick = async () => {
    save.disabled = true;
    try {
      const done = await ask('ignore', { ...wanted, file_digest: p.file_digest });
      show(place, h('div', {}, notice('good', `Saved to ${done.file}. The daemon reads the file at once, unless reload.watch is off.`), committed(done) || ''));
      saved?.().catch(() => {});
    } catch (e) {
      result.replaceChildren(notice('bad', e.message));
    }
  };
  result.replaceChildren(
    h('p', {}, `Of ${plural(p.compared, 'comparison')} of a version with the one before, ${count(p.differ)} differ now, and ${count(p.still_differ)} would differ with the rule.`),
    h(
      'ul',
      {},
      p.versions.map((v) =>
        h('li', {}, moment(v.date) + ': ', v.problem || (v.parts ? plural(v.parts, 'part') + ' hidden: ' : 'nothing hidden'),
          v.samples.map((s, i) => [i ? ', ' : '', h('code', {}, h('bdi', {}, s))]), v.parts > v.samples.length ? ' …' : null),
      ),
    ),
    h('pre', { class: 'diff' }, h('bdi', {}, p.diff || 'The host file has these rules already.')),
    p.diff ? save : '',
  );
}
