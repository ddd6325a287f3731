// Package capacity compares the visits that the URIs of a host ask for with the visits that politeness allows. It is
// arithmetic only: no files, no clock, no configuration.
//
// A [Budget] computes the factor that stretches the waits of a host over its budget. With this factor the same number
// of changes is expected at each visit, in proportion to the capture target of each URI. That captures the most
// versions: the factor is the Lagrange multiplier of the host's slots, expressed in waits.
//
// [Assess] says which capture targets a host can meet, and what it needs to meet the others. It uses the [Rates] at
// which the URIs are expected to change.
//
// If a host is over its budget, the most valuable visit comes first. The value of a visit is 1 − (1+x)·e^−x if x
// changes are expected since the last one. It grows with x, so the frontier orders by x itself.
package capacity
