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
//
// An entry of the stack may have another [Rule]: [Fixed] keeps a phase, [Target] derives the factors from a share of
// the versions that is to be captured, and [Learned] estimates how often the URI changes and visits when so many
// changes are expected ([Expected]) that the share is met.
//
// # The learned rule
//
// Its [Memory] of a URI holds, as beliefs of a rate (Gamma distributions):
//
//   - memories of the rate that forget in 72 minutes, half a day, 4 days, 32 days and never;
//   - two sets, forgetting in 6 and 60 days, of one memory each for the time after a change, after one quiet visit and
//     after more: they tell pages that change in bursts from those that change at even intervals;
//   - for a URI whose birth is known, a memory that counts in the logarithm of its age, as articles settle;
//   - a clock: how much the hours of the day, the days of the week and the minutes of the hour differ. All but the
//     last memory count time by it.
//
// Each memory has a weight: the product of the probabilities that it gave to what was then seen, never less than e^−6
// of the best one's, so that it can come back when the page's habits change. The wait goes by the weighted mean of the
// rates. What is told of it ([Wait] Expected, Missed and PerDay) goes by the weighted mean of the probabilities that
// nothing changes meanwhile, which the memories that believe in more than visits can tell leave as it is. A visit that
// says nothing ([Unknown]) teaches nothing, and the next one that does counts from the last one that did.
//
// A URI that is new begins as its relatives are: those of its [Kind] on the host, of whose rates the mean and the
// spread are known ([Relatives]), and how well each memory foretold them. The hours and days at which they change
// ([Rhythm]) are what its own clock shows as long as it has learned nothing, and go on to count like some eight
// changes in each hour and on each day.
//
// The number of changes that is waited for follows from the capture target as if changes came at random. It is raised
// where they keep a distance from each other, since little is lost there, and lowered where they come in crowds, by
// the power −0.7 of how much likelier than usual a change is soon after another.
package evaluators
