package frontier

import (
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// TestWaitingLettersHaveABound refuses links to other shards while too many letters wait, and takes them afterwards. A
// letter that waits can be replaced all the same.
func TestWaitingLettersHaveABound(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	other := func(uri.Host) int { return 2 }
	f, err := Open(Options{Dir: t.TempDir(), Compactors: -1, Now: now, Shards: Shards{Other: other}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	add := func(path string, sooner bool, want Added) {
		t.Helper()
		link := Candidate{URI: uri.FromCanonical("http://a.example/" + path), Due: now, Sooner: sooner}
		if added, err := f.Add(now, link); err != nil || added != want {
			t.Errorf("added %+v, %v; want %+v", added, err, want)
		}
	}
	add("1", false, Added{Posted: 1})
	f.waiting.Add(maxWaiting - 1)
	add("2", false, Added{Refused: 1})
	add("1", true, Added{Posted: 1})
	letters, err := f.Letters(10, nil)
	if err != nil || len(letters) != 1 || f.Sent(letters) != nil {
		t.Fatalf("sent %v, %v", letters, err)
	}
	add("2", false, Added{Posted: 1})
}
