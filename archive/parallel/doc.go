// Package parallel runs a function for many items on all processors, and delivers the results in a fixed order.
//
// All goroutines of the archive's packages are started here. None outlives the call that started it.
package parallel
