package frontier

import (
	"reflect"
	"strings"
	"testing"
)

// The general encoder silently omits two fields with the same key.
func TestNoTwoFieldsOfARowHaveTheSameKey(t *testing.T) {
	t.Parallel()
	for _, row := range []any{uriRow{}, originRow{}, hostRow{}, robotsRow{}} {
		seen := map[string]string{}
		for f := range reflect.TypeOf(row).Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("cbor"), ",")
			if key == "" || seen[key] != "" {
				t.Errorf("%T: %s has the key %q, and so has %q", row, f.Name, key, seen[key])
			}
			seen[key] = f.Name
		}
	}
}
