// Adds the reports to the dashboard, and what they say of one host or URI to its page.
import { register } from './register.js';
import { daysPage, daysOf } from './days.js';
import { headers, dedup, trustOf } from './headers.js';
import { visitsOf } from './visits.js';

register({
  pages: { days: daysPage, headers, dedup },
  tabs: { days: { days: 'Captured versions' }, operations: { headers: 'Reliability of headers', dedup: 'Duplicates' } },
  parts: { days: daysOf, trust: trustOf, visits: visitsOf },
});
