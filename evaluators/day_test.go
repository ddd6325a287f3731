package evaluators_test

import (
	"testing"

	"github.com/arcrawl/arcrawl/evaluators"
)

func TestDayWritesItsCounts(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]evaluators.Day{
		"412 versions seen of some 503 (82 %), 2.3 requests each": {Requests: 950, Seen: 412, Versions: 503.2},
		"3 versions seen of some 3 (100 %), 1.0 requests each":    {Requests: 3, Seen: 3, Versions: 1},
		"no version seen with 7 requests":                         {Requests: 7},
	} {
		if got := d.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
