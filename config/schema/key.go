package schema

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// Key is one key of the configuration files.
type Key struct {
	Name     string // table and key, "politeness.min_delay"; "wait.…" is a key of each [[wait]]
	Type     Type   // the accepted values
	Default  string // as TOML; "" if there is none
	Scope    string // files that may set it: [InMain], [InHost] or [InBoth]
	Doc      string // its meaning
	Secret   bool   // its value must not be published
	Program  bool   // it names a program that this machine runs
	PerFile  bool   // a [[when]] cannot set it
	Required bool   // it has no default
	Wing     string // that reads it, and that a build may lack; "" = what its table says
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

// Split returns the table of a key, and its name there. The table is "" for a key outside all tables.
func (k Key) Split() (table, name string) {
	table, name, inside := strings.Cut(k.Name, ".")
	if !inside {
		return "", k.Name
	}
	return table, name
}

// Table is a table of the configuration files. The name of a [Key] begins with its table.
type Table struct {
	Name string // "politeness"
	List bool   // it may appear several times: [[wait]]
	Doc  string // what its keys have in common
	// After is the table before it on the reference page, for a table of a [Section].
	After string
	Wing  string // that reads its keys, and that a build may lack; "" = the core does

	Refines   bool // it is [[when]]: next to its keys it holds Refinable tables
	Refinable bool // it may appear in a [[when]]
}

// Var is a key, and the variable that its values are read into.
type Var struct {
	Key
	Read func(f Field)
	// Show returns the variable as TOML. It is nil for values that are shown as the file writes them.
	Show func() string
}

// The functions below make the keys of each kind. They declare everything about a key: the reference page, the JSON
// Schema, the checks and the default, which is the value of v before a file is read, are made from it.

// Value makes a key of any type. read returns false after it has reported a fault. Without show, the value is shown as
// the file writes it, and has no default.
func Value[V any](
	name, scope string, typ Type, v *V, read func(f Field) (V, bool), show func(v V) string, doc string,
) Var {
	k := Var{Key: Key{Name: name, Type: typ, Scope: scope, Doc: doc}}
	k.Read = func(f Field) {
		if value, ok := read(f); ok {
			*v = value
		}
	}
	if show != nil {
		k.Show = func() string { return show(*v) }
	}
	return k
}

// Bool makes a key that is true or false.
func Bool(name, scope string, v *bool, doc string) Var {
	return Value(name, scope, Type{Kind: Boolean}, v, ReadBoolean, strconv.FormatBool, doc)
}

// Count makes a key that is a whole number within bounds.
func Count[N int | int64](name, scope string, minimum, maximum N, v *N, doc string) Var {
	typ := Type{Kind: Whole, Min: float64(minimum), Max: float64(maximum)}
	read := func(f Field) (N, bool) {
		n, ok := typ.ReadWhole(f)
		return N(n), ok
	}
	return Value(name, scope, typ, v, read, func(n N) string { return fmt.Sprint(n) }, doc)
}

// Float makes a key that is a number within bounds.
func Float(name, scope string, minimum, maximum float64, v *float64, doc string) Var {
	typ := Type{Kind: Number, Min: minimum, Max: maximum}
	return Value(name, scope, typ, v, typ.ReadNumber, func(n float64) string { return Show(n) }, doc)
}

// The usual bounds of durations. The maximum is [Longest].
const (
	Shortest = time.Millisecond
	Day      = 24 * time.Hour
)

// Interval makes a key that is a duration within bounds.
func Interval(name, scope string, minimum, maximum time.Duration, v *time.Duration, doc string) Var {
	typ := DurationType(minimum, maximum)
	return Value(name, scope, typ, v, typ.ReadDuration, quoted(human.Duration), doc)
}

// Bytes makes a key that is a number of bytes within bounds.
func Bytes(name, scope string, minimum, maximum int64, v *int64, doc string) Var {
	typ := SizeType(minimum, maximum)
	return Value(name, scope, typ, v, typ.ReadSize, quoted(human.Size), doc)
}

// quoted returns a function that puts the text of a value in quotes.
func quoted[V any](text func(V) string) func(V) string {
	return func(v V) string { return strconv.Quote(text(v)) }
}

// Choice makes a key that is one of a few values, each written as its name.
func Choice[V any](name, scope string, v *V, doc string, values ...V) Var {
	typ := ChoiceType(values)
	read := func(f Field) (chosen V, ok bool) {
		i, _, ok := typ.ReadChoice(f)
		if ok {
			chosen = values[i]
		}
		return chosen, ok
	}
	return Value(name, scope, typ, v, read, quoted(func(v V) string { return fmt.Sprint(v) }), doc)
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
func Every(
	name string, choices []string, get func() (choice int, every time.Duration), set func(choice int, every time.Duration),
	doc string,
) Var {
	typ := Type{Kind: Text, Choices: choices, Every: true}
	return Var{
		Key: Key{Name: name, Type: typ, Scope: InBoth, Doc: doc},
		Read: func(f Field) {
			if choice, every, ok := typ.ReadChoice(f); ok {
				set(choice, every)
			}
		},
		Show: func() string {
			choice, every := get()
			if every > 0 {
				return strconv.Quote(choices[choice] + " " + human.Duration(every))
			}
			return strconv.Quote(choices[choice])
		},
	}
}

// String makes a key that is a text, which check must accept.
func String(name, scope string, check Check, v *string, doc string) Var {
	return textVar(name, scope, Type{Kind: Text}, check, v, doc)
}

// Optional makes a key that is empty or a text, which check must accept.
func Optional(name, scope string, check Check, v *string, doc string) Var {
	return textVar(name, scope, Type{Kind: Text, Optional: true}, check, v, doc)
}

func textVar(name, scope string, typ Type, check Check, v *string, doc string) Var {
	read := func(f Field) (string, bool) { return typ.ReadText(f, check) }
	return Value(name, scope, typ, v, read, strconv.Quote, doc)
}

// End makes a key of a host file that is a moment, or empty.
func End(name string, v *time.Time, doc string) Var {
	read := func(f Field) (time.Time, bool) {
		if f.Value == "" {
			return time.Time{}, true
		}
		return ReadMoment(f, time.UTC)
	}
	show := func(at time.Time) string {
		if at.IsZero() {
			return `""`
		}
		return at.Format(time.RFC3339)
	}
	return Value(name, InHost, Type{Kind: Moment, Optional: true}, v, read, show, doc)
}

// Needed marks a key without a default.
func Needed(k Var) Var {
	k.Required = true
	return k
}

// PerFile marks a key that no [[when]] can set.
func PerFile(k Var) Var {
	k.PerFile = true
	return k
}

// Secretly marks a key whose value must not be published.
func Secretly(k Var) Var {
	k.Secret = true
	return k
}

// Running marks a key that names a program that is run: only who may write the main file of this machine chooses it.
func Running(k Var) Var {
	k.Program = true
	return k
}

// OfWing marks a key that only a wing reads, in a table of the core.
func OfWing(wing string, k Var) Var {
	k.Wing = wing
	return k
}

// Elements makes a key that is a list of what read returns, empty by default.
func Elements[V any](name, scope, elements string, v *[]V, read func(f Field) []V, doc string) Var {
	return Var{
		Key:  Key{Name: name, Type: ListType(elements), Default: "[]", Scope: scope, Doc: doc},
		Read: func(f Field) { *v = read(f) },
	}
}

// Strings makes a key that is a list of texts, each of which check must accept.
func Strings(name, scope, elements string, check Check, v *[]string, doc string) Var {
	k := Elements(name, scope, elements, v, ReadStrings(elements, check), doc)
	k.Show = func() string { return TOML(*v) }
	return k
}

// Rows makes a key that is a list of tables with these columns, empty by default.
func Rows[V any](name, scope string, columns []Column, v *[]V, read func(f Field) []V, doc string) Var {
	k := Elements(name, scope, "", v, read, doc)
	k.Type = Type{Kind: Tables, Columns: columns}
	return k
}

// Section holds the keys that one owner adds to the configuration, an aspect or a wing. They are read into options of a
// type of the owner's own, one for each file. [Find] returns them.
type Section struct {
	Make  func() any          // returns a pointer to the defaults
	Clone func(own any) any   // returns a pointer to a copy
	Keys  func(own any) Owned // returns the keys whose variables are in own
}

// Owned are the keys of a section with the variables of one file, or of one [[when]].
type Owned struct {
	Tables  []Table // that are not of another owner too
	Vars    []Var
	Bounds  []Bounds  // pairs of keys
	Sources []Sources // lists of URIs that a file names
	// Check completes the variables after all keys of a file, or of the [[when]] at path, are read, and reports
	// contradictions. It is called only if one of the keys is set there; the defaults are complete. It may be nil.
	Check func(doc *Document, path Path)
}

// Bounds is a pair of keys, the minimum and the maximum of a range.
type Bounds struct {
	Low, High    string
	Lower, Upper *time.Duration
}

// Sources is a key with URIs that are visited although no page names them. The lists of all files are joined.
type Sources struct {
	Key  string
	URIs *[]uri.URI
}

// NewSection returns a section whose keys fill a T, which begins with defaults.
func NewSection[T any](defaults func() T, keys func(*T) Owned) Section {
	return Section{
		Make:  func() any { t := defaults(); return &t },
		Clone: func(own any) any { t := *own.(*T); return &t },
		Keys:  func(own any) Owned { return keys(own.(*T)) },
	}
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

// Setting returns a key that the file sets, for a fault or warning. path is of a [[when]] or empty.
func (d *Document) Setting(path Path, name string) (f Field, set bool) {
	f = FieldAt(d, path, name, nil)
	if set = d.Has(f.Path); set {
		f.Value = d.Value(f.Path)
	}
	return f, set
}

// FieldAt returns a key of a document for a fault or warning. path is of a [[when]] or empty. v is the value that the
// fault shows.
func FieldAt(doc *Document, path Path, name string, v any) Field {
	return Field{Doc: doc, Name: name, Path: path.Key(name), Value: v}
}
