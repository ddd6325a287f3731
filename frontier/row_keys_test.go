package frontier

import (
	"reflect"
	"strings"
	"testing"
)

// If two fields have the same key, the general encoder silently omits both.
func TestNoTwoFieldsOfARowHaveTheSameKey(t *testing.T) {
	t.Parallel()
	for _, row := range []any{uriRow{}, originRow{}, hostRow{}, robotsRow{}} {
		seen := map[string]string{}
		for f := range reflect.TypeOf(row).Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("cbor"), ",")
			if key == "" || seen[key] != "" {
				t.Errorf("%T: %s has the key %q, which %q has too", row, f.Name, key, seen[key])
			}
			seen[key] = f.Name
		}
	}
}
