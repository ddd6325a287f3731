package schema

import (
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/internal/human"
)

// Kind is the kind of a value.
type Kind uint8

// The kinds.
const (
	Text     Kind = iota // any text, or one of [Type].Choices
	Boolean              // true or false
	Whole                // whole number
	Number               // number with or without decimals
	Duration             // text such as "90s"
	Size                 // text such as "1GiB"
	Regex                // regular expression in RE2 syntax
	Host                 // name of a host, with its port if that is not the default
	Period               // part of the day, such as "06:00-23:00"
	Moment               // TOML date or time
	List                 // list of texts
	Tables               // list of tables
	Map                  // table of texts
)

// Type says which values a key accepts.
type Type struct {
	Kind Kind

	// Min and Max are the bounds of a Whole, a Number, a Duration (in milliseconds) or a Size (in bytes).
	Min, Max float64

	// Optional permits the empty Text.
	Optional bool

	// Choices are the only Texts that are accepted; nil accepts any.
	Choices []string
	// OrBoolean accepts true and false besides Choices.
	OrBoolean bool
	// Every means that the last of Choices is followed by a duration: "once per 7d".
	Every bool

	// Elements says what a List holds, in the plural: "URIs".
	Elements string

	// Columns are the keys of each of the Tables.
	Columns []Column
}

// Column is a key in each table of a list.
type Column struct {
	Name string
	Type Type

	Optional bool // it may be left out
}

// DurationType returns the type of durations from minimum to maximum.
func DurationType(minimum, maximum time.Duration) Type {
	return Type{Kind: Duration, Min: float64(minimum.Milliseconds()), Max: float64(maximum.Milliseconds())}
}

// SizeType returns the type of sizes from minimum to maximum bytes.
func SizeType(minimum, maximum int64) Type {
	return Type{Kind: Size, Min: float64(minimum), Max: float64(maximum)}
}

// ListType returns the type of lists of texts.
func ListType(elements string) Type { return Type{Kind: List, Elements: elements} }

// String returns the type in words, as the reference page shows it.
func (t Type) String() string {
	switch t.Kind {
	case Text:
		return t.textString()
	case Boolean:
		return "true or false"
	case Whole:
		return "whole number, " + t.bounds()
	case Number:
		return "number, " + t.bounds()
	case Duration:
		return "duration, " + t.bounds()
	case Size:
		return "size, " + t.bounds()
	case Regex:
		return "regular expression"
	case Host:
		return "host name, with the port if it is not the default"
	case Period:
		return "part of the day, as in 06:00-23:00"
	case Moment:
		return "date or time"
	case List:
		return "list of " + t.Elements
	case Tables:
		names := make([]string, len(t.Columns))
		for i, c := range t.Columns {
			names[i] = c.Name
		}
		return "list of tables with " + strings.Join(names, " and ")
	case Map:
		return "table of texts"
	}
	return "value"
}

func (t Type) textString() string {
	switch {
	case t.OrBoolean:
		return "true, false or " + alternatives(t.Choices)
	case t.Choices != nil && t.Every:
		return alternatives(t.Choices) + " and a duration"
	case t.Choices != nil:
		return alternatives(t.Choices)
	case t.Optional:
		return "text, may be empty"
	}
	return "text"
}

// alternatives returns the words in quotes: `"a", "b" or "c"`.
func alternatives(words []string) string {
	var b strings.Builder
	for i, w := range words {
		switch {
		case i > 0 && i == len(words)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(w))
	}
	return b.String()
}

func (t Type) bounds() string { return t.bound(t.Min) + " to " + t.bound(t.Max) }

// bound returns one of the bounds in the notation of the type, without quotes.
func (t Type) bound(v float64) string {
	switch t.Kind {
	case Duration:
		return human.Duration(milliseconds(v))
	case Size:
		return human.Size(int64(v))
	case Whole:
		return strconv.FormatInt(int64(v), 10)
	default:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
}

// quotedBound returns one of the bounds as the file writes it.
func (t Type) quotedBound(v float64) string {
	if t.Kind == Duration || t.Kind == Size {
		return strconv.Quote(t.bound(v))
	}
	return t.bound(v)
}

// milliseconds returns the duration of a bound.
func milliseconds(v float64) time.Duration { return time.Duration(v) * time.Millisecond }

// fits reports whether v is within the bounds, and reports a fault if it is not.
func (t Type) fits(f Field, v float64) bool {
	small, large := "is too small", "is too large"
	if t.Kind == Duration {
		small, large = "is too short", "is too long"
	}
	switch {
	case v < t.Min:
		f.Fault(small, "minimum: "+t.quotedBound(t.Min))
	case v > t.Max:
		f.Fault(large, "maximum: "+t.quotedBound(t.Max))
	default:
		return true
	}
	return false
}
