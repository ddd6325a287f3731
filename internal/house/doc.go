// Package house holds no code, only the rules that every room of arcrawl keeps, as tests that read the source.
//
// A rule that is kept by memory is a wish. Each one here says what it forbids and why in its failure message, and is
// itself tried on planted breaches, so that a rule that has gone blind is noticed. The rules are in rules_test.go and
// doors_test.go; a file that needs an exception is named there, with the reason beside it.
package house
