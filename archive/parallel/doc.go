// Package parallel does the same work for many things on all processors, in a fixed order of results.
//
// All goroutines of the archive's packages are started here. None outlives the call that started it.
package parallel
