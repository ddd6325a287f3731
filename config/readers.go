package config

import (
	"strconv"

	"github.com/arcrawl/arcrawl/config/schema"
)

// secretPlace makes a key that names the place of a secret. Only a host file may set it.
func secretPlace(
	name string, read func(schema.Field) (Secret, bool), field func(*draft) *Secret, doc string,
) key {
	return key{
		Key: Key{Name: name, Type: schema.Type{Kind: schema.Text, Optional: true}, Scope: InHost, Doc: doc},
		Read: func(f schema.Field, d *draft) {
			if f.Value == "" {
				*field(d) = Secret{}
			} else if s, ok := read(f); ok {
				*field(d) = s
			}
		},
		Show: func(d *draft) string { return strconv.Quote(field(d).String()) },
	}
}
