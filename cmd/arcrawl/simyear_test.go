package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestAYearOfAnInventedCrawlComesOutTheSameEachTime(t *testing.T) {
	t.Parallel()
	play := func(args ...string) (r yearResult) {
		t.Helper()
		var out, errs bytes.Buffer
		if code := realMain(append([]string{"sim", "year", "--hosts", "3", "--uris", "40", "--days", "60", "--json"}, args...), &out, &errs); code != exitOK {
			t.Fatalf("exit code %d: %s", code, &errs)
		}
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		r.Seconds, r.Each = 0, 0
		return r
	}
	learned, classic := play(), play("--rule", "classic")
	if again := play(); again != learned {
		t.Errorf("%+v, and again %+v", learned, again)
	}
	if learned.URIs != 120 || learned.Versions < 3000 || learned.Share < 0.7 || learned.Share > 0.9 || classic.Share >= learned.Share {
		t.Errorf("learned %+v, classic %+v", learned, classic)
	}
	for _, wrong := range [][]string{{"--hosts", "0"}, {"--rule", "fixed"}, {"--rule", "none"}, {"--capture-target", "2"}} {
		var out, errs bytes.Buffer
		if code := realMain(append([]string{"sim", "year"}, wrong...), &out, &errs); code != exitUsage || !strings.Contains(errs.String(), strings.TrimPrefix(wrong[0], "--")) {
			t.Errorf("%q: exit code %d, %s", wrong, code, &errs)
		}
	}
}
