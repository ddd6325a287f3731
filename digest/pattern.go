package digest

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

// MaxPattern is the maximum number of instructions of a compiled expression. The time of a match grows with the length
// of the text times the size of the program. A short expression can make a large program: "[a-z]{1000}" has a thousand
// instructions. A list of 500 words has some 4,000.
const MaxPattern = 5_000

// PatternTooLargeError says that an expression makes a program that is too large.
type PatternTooLargeError struct{ Instructions int }

// Error returns the size and what to do.
func (e PatternTooLargeError) Error() string {
	return fmt.Sprintf("it compiles to %d instructions, the maximum is %d; write smaller repetitions, or several expressions",
		e.Instructions, MaxPattern)
}

// CompilePattern compiles an expression in the syntax of RE2.
func CompilePattern(expr string) (*regexp.Regexp, error) {
	re, _, err := measuredPattern(expr)
	return re, err
}

// measuredPattern is [CompilePattern]. It also returns the number of instructions.
func measuredPattern(expr string) (re *regexp.Regexp, instructions int, err error) {
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
	if n := len(program.Inst); n > MaxPattern {
		return nil, n, PatternTooLargeError{n}
	}
	return re, len(program.Inst), nil
}

const typeHead, typeTail = `(?is)\A(?:`, `)\z`

// Expression returns a large expression of ours, which is compiled at its first use: most commands never need it.
func Expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// TypePattern compiles a pattern of content types. As in Heritrix it has to match the whole value of the Content-Type
// header, parameters included: "text/html" does not match "text/html; charset=utf-8", "text/html.*" and "^text/.*$" do.
// Unlike in Heritrix case does not matter.
func TypePattern(expr string) (*regexp.Regexp, error) {
	if _, err := CompilePattern(expr); err != nil { // compiled alone, so that the expression cannot close our group
		return nil, fmt.Errorf("MIME pattern: %w", err)
	}
	re, err := regexp.Compile(typeHead + expr + typeTail)
	if err != nil {
		return nil, fmt.Errorf("MIME pattern %q: %w", expr, err)
	}
	return re, nil
}

// TypeExpression returns the expression of which [TypePattern] made a pattern.
func TypeExpression(pattern *regexp.Regexp) string {
	return strings.TrimSuffix(strings.TrimPrefix(pattern.String(), typeHead), typeTail)
}
