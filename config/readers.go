package config

import (
	"fmt"
	"strconv"
	"time"

	"github.com/arcrawl/arcrawl/config/request"
	"github.com/arcrawl/arcrawl/config/schema"
	"github.com/arcrawl/arcrawl/internal/human"
)

// The functions below make the keys of each kind. field returns the place of the value in a draft.

// boolean makes a key that is true or false.
func boolean(name, scope string, field func(*draft) *bool, doc string) key {
	t := schema.Type{Kind: schema.Boolean}
	return key{
		Key: Key{Name: name, Type: t, Scope: scope, Doc: doc},
		read: func(f schema.Field, d *draft) {
			if v, ok := t.ReadBoolean(f); ok {
				*field(d) = v
			}
		},
		show: func(d *draft) string { return strconv.FormatBool(*field(d)) },
	}
}

// whole makes a key that is a whole number within bounds.
func whole[T int | int64](name, scope string, minimum, maximum T, field func(*draft) *T, doc string) key {
	t := schema.Type{Kind: schema.Whole, Min: float64(minimum), Max: float64(maximum)}
	return key{
		Key: Key{Name: name, Type: t, Scope: scope, Doc: doc},
		read: func(f schema.Field, d *draft) {
			if v, ok := t.ReadWhole(f); ok {
				*field(d) = T(v)
			}
		},
		show: func(d *draft) string { return fmt.Sprint(*field(d)) },
	}
}

// number makes a key that is a number within bounds.
func number(name, scope string, minimum, maximum float64, field func(*draft) *float64, doc string) key {
	t := schema.Type{Kind: schema.Number, Min: minimum, Max: maximum}
	return key{
		Key: Key{Name: name, Type: t, Scope: scope, Doc: doc},
		read: func(f schema.Field, d *draft) {
			if v, ok := t.ReadNumber(f); ok {
				*field(d) = v
			}
		},
		show: func(d *draft) string { return schema.Show(*field(d)) },
	}
}

// The bounds and units of durations.
const (
	shortest = time.Millisecond
	day      = 24 * time.Hour
	longest  = schema.Longest
)

// duration makes a key that is a duration within bounds.
func duration(name, scope string, minimum, maximum time.Duration, field func(*draft) *time.Duration, doc string) key {
	t := schema.DurationType(minimum, maximum)
	return key{
		Key: Key{Name: name, Type: t, Scope: scope, Doc: doc},
		read: func(f schema.Field, d *draft) {
			if v, ok := t.ReadDuration(f); ok {
				*field(d) = v
			}
		},
		show: func(d *draft) string { return strconv.Quote(human.Duration(*field(d))) },
	}
}

// size makes a key that is a number of bytes within bounds.
func size(name, scope string, minimum, maximum int64, field func(*draft) *int64, doc string) key {
	t := schema.SizeType(minimum, maximum)
	return key{
		Key: Key{Name: name, Type: t, Scope: scope, Doc: doc},
		read: func(f schema.Field, d *draft) {
			if v, ok := t.ReadSize(f); ok {
				*field(d) = v
			}
		},
		show: func(d *draft) string { return strconv.Quote(human.Size(*field(d))) },
	}
}

// choice makes a key that is one of a few values, each written as its name.
func choice[T any](name, scope string, field func(*draft) *T, doc string, values ...T) key {
	t := choiceType(values)
	return key{
		Key: Key{Name: name, Type: t, Scope: scope, Doc: doc},
		read: func(f schema.Field, d *draft) {
			if i, _, ok := t.ReadChoice(f); ok {
				*field(d) = values[i]
			}
		},
		show: func(d *draft) string { return strconv.Quote(fmt.Sprint(*field(d))) },
	}
}

// choiceType returns the type of texts that name one of values.
func choiceType[T any](values []T) schema.Type {
	t := schema.Type{Kind: schema.Text}
	for _, v := range values {
		t.Choices = append(t.Choices, fmt.Sprint(v))
	}
	return t
}

// text makes a key that is a text, which check must accept.
func text(name, scope string, check schema.Check, field func(*draft) *string, doc string) key {
	return textKey(name, scope, schema.Type{Kind: schema.Text}, check, field, doc)
}

// optional makes a key that is empty or a text, which check must accept.
func optional(name, scope string, check schema.Check, field func(*draft) *string, doc string) key {
	return textKey(name, scope, schema.Type{Kind: schema.Text, Optional: true}, check, field, doc)
}

func textKey(name, scope string, t schema.Type, check schema.Check, field func(*draft) *string, doc string) key {
	return key{
		Key: Key{Name: name, Type: t, Scope: scope, Doc: doc},
		read: func(f schema.Field, d *draft) {
			if s, ok := t.ReadText(f, check); ok {
				*field(d) = s
			}
		},
		show: func(d *draft) string { return strconv.Quote(*field(d)) },
	}
}

// secretPlace makes a key that names the place of a secret. Only a host file may set it.
func secretPlace(
	name string, read func(schema.Field) (request.Secret, bool), field func(*draft) *request.Secret, doc string,
) key {
	return key{
		Key: Key{Name: name, Type: schema.Type{Kind: schema.Text, Optional: true}, Scope: InHost, Doc: doc},
		read: func(f schema.Field, d *draft) {
			if f.Value == "" {
				*field(d) = request.Secret{}
			} else if s, ok := read(f); ok {
				*field(d) = s
			}
		},
		show: func(d *draft) string { return strconv.Quote(field(d).String()) },
	}
}

// required marks a key without a default.
func required(k key) key {
	k.required = true
	return k
}

// list makes a key that is a list, empty by default.
func list(name, scope, elements string, read func(f schema.Field, d *draft), doc string) key {
	return key{
		Key:  Key{Name: name, Type: schema.ListType(elements), Default: "[]", Scope: scope, Doc: doc},
		read: read,
	}
}

// tableList makes a key that is a list of tables with these columns, empty by default.
func tableList(name, scope string, columns []schema.Column, read func(f schema.Field, d *draft), doc string) key {
	return key{
		Key: Key{
			Name: name, Type: schema.Type{Kind: schema.Tables, Columns: columns}, Default: "[]", Scope: scope, Doc: doc,
		},
		read: read,
	}
}

// other makes a key without a default whose value is shown as the file writes it.
func other(name, scope string, t schema.Type, read func(f schema.Field, d *draft), doc string) key {
	return key{Key: Key{Name: name, Type: t, Scope: scope, Doc: doc}, read: read}
}
