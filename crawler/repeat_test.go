package crawler_test

import (
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/town"
)

// A server closes each connection at its second request. Whatever it does, the host rests between two requests, and
// every page is captured.
func TestAClosedConnectionIsNotAskedAgainBeforeTheHostHasRested(t *testing.T) {
	inTown(t, "[politeness]\nmin_delay = \"5s\"\n[seeds]\nuris = [\"http://rude.example/\", \"http://well.example/\"]\n", func(t *testing.T, w *world) {
		w.set("http://well.example/", town.Page{Links: []string{"/1", "/2"}})
		for n := range 3 {
			w.set("http://well.example/"+strconv.Itoa(n), town.Page{})
		}
		var mu sync.Mutex
		var asked []time.Time
		served := map[string]int{} // requests on each connection
		w.town.Serve("rude.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, time.Now())
			if n := len(asked); n%2 == 0 {
				panic(http.ErrAbortHandler)
			}
			served[r.URL.Path]++
			out.Header().Set("Content-Type", "text/html")
			_, _ = out.Write([]byte("<a href=/1>1</a> <a href=/2>2</a> <a href=/3>3</a>"))
		}))
		w.run(2 * time.Minute)
		mu.Lock()
		defer mu.Unlock()
		for i := 1; i < len(asked); i++ {
			if gap := asked[i].Sub(asked[i-1]); gap < 5*time.Second {
				t.Errorf("request %d came %s after the one before; want at least 5s", i+1, gap)
			}
		}
		for _, path := range []string{"/", "/1", "/2", "/3"} {
			if got := w.visits("rude.example" + path); len(got) != 1 || got[0].Failed || got[0].Status != http.StatusOK {
				t.Errorf("visits of %s: %+v; want one capture", path, got)
			}
		}
		if len(asked) != 9 || len(w.visits("well.example/2")) != 1 {
			t.Errorf("%d requests, %v answered; want 5 that were answered and 4 that were not", len(asked), served)
		}
	})
}
