package config

import (
	"strconv"

	"github.com/arcrawl/arcrawl/config/schema"
)

// secretPlace makes a key that names the place of a secret.
func secretPlace(name, scope string, read func(schema.Field) (Secret, bool), v *Secret, doc string) schema.Var {
	readPlace := func(f schema.Field) (Secret, bool) {
		if f.Value == "" {
			return Secret{}, true
		}
		return read(f)
	}
	show := func(s Secret) string { return strconv.Quote(s.String()) }
	return schema.Value(name, scope, schema.Type{Kind: schema.Text, Optional: true}, v, readPlace, show, doc)
}
