package index_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/archive/index"
)

// of returns a source of lines, which ends with an error.
func of(end error, lines ...string) index.LineSource {
	return func() (string, error) {
		if len(lines) == 0 {
			return "", end
		}
		line := lines[0]
		lines = lines[1:]
		return line, nil
	}
}

func TestMergeWritesEachLineOnceAndInOrder(t *testing.T) {
	t.Parallel()
	var got []string
	from := []index.LineSource{of(io.EOF, "b\n", "d\n", "d\n"), of(io.EOF), of(io.EOF, "a\n", "b\n", "e\n")}
	err := index.MergeLines(from, func(line string) error {
		got = append(got, line)
		return nil
	})
	if want := []string{"a\n", "b\n", "d\n", "e\n"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

func TestMergeReturnsTheErrorsOfSourcesAndOfWrite(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	fine := func(string) error { return nil }
	for name, err := range map[string]error{
		"a source without a line": index.MergeLines([]index.LineSource{of(io.EOF, "a\n"), of(broken)}, fine),
		"a source with a line":    index.MergeLines([]index.LineSource{of(io.EOF, "b\n"), of(broken, "a\n")}, fine),
		"write":                   index.MergeLines([]index.LineSource{of(io.EOF, "a\n")}, func(string) error { return broken }),
	} {
		if !errors.Is(err, broken) {
			t.Errorf("%s: %v, want the error", name, err)
		}
	}
}

func TestSearchNeverPassesTheFirstLineAndComesNear(t *testing.T) {
	t.Parallel()
	const near = 20
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, "%04d\n", 2*i)
	}
	lineAfter := func(at int64) (string, error) {
		_, rest, _ := strings.Cut(text.String()[at:], "\n")
		line, _, _ := strings.Cut(rest, "\n")
		return line, nil
	}
	for i := range 1000 {
		at, err := index.SearchLines(int64(text.Len()), near, fmt.Sprintf("%04d", i), lineAfter)
		first := int64((i + 1) / 2 * 5) // offset of the first line that is not less
		if err != nil || at > first || at < first-near-5 {
			t.Errorf("the search for %04d returned %d, %v; want at most %d, and near it", i, at, err, first)
		}
	}
	broken := errors.New("broken")
	if _, err := index.SearchLines(100, near, "a", func(int64) (string, error) { return "", broken }); !errors.Is(err, broken) {
		t.Errorf("the error of a line is %v", err)
	}
}
