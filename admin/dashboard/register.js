// What wings add to the dashboard. The scripts of wings register it before app.js shows the first page.
export const added = { pages: {}, fresh: {}, under: {}, parts: {} };

// register adds pages by their names, the ms after which they are updated, the entry of the navigation that stands for
// them, and functions that return further parts of other pages.
export function register({ pages = {}, fresh = {}, under = {}, parts = {} }) {
  Object.assign(added.pages, pages);
  Object.assign(added.fresh, fresh);
  Object.assign(added.under, under);
  for (const [place, part] of Object.entries(parts)) (added.parts[place] ||= []).push(part);
}

// partsOf returns what wings add to a place of a page.
export const partsOf = (place, ...about) => Promise.all((added.parts[place] || []).map((part) => part(...about)));
