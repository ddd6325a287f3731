// Package noise compares the content of a visit with what is remembered of its URI.
//
// [Digest] makes the digest that decides whether a page changed. Some pages differ at every fetch: they show a clock,
// or hold a token. [Fetches.Judge] and [Visit.Decide] look twice at pages that differed at many visits in a row, as
// [evaluators.SecondLook] says. They let what a reader sees decide about the wait where that stays the same.
package noise
