// What wings add to the dashboard. The scripts of wings register it before app.js shows the first page.
export const added = { pages: {}, fresh: {}, under: {}, parts: {}, tabs: { operations: { operations: 'State' }, config: { config: 'In force', users: 'Users' } } };

// register adds pages by their names, the ms after which they are updated, the entry of the navigation that stands for
// them, functions that return further parts of other pages, and the titles of pages that share an entry as tabs.
export function register({ pages = {}, fresh = {}, under = {}, parts = {}, tabs = {} }) {
  Object.assign(added.pages, pages);
  Object.assign(added.fresh, fresh);
  Object.assign(added.under, under);
  for (const [place, part] of Object.entries(parts)) (added.parts[place] ||= []).push(part);
  for (const [entry, titles] of Object.entries(tabs)) Object.assign((added.tabs[entry] ||= {}), titles);
}

// entryOf returns the entry of the navigation that stands for a page.
export const entryOf = (page) => Object.keys(added.tabs).find((entry) => page in added.tabs[entry]) ?? added.under[page] ?? page;

// partsOf returns what wings add to a place of a page.
export const partsOf = (place, ...about) => Promise.all((added.parts[place] || []).map((part) => part(...about)));
