// Package sim plays rules of revisiting through recorded histories of change, years in seconds, and says what each would
// have captured.
//
// The world is a list of histories: for each resource the moments at which it changed ([Read], [ReadFile]). A [Policy] is a
// rule under test; those made of a stack play the code of package evaluators as the crawler does. [Play] gives each URI
// its visits exactly when they are due, [Crowd] gives a host only one visit per politeness delay, so that an order is
// needed: that of a real frontier. A [Tally] is what came of it.
//
// # The method
//
// The first visit is at the start of a history and free. A version is captured if it was visited while it stood; what
// stands at the start is not counted. A change falls at a random moment, seeded by the id, within the recorder's sampling
// interval before it was seen. A history of more than 1,000 changes is cut after the 1,000th, though not before 60 days;
// one shorter than a day is left out, unless the resource was born in it. Waits lie between 5 minutes and 28 days unless
// a rule has bounds of its own.
//
// Rules are compared at the same number of requests: a budget is a multiple of what the classic rule spends with its
// defaults, and [Spend] slides a policy's one knob until it spends that. [Compare] does so for several policies and
// budgets, with confidence intervals over the resources.
//
// # What always holds
//
// There is no clock and no chance in it: the same file, policies and seed give the same figures. Nothing here reads what
// a policy could not know, but for [Known] and [Clairvoyant], which are bounds. What a policy learns at one host it does
// not know at another.
package sim
