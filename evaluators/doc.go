// Package evaluators says what a visit meant and when to come back.
//
// Everything here is a pure function of what is remembered of a URI and what this visit saw: no clock, no files, no
// state of its own. Asking twice gives the same answer, and what a visit is judged by is only ever what the caller
// hands in. (In Heritrix's adaptive-revisit module the state of one visit lived on into the next, so that a URI once
// found unchanged was never compared again. Such a fault has no place to live here.)
//
// # The three questions of a visit
//
//  1. What to ask the server, and may the download end after the headers? [Midfetch.Conditions] gives the values of
//     If-None-Match and If-Modified-Since; [Midfetch.Unchanged] compares the validators of the answer with the
//     remembered ones.
//  2. Did it change? [ChangeEvaluator.Judge] gives a [Verdict] with a [State]: Changed, Unchanged or Unknown.
//  3. When to come back? [Stack.Next] gives the wait interval, [Ladder.Wait] the wait after a failure.
//
// # What the caller keeps
//
// A visit that failed (no connection, a time-out, a status that counts as a failure) is never judged and never given
// to the stack: it follows the ladder, and everything learned about the URI stays as it was. After a verdict:
//
//	State      capture is a version   remembered digest, validators, status   interval
//	Changed    yes                    replaced                                ÷ changed factor
//	Unchanged  no                     validators may be refreshed             × unchanged factor
//	Unknown    no                     untouched; with Rebased the comparison  kept, if one was learned
//	                                  digest, and only it, is replaced
//
// The first complete capture is Changed (it makes version 1) with [Verdict.First] set, and gets the initial interval.
//
// # Intervals
//
// The arithmetic is that of Heritrix's WaitEvaluators: in milliseconds, truncated toward zero, then held between
// minimum and maximum. With the default factors of 1.5 an interval settles where about half of the visits find a
// change. A wait never is zero or negative, whatever the settings are.
package evaluators
