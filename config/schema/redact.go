package schema

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"

	"github.com/BurntSushi/toml"
)

// RedactedValue replaces secret values.
const RedactedValue = "(redacted)"

// userInfo matches the user name and password in a URI. A password may contain @.
var userInfo = regexp.MustCompile(`://[^/?#\s"']*@`)

// Redacted returns the settings of the file as TOML without its secrets, for publication. secret reports whether the
// value of a key, written as "table.key", is secret. Comments are left out, since they may have anything in them. User
// names and passwords in URIs are replaced too.
func (d *Document) Redacted(secret func(key string) bool) ([]byte, error) {
	var b bytes.Buffer
	e := toml.NewEncoder(&b)
	e.Indent = ""
	if err := e.Encode(redacted("", d.Root, secret)); err != nil {
		return nil, fmt.Errorf("write %s without its secrets: %w", d.File, err)
	}
	return b.Bytes(), nil
}

// redacted returns a copy of a value without its secrets. prefix is the name of its table with a dot.
func redacted(prefix string, v any, secret func(string) bool) any {
	switch v := v.(type) {
	case string:
		return userInfo.ReplaceAllString(v, "://"+RedactedValue+"@")
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = redacted(prefix, e, secret)
		}
		return out
	case []map[string]any:
		out := make([]map[string]any, len(v))
		for i, e := range v {
			out[i] = redacted(prefix, e, secret).(map[string]any)
		}
		return out
	case map[string]any:
		out := maps.Clone(v)
		for k, e := range out {
			table := prefix + k + "."
			if table == "when." { // its tables have the names of those outside
				table = ""
			}
			out[k] = redacted(table, e, secret)
			if secret(prefix + k) {
				out[k] = RedactedValue
			}
		}
		return out
	}
	return v
}
