package schema

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// ReadElements reads a list of texts with read, and returns the elements that it accepts. example is the remedy after
// "write".
func ReadElements[T any](f Field, example string, read func(e Field, s string) (T, bool)) (all []T) {
	f.Texts(example, func(e Field, s string) {
		if v, ok := read(e, s); ok {
			all = append(all, v)
		}
	})
	return all
}

// ReadStrings returns the reader of a list of texts, each of which check must accept.
func ReadStrings(of string, check Check) func(f Field) []string {
	return func(f Field) []string {
		return ReadElements(f, "of "+of, func(e Field, s string) (string, bool) {
			problem, remedy := check(s)
			if problem != "" {
				e.Fault(problem, remedy)
			}
			return s, problem == ""
		})
	}
}

// ReadURIs reads a list of URIs.
func ReadURIs(f Field) []uri.URI { return ReadURIsLike("https://www.news.example/")(f) }

// ReadURIsLike returns the reader of a list of URIs such as example.
func ReadURIsLike(example string) func(Field) []uri.URI {
	return func(f Field) []uri.URI { return ReadElements(f, "for example "+strconv.Quote(example), ReadURI) }
}

// ReadTypePatterns reads a list of patterns of content types.
func ReadTypePatterns(f Field) []*regexp.Regexp {
	return ReadElements(f, `for example '^text/.*'`, func(e Field, _ string) (*regexp.Regexp, bool) {
		return ReadTypePattern(e)
	})
}

// ReadExpressions reads a list of regular expressions that identify pages.
func ReadExpressions(f Field) []*regexp.Regexp {
	const example = `for example '<title>Please wait</title>'`
	return ReadElements(f, example, func(e Field, s string) (*regexp.Regexp, bool) {
		if !AcceptRule(e, digest.CheckRegex(s), s, "write "+example+" (RE2 syntax)") {
			return nil, false
		}
		return regexp.MustCompile(s), true
	})
}

// maxAges bounds a list of ages.
const maxAges = 50

// Ages makes a key that is a list of durations, each longer than the one before.
func Ages(name, scope string, ages *[]time.Duration, doc string) Var {
	return Value(name, scope, ListType("durations, each longer than the one before"), ages, readAges, showAges, doc)
}

// showAges returns a list of durations as TOML.
func showAges(ages []time.Duration) string {
	shown := make([]string, len(ages))
	for i, age := range ages {
		shown[i] = strconv.Quote(human.Duration(age))
	}
	return "[" + strings.Join(shown, ", ") + "]"
}

// readAges reads a list of durations, each longer than the one before.
func readAges(f Field) ([]time.Duration, bool) {
	t := DurationType(time.Second, Longest)
	var last time.Duration
	n := 0
	ages := ReadElements(f, `for example ["15m", "1h", "3h"]`, func(e Field, _ string) (time.Duration, bool) {
		age, ok := t.ReadDuration(e)
		switch {
		case !ok:
		case age <= last:
			e.Fault("is not longer than the one before", "sort the list")
		case n == maxAges:
			e.Fault("is too much", "maximum: "+human.Count(maxAges, "entry"))
		default:
			last, n = age, n+1
			return age, true
		}
		return 0, false
	})
	return ages, true
}

// ReadColumns reads a table that has these columns, and reports what is missing or unknown. example is the
// remedy for a missing column.
func ReadColumns(f Field, of []Column, example string) (map[string]Field, bool) {
	table, _ := f.Value.(map[string]any)
	names := make([]string, len(of))
	fields := make(map[string]Field, len(of))
	for i, c := range of {
		names[i] = c.Name
		if v, ok := table[c.Name]; ok {
			fields[c.Name] = f.Child(c.Name, v)
		}
	}
	for name, v := range table {
		if _, known := fields[name]; !known {
			problem := "has an unknown key " + Clip(strconv.Quote(name))
			f.Child(name, v).Fault(problem, "the keys are "+strings.Join(names, " and "))
			return nil, false
		}
	}
	for _, c := range of {
		if _, ok := fields[c.Name]; !ok && !c.Optional {
			f.Fault("lacks "+c.Name, example)
			return nil, false
		}
	}
	return fields, true
}
