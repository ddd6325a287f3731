package schema

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/internal/human"
)

// Key is one key of the configuration files.
type Key struct {
	Name    string // table and key, "politeness.min_delay"; "wait.…" is a key of each [[wait]]
	Type    Type   // the accepted values
	Default string // as TOML; "" if there is none
	Scope   string // files that may set it: [InMain], [InHost] or [InBoth]
	Doc     string // its meaning
	Secret  bool   // its value must not be published
	PerFile bool   // a [[when]] cannot set it
}

// The files that may set a key.
const (
	InMain = "main"
	InHost = "host"
	InBoth = "both"
)

// The places of a key in a [[when]].
const (
	InWhen     = "when"      // of a host file
	InMainWhen = "main when" // of the main file
)

// In reports whether a file may set the key. scope is [InMain], [InHost], [InWhen] or [InMainWhen].
func (k Key) In(scope string) bool {
	if scope == InWhen || scope == InMainWhen {
		return !k.PerFile && (k.Scope == InBoth || k.Scope == InHost && scope == InWhen)
	}
	return k.Scope == InBoth || k.Scope == scope
}

// Table is a table of the configuration files. The name of a [Key] begins with its table.
type Table struct {
	Name string // "politeness"
	List bool   // it may appear several times: [[wait]]
	Doc  string // what its keys have in common
	// After is the table before it on the reference page, for a table of a [Section].
	After string

	Refines   bool // it is [[when]]: next to its keys it holds Refinable tables
	Refinable bool // it may appear in a [[when]]
}

// Of is a key whose value is kept in a T.
type Of[T any] struct {
	Key
	Required bool
	Read     func(f Field, t *T)
	// Show returns the value in a T as TOML. It is nil for values that are shown as the file writes them.
	Show func(t *T) string
}

// The functions below make the keys of each kind. field returns the place of the value in a T.

// Bool makes a key that is true or false.
func Bool[T any](name, scope string, field func(*T) *bool, doc string) Of[T] {
	typ := Type{Kind: Boolean}
	return Of[T]{
		Key: Key{Name: name, Type: typ, Scope: scope, Doc: doc},
		Read: func(f Field, t *T) {
			if v, ok := typ.ReadBoolean(f); ok {
				*field(t) = v
			}
		},
		Show: func(t *T) string { return strconv.FormatBool(*field(t)) },
	}
}

// Count makes a key that is a whole number within bounds.
func Count[T any, N int | int64](
	name, scope string, minimum, maximum N, field func(*T) *N, doc string,
) Of[T] {
	typ := Type{Kind: Whole, Min: float64(minimum), Max: float64(maximum)}
	return Of[T]{
		Key: Key{Name: name, Type: typ, Scope: scope, Doc: doc},
		Read: func(f Field, t *T) {
			if v, ok := typ.ReadWhole(f); ok {
				*field(t) = N(v)
			}
		},
		Show: func(t *T) string { return fmt.Sprint(*field(t)) },
	}
}

// Float makes a key that is a number within bounds.
func Float[T any](name, scope string, minimum, maximum float64, field func(*T) *float64, doc string) Of[T] {
	typ := Type{Kind: Number, Min: minimum, Max: maximum}
	return Of[T]{
		Key: Key{Name: name, Type: typ, Scope: scope, Doc: doc},
		Read: func(f Field, t *T) {
			if v, ok := typ.ReadNumber(f); ok {
				*field(t) = v
			}
		},
		Show: func(t *T) string { return Show(*field(t)) },
	}
}

// The usual bounds of durations. The maximum is [Longest].
const (
	Shortest = time.Millisecond
	Day      = 24 * time.Hour
)

// Interval makes a key that is a duration within bounds.
func Interval[T any](
	name, scope string, minimum, maximum time.Duration, field func(*T) *time.Duration, doc string,
) Of[T] {
	typ := DurationType(minimum, maximum)
	return Of[T]{
		Key: Key{Name: name, Type: typ, Scope: scope, Doc: doc},
		Read: func(f Field, t *T) {
			if v, ok := typ.ReadDuration(f); ok {
				*field(t) = v
			}
		},
		Show: func(t *T) string { return strconv.Quote(human.Duration(*field(t))) },
	}
}

// Bytes makes a key that is a number of bytes within bounds.
func Bytes[T any](name, scope string, minimum, maximum int64, field func(*T) *int64, doc string) Of[T] {
	typ := SizeType(minimum, maximum)
	return Of[T]{
		Key: Key{Name: name, Type: typ, Scope: scope, Doc: doc},
		Read: func(f Field, t *T) {
			if v, ok := typ.ReadSize(f); ok {
				*field(t) = v
			}
		},
		Show: func(t *T) string { return strconv.Quote(human.Size(*field(t))) },
	}
}

// Choice makes a key that is one of a few values, each written as its name.
func Choice[T, V any](name, scope string, field func(*T) *V, doc string, values ...V) Of[T] {
	typ := ChoiceType(values)
	return Of[T]{
		Key: Key{Name: name, Type: typ, Scope: scope, Doc: doc},
		Read: func(f Field, t *T) {
			if i, _, ok := typ.ReadChoice(f); ok {
				*field(t) = values[i]
			}
		},
		Show: func(t *T) string { return strconv.Quote(fmt.Sprint(*field(t))) },
	}
}

// ChoiceType returns the type of texts that name one of values.
func ChoiceType[V any](values []V) Type {
	t := Type{Kind: Text}
	for _, v := range values {
		t.Choices = append(t.Choices, fmt.Sprint(v))
	}
	return t
}

// Every makes a key that is one of three choices, the last of which takes a duration.
func Every[T any](
	name string, choices []string,
	set func(t *T, choice int, every time.Duration), get func(t *T) (choice int, every time.Duration), doc string,
) Of[T] {
	typ := Type{Kind: Text, Choices: choices, Every: true}
	return Of[T]{
		Key: Key{Name: name, Type: typ, Scope: InBoth, Doc: doc},
		Read: func(f Field, t *T) {
			if choice, every, ok := typ.ReadChoice(f); ok {
				set(t, choice, every)
			}
		},
		Show: func(t *T) string {
			choice, every := get(t)
			if every > 0 {
				return strconv.Quote(choices[choice] + " " + human.Duration(every))
			}
			return strconv.Quote(choices[choice])
		},
	}
}

// String makes a key that is a text, which check must accept.
func String[T any](name, scope string, check Check, field func(*T) *string, doc string) Of[T] {
	return textKey(name, scope, Type{Kind: Text}, check, field, doc)
}

// Optional makes a key that is empty or a text, which check must accept.
func Optional[T any](name, scope string, check Check, field func(*T) *string, doc string) Of[T] {
	return textKey(name, scope, Type{Kind: Text, Optional: true}, check, field, doc)
}

func textKey[T any](name, scope string, typ Type, check Check, field func(*T) *string, doc string) Of[T] {
	return Of[T]{
		Key: Key{Name: name, Type: typ, Scope: scope, Doc: doc},
		Read: func(f Field, t *T) {
			if s, ok := typ.ReadText(f, check); ok {
				*field(t) = s
			}
		},
		Show: func(t *T) string { return strconv.Quote(*field(t)) },
	}
}

// End makes a key of a host file that is a moment, or empty.
func End[T any](name string, field func(*T) *time.Time, doc string) Of[T] {
	return Of[T]{
		Key: Key{Name: name, Type: Type{Kind: Moment, Optional: true}, Scope: InHost, Doc: doc},
		Read: func(f Field, t *T) {
			if f.Value == "" {
				*field(t) = time.Time{}
			} else if m, ok := ReadMoment(f, time.UTC); ok {
				*field(t) = m
			}
		},
		Show: func(t *T) string {
			if m := *field(t); !m.IsZero() {
				return m.Format(time.RFC3339)
			}
			return strconv.Quote("")
		},
	}
}

// Needed marks a key without a default.
func Needed[T any](k Of[T]) Of[T] {
	k.Required = true
	return k
}

// Secretly marks a key whose value must not be published.
func Secretly[T any](k Of[T]) Of[T] {
	k.Secret = true
	return k
}

// Elements makes a key that is a list, empty by default.
func Elements[T any](name, scope, elements string, read func(f Field, t *T), doc string) Of[T] {
	return Of[T]{
		Key:  Key{Name: name, Type: ListType(elements), Default: "[]", Scope: scope, Doc: doc},
		Read: read,
	}
}

// Strings makes a key that is a list of texts, each of which check must accept.
func Strings[T any](name, scope, elements string, check Check, field func(*T) *[]string, doc string) Of[T] {
	k := Elements(name, scope, elements, ReadStrings(elements, check, field), doc)
	k.Show = func(t *T) string { return TOML(*field(t)) }
	return k
}

// ReadStrings returns the reader of a list of texts.
func ReadStrings[T any](elements string, check Check, field func(*T) *[]string) func(f Field, t *T) {
	return func(f Field, t *T) {
		*field(t) = nil
		f.Texts("of "+elements, func(e Field, s string) {
			if problem, remedy := check(s); problem != "" {
				e.Fault(problem, remedy)
				return
			}
			*field(t) = append(*field(t), s)
		})
	}
}

// Rows makes a key that is a list of tables with these columns, empty by default.
func Rows[T any](name, scope string, columns []Column, read func(f Field, t *T), doc string) Of[T] {
	return Of[T]{
		Key:  Key{Name: name, Type: Type{Kind: Tables, Columns: columns}, Default: "[]", Scope: scope, Doc: doc},
		Read: read,
	}
}

// Other makes a key without a default whose value is shown as the file writes it.
func Other[T any](name, scope string, typ Type, read func(f Field, t *T), doc string) Of[T] {
	return Of[T]{Key: Key{Name: name, Type: typ, Scope: scope, Doc: doc}, Read: read}
}

// Section holds the keys that one owner adds to the configuration, an aspect or a wing. Its keys fill a value of a type
// of the owner's own, one for each file. [Find] returns it.
type Section struct {
	Tables []Table // that are not of another owner too
	Keys   []Of[any]

	Make  func() any                              // returns a pointer to the defaults
	Clone func(own any) any                       // returns a pointer to a copy
	Check func(own any, doc *Document, path Path) // see [WithCheck]; may be nil
	Spans func(own any) []Bounds                  // see [WithBounds]; may be nil
}

// Bounds is a pair of keys, the minimum and the maximum of a range.
type Bounds struct {
	Low, High    string
	Lower, Upper *time.Duration
}

// NewSection returns a section whose keys fill a T, which begins with defaults.
func NewSection[T any](defaults func() T, tables []Table, keys ...Of[T]) Section {
	s := Section{
		Tables: tables,
		Make:   func() any { t := defaults(); return &t },
		Clone:  func(own any) any { t := *own.(*T); return &t },
	}
	for _, k := range keys {
		erased := Of[any]{Key: k.Key, Required: k.Required}
		erased.Read = func(f Field, own *any) { k.Read(f, (*own).(*T)) }
		if k.Show != nil {
			erased.Show = func(own *any) string { return k.Show((*own).(*T)) }
		}
		s.Keys = append(s.Keys, erased)
	}
	return s
}

// WithCheck returns the section with a function that reports contradictions in a file, or in the [[when]] at path.
func WithCheck[T any](s Section, check func(t *T, doc *Document, path Path)) Section {
	s.Check = func(own any, doc *Document, path Path) { check(own.(*T), doc, path) }
	return s
}

// WithBounds returns the section with pairs of keys, the minimum and the maximum of a range.
func WithBounds[T any](s Section, bounds func(t *T) []Bounds) Section {
	s.Spans = func(own any) []Bounds { return bounds(own.(*T)) }
	return s
}

// Holder holds what the keys of sections have filled.
type Holder interface{ Sections() []any }

// Find returns the value of a section by its type. It must not be modified.
func Find[T any](h Holder) *T { return FindIn[T](h.Sections()) }

// FindIn is [Find] for the values of the sections themselves.
func FindIn[T any](sections []any) *T {
	for _, own := range sections {
		if t, ok := own.(*T); ok {
			return t
		}
	}
	panic(fmt.Sprintf("arcrawl/config: no section has a %T", *new(T))) // a test of the owner reads it
}

// FieldAt returns a key of a document for a fault or warning. path is of a [[when]] or empty. v is the value that the
// fault shows.
func FieldAt(doc *Document, path Path, name string, v any) Field {
	return Field{Doc: doc, Name: name, Path: path.Key(name), Value: v}
}

// Table returns the name of the table of a key.
func (k Key) Table() string {
	table, _, _ := strings.Cut(k.Name, ".")
	return table
}
