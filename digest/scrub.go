package digest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

// The errors of scrubbing rules that compile but cannot be meant.
var (
	ErrMatchesEmpty = errors.New("matches the empty text, which is everywhere")
	ErrMatchesAll   = errors.New("matches whole documents, so that no change would ever be seen")
)

// ErrTooSlow says that the rules take too long on a content, so that it is compared whole.
var ErrTooSlow = errors.New("the scrubbing rules take too long on this page; simplify them, or lower change.max_size")

// scrubber replaces the matches of one expression.
type scrubber struct {
	re      *regexp.Regexp
	size    int    // instructions of the compiled expression
	literal []byte // part of every match; empty if unknown
}

func newScrubber(expr string) (scrubber, error) {
	re, size, err := measuredPattern(expr)
	if err != nil {
		return scrubber{}, err
	}
	// "\b" does not match in the empty text, but matches an empty part of another one.
	if loc := re.FindStringIndex("a a"); re.MatchString("") || loc != nil && loc[0] == loc[1] {
		return scrubber{}, ErrMatchesEmpty
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return scrubber{}, err
	}
	s := scrubber{re: re, size: size, literal: []byte(literalIn(tree.Simplify()))}
	for _, p := range []string{probePage, probeText} {
		left, err := s.scrub(context.Background(), []byte(p))
		if err != nil {
			return scrubber{}, err
		}
		if removesAll(left) {
			return scrubber{}, ErrMatchesAll
		}
	}
	return s, nil
}

// The probes are documents. Every useful rule leaves some words of them.
const (
	probePage = "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>Timetable 2026</title></head>\n<body class=\"page\">\n" +
		"<h1>The ferry</h1>\n<div id=\"main\"><p>It leaves Harbour Street at 7:30, café on board: 12 euros.</p></div>\n</body>\n</html>\n"
	probeText = "The ferry leaves Harbour Street at 7:30.\nTickets are sold on board for 12 euros.\n"
)

// removesAll reports whether no word of the probes is left.
func removesAll(left []byte) bool {
	for _, word := range []string{"ferry", "leaves", "Harbour", "Street", "board", "euros"} {
		if bytes.Contains(left, []byte(word)) {
			return false
		}
	}
	return true
}

// CheckRegex returns an error if an expression cannot be a scrubbing rule: it does not compile, matches the empty text
// ([ErrMatchesEmpty]) or matches whole documents ([ErrMatchesAll]).
func CheckRegex(expr string) error {
	_, err := newScrubber(expr)
	return err
}

// literalIn returns the longest text that is known to be part of every match.
func literalIn(re *syntax.Regexp) string {
	longest := ""
	take := func(s string) {
		if len(s) > len(longest) {
			longest = s
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			take(string(re.Rune))
		}
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		for _, sub := range re.Sub {
			take(literalIn(sub))
		}
	case syntax.OpRepeat:
		if re.Min > 0 {
			take(literalIn(re.Sub[0]))
		}
	}
	return longest
}

// Matches are found in rounds, and each round may find eight times as many as the one before. After a full round some
// matches are repeated, to measure how far the expression reads beyond them. An expression that reads far may read the
// whole page for each match.
const (
	firstRound  = 16       // matches
	roundFactor = 8        // factor by which the maximum number of matches grows
	samples     = 16       // matches that are repeated
	farBeyond   = 16 << 10 // bytes
)

// maxWork bounds one round of an expression: the length of the text times the size of the program, which is the number
// of steps at worst. A round cannot be interrupted. The slowest expressions need 4 ns for a step, 2 s for all; usual
// ones need a hundredth of that.
const maxWork = 500_000_000

// scrub replaces each match by one space. It ends with the cause of ctx when that ends, or with [ErrTooSlow].
func (s scrubber) scrub(ctx context.Context, text []byte) ([]byte, error) {
	matches, err := s.matches(ctx, text)
	if err != nil {
		return nil, err
	}
	if len(matches) == 0 {
		return text, nil
	}
	out := make([]byte, 0, len(text))
	end := 0
	for _, m := range matches {
		if m[0] == m[1] {
			continue // an assertion that holds at this position
		}
		out = append(append(out, text[end:m[0]]...), ' ')
		end = m[1]
	}
	return append(out, text[end:]...), nil
}

// matches returns the places of the matches. It ends as scrub does.
func (s scrubber) matches(ctx context.Context, text []byte) (matches [][]int, err error) {
	if len(s.literal) > 0 && !bytes.Contains(text, s.literal) {
		return nil, nil
	}
	if len(text)*s.size > maxWork {
		return nil, fmt.Errorf("%w: a text of %d bytes and an expression of %d instructions", ErrTooSlow, len(text), s.size)
	}
	for limit := firstRound; ; limit *= roundFactor {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		matches = s.re.FindAllIndex(text, limit)
		if len(matches) < limit || s.readsFar(text, matches) {
			return matches, nil
		}
	}
}

// readsFar reports whether the expression reads far beyond one of its matches.
func (s scrubber) readsFar(text []byte, matches [][]int) bool {
	for i := range samples {
		m := matches[i*len(matches)/samples]
		r := &countedRunes{text: text[m[0]:min(len(text), m[1]+farBeyond)]}
		s.re.FindReaderIndex(r)
		if r.read == len(r.text) && m[1]+farBeyond < len(text) {
			return true
		}
	}
	return false
}

// countedRunes reads runes and counts their bytes.
type countedRunes struct {
	text []byte
	read int
}

// ReadRune implements io.RuneReader.
func (c *countedRunes) ReadRune() (rune, int, error) {
	if c.read == len(c.text) {
		return 0, 0, io.EOF
	}
	r, n := utf8.DecodeRune(c.text[c.read:])
	c.read += n
	return r, n, nil
}
