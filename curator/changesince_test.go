package curator

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/changes"
	"github.com/arcrawl/arcrawl/config"
)

// subscribe returns the URIs or kinds of changes that a subscription gets, a few at a time, and up to when.
func subscribe(t *testing.T, find func(after time.Time) ([]api.Capture, time.Time), after time.Time) (
	list []api.Capture, upTo time.Time,
) {
	t.Helper()
	for range 100_000 {
		found, upTo := find(after)
		list = append(list, found...)
		if upTo.Equal(after) {
			return list, upTo
		}
		after = upTo
	}
	t.Fatal("there is always more")
	return nil, upTo
}

// TestASubscriptionGetsEachChangeOnce plays a day of a newspaper, asks in the middle of it and after a restart.
func TestASubscriptionGetsEachChangeOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, dir, dayOfNews)
		closeOnce := sync.OnceFunc(func() {
			w.Must(w.curation.close(time.Now()))
			w.Close()
		})
		defer closeOnce()
		_, begin := w.window.Changes(config.Subscription{}, time.Time{}, 2)
		newspapersDay(w)
		for what, c := range map[string]struct {
			config.Subscription
			want []string
		}{
			"all": {config.Subscription{Host: "news.example"}, []string{
				"headline", "links", "text", "wall", "returned", "withdrawn", "returned+text", "text", "moved", "text",
			}},
			"kinds":   {config.Subscription{Kinds: []string{"headline", "withdrawn"}}, []string{"headline", "withdrawn"}},
			"words":   {config.Subscription{Removed: 20}, []string{"text"}},
			"a label": {config.Subscription{Filter: config.Filter{Label: "unknown"}}, nil},
			"a host":  {config.Subscription{Host: "other.example"}, nil},
		} {
			find := func(after time.Time) ([]api.Capture, time.Time) { return w.window.Changes(c.Subscription, after, 2) }
			list, upTo := subscribe(t, find, begin)
			slices.Reverse(list)
			if got := kindsOf(list); !slices.Equal(got, c.want) {
				t.Errorf("%s: %q, want %q", what, got, c.want)
			}
			if more, _ := find(upTo); len(more) > 0 {
				t.Errorf("%s: sent twice: %v", what, more)
			}
		}
		closeOnce()
		again, err := openChanges(dir)
		w.Must(err)
		list, _ := subscribe(t, func(after time.Time) ([]api.Capture, time.Time) {
			return again.Since(changeFilter{After: after, captureFilter: captureFilter{Limit: 3}}, time.Minute, time.Now)
		}, begin)
		if len(list) != 10 {
			t.Errorf("after a restart: %d changes", len(list))
		}
	})
}

// TestChangesAreFoundFromAnyPlaceInLargeFiles writes days of changes, some lines of which a crash has cut, and reads on
// from every fiftieth.
func TestChangesAreFoundFromAnyPlaceInLargeFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := openChanges(dir)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)
	var noted []time.Time
	for i := range 3000 {
		at = at.Add(3 * time.Second)
		c := api.Capture{URI: fmt.Sprintf("http://a.example/%d", i), Host: "a.example", Title: strings.Repeat("x", 10+i%500)}
		c.Change = &api.Change{Kinds: []string{string(changes.Text)}}
		if i%100 == 0 {
			c.Change.Kinds[0] = string(changes.Headline)
		}
		if _, err := s.Add(c, at); err != nil {
			t.Fatal(err)
		}
		noted = append(noted, c.Change.Noted)
	}
	file := filepath.Join(dir, changesFolder, "2026-11-21.jsonl")
	text, err := os.ReadFile(file)
	if err != nil || len(text) <= maxBlock {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	lines[330] = lines[330][:20] + "\n"
	if err := os.WriteFile(file, []byte(strings.Join(lines, "")), 0o640); err != nil {
		t.Fatal(err)
	}
	rest := changeFilter{captureFilter: captureFilter{Limit: 1}}
	for i := 0; i < len(noted)-1; i += 50 {
		rest.After = noted[i]
		list, upTo := s.Since(rest, time.Minute, time.Now)
		if len(list) != 1 || list[0].URI != fmt.Sprintf("http://a.example/%d", i+1) || !upTo.Equal(noted[i+1]) {
			t.Fatalf("after %d: %v, up to %s", i, list, upTo)
		}
	}
	rest.Changes, rest.After, rest.Limit = []string{"headline"}, noted[2950], 5
	if list, upTo := s.Since(rest, time.Minute, time.Now); len(list) > 0 || !upTo.Equal(noted[2999]) {
		t.Errorf("nothing of the kind is left: %v, up to %s, want %s", list, upTo, noted[2999])
	}
	rest.After = noted[0].Add(-time.Hour)
	clock := at
	find := func(after time.Time) ([]api.Capture, time.Time) {
		rest.After = after
		return s.Since(rest, time.Second, func() time.Time { clock = clock.Add(time.Millisecond); return clock })
	}
	if list, _ := subscribe(t, find, rest.After); len(list) != 30 {
		t.Errorf("searched a thousand lines at a time: %d changes, want 30", len(list))
	}
}

// TestASubscriptionNamesTheSeriesUnderAnEmbargoThatItGets asks for changes of three series.
func TestASubscriptionNamesTheSeriesUnderAnEmbargoThatItGets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, t.TempDir(), everyHour+`
[warc]
series_names = ["closed", "open"]
about = [{ series = "closed", embargo = "2999-01-01" }, { series = "open", embargo = "1999-01-01" }]
`)
		defer w.Close()
		defer func() { w.Must(w.curation.close(time.Now())) }()
		_, begin := w.window.Changes(config.Subscription{}, time.Time{}, 2)
		for _, series := range []string{"", "closed", "open"} {
			c := api.Capture{URI: "http://a.example/" + series, Change: &api.Change{Kinds: []string{"text"}, Series: series}}
			if _, err := w.curation.changes.store.Add(c, time.Now()); err != nil {
				t.Error(err)
			}
		}
		for want, s := range map[int]config.Subscription{2: {}, 3: {Series: []string{"closed"}}} {
			if list, _ := w.window.Changes(s, begin, 9); len(list) != want {
				t.Errorf("%+v: %d changes, want %d", s, len(list), want)
			}
		}
	})
}

// TestTheConfigurationKnowsTheKindsOfChanges compares the kinds that a subscription may name with those that there are.
func TestTheConfigurationKnowsTheKindsOfChanges(t *testing.T) {
	t.Parallel()
	if got, want := config.ChangeKinds(), changeKinds()[1:]; !slices.Equal(got, want) {
		t.Errorf("config has %q, the comparison %q", got, want)
	}
}
