// Package house holds no code, only the rules that every room of arcrawl keeps, as tests that read the source.
//
// A rule that depends on memory is a wish. Each failure message says what the rule forbids and why. Each rule is also
// tried on planted breaches, so that a rule that finds nothing any more is noticed. The rules are in rules_test.go,
// doors_test.go and plain_test.go. A file that needs an exception is named there, with the reason.
package house
