// Package sim plays rules of revisiting through recorded histories of change, years in seconds, and reports what each
// rule would have captured.
//
// Its input is a list of histories: the moments at which each resource changed ([Read], [ReadFile]). Visits of a crawl
// can replace them ([Sightings]). A [Policy] is a rule under test. Policies made of a stack run the code of
// package evaluators, as the crawler does. [Play] visits each URI exactly when it is due. [Crowd] allows a host one
// visit per politeness delay only, in the order of a real frontier. A [Tally] counts what was captured.
//
// # The method
//
// The first visit is at the start of a history and free. A version is captured if it was visited while it was current;
// the version at the start does not count. A change is placed at a random moment, seeded by the id, within the
// recorder's sampling interval before it was seen. A history of more than 1,000 changes is cut after the 1,000th, but
// not before 60 days. A history of less than a day is skipped, unless the resource was born in it. Waits are between 5
// minutes and 28 days unless a rule has bounds of its own.
//
// Rules are compared at the same number of requests. A budget is a multiple of the requests that the classic rule
// makes with its defaults. [Spend] adjusts a policy's one knob until it makes that number. [Compare] does so for
// several policies and budgets, with confidence intervals over the resources.
//
// Shares are given in three ways ([Report]): of all versions, so that pages that change often dominate; the mean over
// pages; and of the versions of pages that change less than weekly. [WithNoise] adds pages that differ at each fetch.
//
// # What always holds
//
// No clock and no chance is involved: the same file, policies and seed give the same figures. Nothing reads what a
// policy could not know, except [Known] and [Clairvoyant], which are bounds. A policy learns nothing at one host that
// it uses at another.
package sim
