// Shows who may use the dashboard, and who changed what.
import { h, ask, table, moment, notice, count } from './page.js';

export async function usersPage() {
  const [me, users, audit] = await Promise.all([
    ask('me'),
    ask('users').catch((e) => {
      if (e.status === 403) return null; // only operators see all users
      throw e;
    }),
    ask('audit?limit=50'),
  ]);
  const name = (e) => e.who || '–';
  return [
    h('h1', {}, 'Users'),
    me.way === 'session' ? h('div', { class: 'row' }, h('a', { class: 'button', href: '/password' }, 'Change your password')) : null,
    users ? list(users) : notice('', 'The list of users needs the role operate.'),
    h('h2', {}, 'Last changes'),
    table(
      `The last ${count(audit.entries.length)} entries of the audit log; arcrawl audit shows all`,
      [
        ['time (UTC)', (e) => moment(e.time)],
        ['who', name, 'left'],
        ['way', (e) => e.way, 'left'],
        ['what', (e) => e.what, 'left'],
        ['result', (e) => e.result, 'wide'],
      ],
      audit.entries,
      'Nobody has changed anything yet.',
    ),
  ];
}

// list shows users and tokens, and how they are changed.
function list(users) {
  return [
    table(
      'Users: people who sign in',
      [
        ['name', (u) => u.name],
        ['role', (u) => u.role, 'left'],
        ['signs in', (u) => (u.password ? 'with a password' : 'through the proxy'), 'left'],
      ],
      users.users,
      'No users. On the server, arcrawl user add NAME adds one.',
    ),
    h('p', { class: 'more' }, 'On the server, arcrawl user add, role, password and remove change them.'),
    table(
      'Tokens: for programs',
      [
        ['name', (t) => t.name],
        ['role', (t) => t.role, 'left'],
      ],
      users.tokens,
      'No tokens.',
    ),
    h('p', { class: 'more' }, 'On the server, arcrawl user add --token and user remove --token change them.'),
  ];
}
