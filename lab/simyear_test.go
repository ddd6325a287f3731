package lab

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
)

func TestAYearOfAnInventedCrawlComesOutTheSameEachTime(t *testing.T) {
	t.Parallel()
	play := func(args ...string) (r yearResult) {
		t.Helper()
		out := played(t, nil, append([]string{"--year", "--hosts", "3", "--uris", "40", "--days", "60", "--json"}, args...)...)
		must(t, json.Unmarshal([]byte(out), &r))
		r.Seconds, r.Each = 0, 0
		return r
	}
	learned, classic := play(), play("--rule", "classic")
	if again := play(); again != learned {
		t.Errorf("%+v, and again %+v", learned, again)
	}
	if learned.URIs != 120 || learned.Versions < 3000 || learned.Share < 0.7 || learned.Share > 0.9 ||
		classic.Share >= learned.Share {
		t.Errorf("learned %+v, classic %+v", learned, classic)
	}
	busy := play("--busy", "3")
	if busy.Changes < 2*learned.Changes || busy.PerURI <= learned.PerURI ||
		learned.PerURI*120*60/365 < float64(learned.Visits)-1 {
		t.Errorf("livelier %+v, than %+v", busy, learned)
	}
	played(t, []string{"a front page that changes 40 times a day", "spread about 2 a year", "visits a year"},
		"--year", "--hosts", "2", "--uris", "10", "--days", "20", "--busy", "2")
	for _, wrong := range [][]string{{"--hosts", "0"}, {"--busy", "0"}, {"--rule", "fixed"}, {"--rule", "none"}, {"--set", "capture_target=2"}} {
		code, _, errs := simulated(append([]string{"--year"}, wrong...)...)
		if code != cli.ExitUsage || !strings.Contains(errs, strings.TrimPrefix(wrong[0], "--")) {
			t.Errorf("%q: exit code %d, %s", wrong, code, errs)
		}
	}
}
