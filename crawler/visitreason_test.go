package crawler

import (
	"testing"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
)

func TestRecordHasTheReasonOfTheVisit(t *testing.T) {
	t.Parallel()
	decided := frontier.History{Visits: 3, Why: "^text/: changed: 2h ÷ 1.5 = 1h20m"}
	for _, c := range []struct {
		name string
		r    frontier.Record
		want string
	}{
		{"a seed, for the first time", frontier.Record{}, "seed"},
		{"what was found, for the first time", frontier.Record{Via: "http://a.example/"}, "new"},
		{"what was visited before, in signs of ASCII", frontier.Record{Via: "http://a.example/", History: decided}, "^text/: changed: 2h / 1.5 = 1h20m"},
		{"what the operator asked for before it was visited", frontier.Record{History: frontier.History{Why: "the operator asked for it"}}, "the operator asked for it"},
	} {
		v := &aspects.Visit{Claim: frontier.Claim{Record: c.r}, Capture: new(fetch.Capture)}
		got := ""
		for _, f := range metadataOf(v, aspects.Kept{}) {
			if f.Name == "visitReason" {
				got = f.Value
			}
		}
		if got != c.want {
			t.Errorf("%s: visited because of %q, want %q", c.name, got, c.want)
		}
	}
}
