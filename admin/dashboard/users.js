// Shows who may use the dashboard, and who changed what. Those who operate add, change and remove users and tokens.
import { h, ask, button, confirmed, failed, may, table, moment, notice, count } from './page.js';

let told = null; // a new password or token, until the next order

export async function usersPage(again) {
  const [me, users, audit] = await Promise.all([ask('me'), may('operate') ? ask('users') : null, ask('audit?limit=50')]);
  const name = (e) => e.who || '–';
  return [
    h('h1', {}, 'Users'),
    me.way === 'session' ? h('div', { class: 'row' }, h('a', { class: 'button', href: '/password' }, 'Change your password')) : null,
    told,
    users ? [list(users, me, again), h('h2', {}, 'Add a person or a program'), adding(again)] : notice('', 'The list of users needs the role operate.'),
    h('h2', {}, 'Last changes'),
    table(
      `The last ${count(audit.entries.length)} entries of the audit log; arcrawl audit shows all`,
      [
        ['time (UTC)', (e) => moment(e.time)],
        ['who', name, 'left'],
        ['way', (e) => e.way, 'left'],
        ['what', (e) => [e.what, about(e)], 'left'],
        ['result', (e) => e.result, 'wide'],
      ],
      audit.entries,
      'Nobody has changed anything yet.',
    ),
  ];
}

// about names the object of an order, as far as the order says it in one word.
function about(e) {
  if (typeof e.order === 'string') return h('div', { class: 'more' }, e.order); // a command
  const o = e.order || {};
  const of = o.file || o.name || o.host || o.pattern || o.about || o.uri || o.uris?.[0] || o.select?.uris?.[0];
  return typeof of === 'string' && of ? h('div', { class: 'more' }, [o.verb, of].filter(Boolean).join(' ')) : '';
}

const roles = { read: 'read: sees everything', curate: 'curate: decides what is collected', operate: 'operate: may do everything' };
const choice = (attributes, now) => h('select', attributes, Object.entries(roles).map(([value, text]) => h('option', { value, selected: value === now }, text)));

// change sends an order, and keeps the secret that the answer has to show it once.
async function change(order) {
  told = null;
  const { secret } = await ask('users', order);
  const what = order.token ? 'token' : 'password';
  if (secret)
    told = notice('good', `The ${what} of ${order.name}: `, h('code', {}, secret), `. It is shown only now. `, order.token ? 'A program sends it as bearer token.' : 'The name at the top of the dashboard leads to a page that changes it.');
}

const own = (me, u) => me.way !== 'token' && u.name === me.name;

// list shows users and tokens with their orders.
function list(users, me, again) {
  const role = (u) =>
    own(me, u)
      ? u.role
      : choice(
          {
            'aria-label': 'Role of ' + u.name,
            async onchange(e) {
              const wanted = e.target.value;
              try {
                if (await confirmed(`Give ${u.name} the role ${wanted} instead of ${u.role}? It holds at once.`, 'Change the role')) await change({ verb: 'role', name: u.name, role: wanted });
              } catch (error) {
                failed(error.message);
              }
              await again();
            },
          },
          u.role,
        );
  const remove = (name, token) => button('Remove', () => change({ verb: 'remove', name, token }), again, `Remove ${name}? ${token ? 'Programs with this token' : 'The sessions of this user'} end at once.`);
  const renew = (u) => button('New password', () => change({ verb: 'password', name: u.name }), again, `Make a new password for ${u.name}? The old one, and all sessions of this user, end at once.`);
  return [
    table(
      'Users: people who sign in',
      [
        ['name', (u) => u.name],
        ['role', role, 'left'],
        ['signs in', (u) => (u.password ? 'with a password' : 'through the proxy'), 'left'],
        ['change', (u) => (own(me, u) ? 'you' : h('div', { class: 'row' }, renew(u), remove(u.name, false))), 'left'],
      ],
      users.users,
      'No users.',
    ),
    table(
      'Tokens: for programs',
      [
        ['name', (t) => t.name],
        ['role', (t) => t.role, 'left'],
        ['change', (t) => (me.way === 'token' && t.name === me.name ? 'you' : remove(t.name, true)), 'left'],
      ],
      users.tokens,
      'No tokens.',
    ),
  ];
}

// adding is the form for a new user or token.
function adding(again) {
  const kinds = { user: 'a person, with a password', proxied: 'a person whom the proxy names', token: 'a program, with a token' };
  return h(
    'form',
    {
      class: 'row',
      async onsubmit(e) {
        e.preventDefault();
        const form = new FormData(e.target);
        failed();
        try {
          await change({ verb: 'add', name: form.get('name').trim(), role: form.get('role'), token: form.get('kind') === 'token', no_password: form.get('kind') === 'proxied' });
          await again();
        } catch (error) {
          failed(error.message);
        }
      },
    },
    h('label', {}, 'Name', h('input', { name: 'name', required: true, maxlength: '64', autocapitalize: 'none', spellcheck: 'false', autocomplete: 'off' })),
    h('label', {}, 'Who', h('select', { name: 'kind' }, Object.entries(kinds).map(([value, text]) => h('option', { value }, text)))),
    h('label', {}, 'Role', choice({ name: 'role' }, 'curate')),
    h('button', { class: 'primary' }, 'Add'),
  );
}
