// Package pattern compiles the regular expressions that curators write, and refuses those that are too large.
//
// The time of a match grows with the length of the text times the size of the compiled program. A short expression can
// make a large program: "[a-z]{1000}" has a thousand instructions.
package pattern

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

// MaxProgram is the maximum number of instructions of a compiled expression. A list of 500 words has some 4,000.
const MaxProgram = 5_000

// TooLargeError says that an expression makes a program that is too large.
type TooLargeError struct{ Instructions int }

// Error returns the size and what to do.
func (e TooLargeError) Error() string {
	return fmt.Sprintf("it compiles to %d instructions, the maximum is %d; write smaller repetitions, or several expressions",
		e.Instructions, MaxProgram)
}

// Compile compiles an expression in the syntax of RE2.
func Compile(expr string) (*regexp.Regexp, error) {
	re, _, err := Measured(expr)
	return re, err
}

// Measured is [Compile]. It also returns the number of instructions.
func Measured(expr string) (re *regexp.Regexp, instructions int, err error) {
	if re, err = regexp.Compile(expr); err != nil {
		return nil, 0, err
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, 0, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, 0, err
	}
	if n := len(program.Inst); n > MaxProgram {
		return nil, n, TooLargeError{n}
	}
	return re, len(program.Inst), nil
}
