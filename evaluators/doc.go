// Package evaluators decides what a visit means and when to come back.
//
// Everything here is a pure function of what is remembered about a URI and what this visit saw: no clock, no files,
// no state of its own. Asking twice returns the same answer. (In Heritrix's adaptive-revisit module the state of one
// visit lived on into the next, so that a URI once found unchanged was never compared again.)
//
// # The three questions of a visit
//
//  1. What to ask the server, and may the download end after the headers? [Midfetch.Conditions] returns the values of
//     If-None-Match and If-Modified-Since. [Midfetch.Unchanged] compares the validators of the answer with the
//     remembered ones.
//  2. Did it change? [ChangeEvaluator.Judge] returns a [Verdict] with a [State]: Changed, Unchanged or Unknown.
//  3. When to come back? [Stack.Next] returns the wait interval, [Ladder.Wait] the wait after a failure.
//
// # What the caller remembers
//
// A visit that failed (no connection, a timeout, a status that counts as a failure) is not judged, and the stack is not
// asked. It follows the ladder, and everything learned about the URI stays unchanged. After a verdict:
//
//	State      capture is a version   remembered digest, validators, status   interval
//	Changed    yes                    replaced                                ÷ changed factor
//	Unchanged  no                     validators may be refreshed             × unchanged factor
//	Unknown    no                     untouched; if Rebased, the comparison   kept, if one was learned
//	                                  digest alone is replaced
//
// The first complete capture is Changed (it makes version 1) with [Verdict.First] set, and gets the initial interval.
//
// # Rules
//
// A [Stack] has an entry for each type of content. Each entry has a [Rule]:
//
//   - [Classic] divides the interval of a URI that changed and multiplies the interval of one that did not, as Heritrix
//     does. With the default factors of 1.5, the interval settles where about half of the visits find a change.
//   - [Fixed] keeps one interval and its phase.
//   - [Target] is [Classic] with factors derived from a capture target: the share of the versions to be captured.
//   - [Learned] estimates how often the URI changes, and visits when as many changes are expected as the target allows.
//     The package evaluators/rate makes the estimate. If a host is over its budget, it
//     says by which factor all its waits are stretched.
//
// A wait is never zero or negative, whatever the settings are.
package evaluators
