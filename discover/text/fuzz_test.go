package text_test

import (
	"testing"

	"github.com/arcrawl/arcrawl/discover/text"
)

// FuzzDate reads arbitrary dates. A result must be a date that can be stored.
func FuzzDate(f *testing.F) {
	for _, s := range []string{
		"2026-11-21", "2026-11-21T10:00:00+25:99", "Sat, 21 Nov 2026 10:00:00 GMT", "21. November 2026",
		"99999-01-01", "0000-00-00", "2026-W47-6", "١٢", "+1-1-1T1:1:1.999999999999Z",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, _ := text.Date(s)
		if at.IsZero() {
			return
		}
		if y := at.UTC().Year(); y < 0 || y > 9999 {
			t.Errorf("%q is read as the year %d", s, y)
		}
		text.ValidUTF8([]byte(s))
	})
}
