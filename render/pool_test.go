package render_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/render"
	"github.com/arcrawl/arcrawl/render/chromium"
	"github.com/arcrawl/arcrawl/uri"
)

const front = "https://www.site.example/"

// player is a browser that makes the requests of a script, and remembers the answers.
type player struct {
	requests []chromium.Request
	answers  map[string]chromium.Answer
	done     chan struct{} // has a token after each page
	err      error
	shows    chromium.Result // the text, and whether the page is complete
	without  []string        // of the last job
	hold     chan struct{}   // each rendering receives from it; nil = none does
	panics   bool            // each rendering
}

func (p *player) Render(ctx context.Context, j chromium.Job) (chromium.Result, error) {
	if p.hold != nil {
		<-p.hold
	}
	ctx, end := context.WithTimeout(ctx, j.Limit)
	defer end()
	r := p.shows
	r.URI, p.without = j.URI, j.Without
	for _, q := range p.requests {
		p.answers[q.URI] = j.Answer(ctx, q)
		r.Found = append(r.Found, chromium.Found{URI: q.URI, Kind: q.Kind})
	}
	defer func() { p.done <- struct{}{} }()
	if p.panics {
		panic("poison")
	}
	return r, p.err
}

func (p *player) Close() {}

// world is a pool with a frontier of one captured page. The test takes the place of the crawl.
type world struct {
	t        *testing.T
	config   *config.Config
	frontier *frontier.Frontier
	pool     *render.Pool
	player   *player
	now      func() time.Time

	asked     int                   // the mark of the requests of visits
	servers   map[string]netip.Addr // of captures, by URI
	unchanged bool                  // the sources of pages
	poisoned  string                // reading the capture of this URI panics
	why       string                // the crawl refuses a URI; "" = the rule says so
}

// open opens a world. extra is a part of the main file.
func open(t *testing.T, extra string, requests ...chromium.Request) *world {
	t.Helper()
	return openIn(t, t.TempDir(), extra, requests...)
}

// openIn opens a world in a folder, which may have host files.
func openIn(t *testing.T, dir, extra string, requests ...chromium.Request) *world {
	t.Helper()
	text := "[operator]\nname = \"Test\"\ncontact = \"https://library.example/\"\n[seeds]\nuris = [\"" + front + "\"]\n" + extra
	c := testcrawl.Load(t, dir, text)
	w := &world{t: t, config: c, now: time.Now, player: &player{
		requests: requests, answers: map[string]chromium.Answer{}, done: make(chan struct{}, 100),
	}}
	var err error
	w.frontier, err = frontier.Open(frontier.Options{Dir: filepath.Join(dir, "state"), Compactors: -1, Now: w.now()})
	if err != nil {
		t.Fatal(err)
	}
	testcrawl.Untick(t, w.frontier.DB())
	seed := frontier.Candidate{URI: uri.FromCanonical(front), Seed: front, Due: w.now()}
	if _, err := w.frontier.Add(w.now(), seed); err != nil {
		t.Fatal(err)
	}
	w.pool = render.Start(t.Context(), render.Parts{
		Config: config.NewLive(c), Frontier: w.frontier,
		Open: func(o digest.Origin) (warc.Head, io.ReadCloser, error) {
			if w.poisoned == o.URI {
				panic("poison")
			}
			head := warc.Head{
				Raw:    []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"),
				Status: http.StatusOK,
				Server: w.servers[o.URI],
			}
			return head, io.NopCloser(strings.NewReader("capture of " + o.URI)), nil
		},
		Held: func() string { return "" }, Wake: func() {}, Now: w.now, Log: zerolog.Nop(),
		Browser: func() render.Browser { return w.player },
	}, c.Render)
	return w
}

func (w *world) close() {
	w.pool.Close()
	if err := w.frontier.Close(); err != nil {
		w.t.Error(err)
	}
}

// visit visits the next due URI as a crawl would, and reports the visit. change changes its record.
func (w *world) visit(change func(*frontier.Record)) (uri.URI, uri.HopPath) {
	w.t.Helper()
	claim, ok, err := w.frontier.Claim(w.now())
	if err != nil || !ok {
		w.t.Fatalf("nothing to claim: %v", err)
	}
	r := claim.Record
	r.LastVisit, r.LastCapture, r.Due, r.Visits = w.now(), w.now(), w.now().Add(24*time.Hour), 1
	r.Status, r.LastStatus, r.ContentType = http.StatusOK, http.StatusOK, "text/html"
	r.Origin = digest.Origin{
		URI:      r.URI.String(),
		File:     "a.warc.gz",
		Date:     w.now(),
		RecordID: "urn:uuid:1",
		Payload:  digest.Of([]byte("x")),
		Size:     1,
	}
	r.Payload, r.Asked = r.Origin.Payload, w.asked
	if change != nil {
		change(&r)
	}
	s := w.config.For(config.About{URI: r.URI, ContentType: r.ContentType, Now: w.now()})
	state := evaluators.Changed
	if w.unchanged {
		state = evaluators.Unchanged
	}
	in := evaluators.WaitInput{State: state, Previous: claim.Record.Wait}
	in.At = w.now()
	wait := s.Wait.Next(in)
	r.Wait, r.Due, r.Why = wait.Interval, w.now().Add(wait.Interval), wait.Why()
	if r.LastStatus < 0 && w.why != "" {
		r.Why = w.why
	}
	if _, err := w.frontier.Settle(claim, frontier.Settlement{Record: r, Finished: w.now()}); err != nil {
		w.t.Fatal(err)
	}
	report := crawler.Report{
		URI: r.URI, Finished: w.now(), Status: r.LastStatus, Type: r.ContentType,
		Verdict: evaluators.Verdict{First: true, State: state},
	}
	if config.Own[noise.Options](&s).Of == noise.OfRendered {
		report.Rendered = factsOf(claim.Record, state, in, wait, w.now())
	}
	w.pool.Observe(report)
	return r.URI, r.Hops
}

const changed = "[render]\npages = \"changed\"\n"

func TestARequestWaitsForItsVisit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const list = front + "list.json"
		w := open(
			t,
			changed,
			chromium.Request{URI: front, Main: true},
			chromium.Request{URI: list, Kind: chromium.Script},
			chromium.Request{URI: list, Kind: chromium.Script},
		)
		defer w.close()
		w.visit(nil)
		synctest.Wait()
		if len(w.player.answers) != 1 || string(w.player.answers[front].Body) != "capture of "+front {
			t.Fatalf("before the visit the answers are %v", w.player.answers)
		}
		time.Sleep(time.Minute)
		at, hops := w.visit(func(r *frontier.Record) { r.ContentType = "application/json" })
		if at.String() != list || hops != "X" {
			t.Fatalf("the crawl was given %s by %q, want %s by X", at, hops, list)
		}
		<-w.player.done
		if got := string(w.player.answers[list].Body); got != "capture of "+list {
			t.Errorf("the answer is %q", got)
		}
		synctest.Wait()
		if s := w.pool.Status(); s.Done != 1 || s.Visited != 1 || s.Found != 1 || s.Late != 0 {
			t.Errorf("the status is %+v", s)
		}
	})
}

func TestWhatTheCrawlRefusesIsNotAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const forbidden, outside, never = front + "forbidden.json", "https://other.example/x.json", front + "never.json"
		w := open(t, changed+"limit = \"1m\"\n[scope]\nembeds_anywhere = false\n",
			chromium.Request{URI: outside, Kind: chromium.Script}, chromium.Request{URI: forbidden, Kind: chromium.Script},
			chromium.Request{URI: never, Kind: chromium.Script})
		defer w.close()
		w.visit(nil)
		synctest.Wait()
		began := w.now()
		w.visit(func(r *frontier.Record) {
			r.LastStatus, r.Origin, r.LastVisit = aspects.StatusForbidden, digest.Origin{}, time.Time{}
		})
		<-w.player.done
		if took := w.now().Sub(began); took < 50*time.Second || took > time.Minute {
			t.Errorf("the page took %v, want the rest of its minute for what is never visited", took)
		}
		for _, u := range []string{forbidden, outside, never} {
			if a := w.player.answers[u]; a.Status != 0 {
				t.Errorf("%s was answered with %d", u, a.Status)
			}
		}
		if _, known, _ := w.frontier.Get(uri.FromCanonical(outside)); known {
			t.Errorf("%s is known, although it is out of scope", outside)
		}
	})
}

func TestBudgetsOfRendering(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := open(t, changed+"max_per_day = 2\n")
		defer w.close()
		report := crawler.Report{
			URI: uri.FromCanonical(front), Status: http.StatusOK, Type: "text/html; charset=utf-8",
			Verdict: evaluators.Verdict{State: evaluators.Changed},
		}
		for day := range 2 {
			for range 3 {
				report.Finished = time.Date(2026, 11, 20+day, 12, 0, 0, 0, time.UTC)
				w.pool.Observe(report)
				synctest.Wait()
			}
		}
		for _, other := range []func(*crawler.Report){
			func(r *crawler.Report) { r.Failed = true },
			func(r *crawler.Report) { r.Block = "challenge" },
			func(r *crawler.Report) { r.Type = "image/png" },
			func(r *crawler.Report) { r.Verdict.State = evaluators.Unchanged },
			func(r *crawler.Report) { r.Status = http.StatusNotFound },
		} {
			r := report
			r.Finished = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
			other(&r)
			w.pool.Observe(r)
		}
		synctest.Wait()
		if s := w.pool.Status(); s.Dropped != 2 || s.Done+s.Failed > 4 {
			t.Errorf("of three pages on each of two days with a budget of 2: %+v", s)
		}
	})
}

func TestABrowserThatDoesNotStartRests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := open(t, changed)
		defer w.close()
		w.player.err = chromium.ErrStart
		w.visit(nil)
		synctest.Wait()
		again := func() api.Rendering {
			w.pool.Observe(crawler.Report{
				URI: uri.FromCanonical(front), Finished: w.now(), Status: http.StatusOK, Type: "text/html",
				Verdict: evaluators.Verdict{State: evaluators.Changed},
			})
			synctest.Wait()
			return w.pool.Status()
		}
		if s := again(); s.Failed != 1 || s.Dropped != 1 {
			t.Errorf("right after the failure: %+v", s)
		}
		time.Sleep(2 * time.Minute)
		w.player.err = errors.New("crashed")
		if s := again(); s.Failed != 2 || s.Dropped != 1 {
			t.Errorf("two minutes later: %+v", s)
		}
	})
}

// TestAPanicCostsOnePage lets reading a capture panic, and then the rendering of a page. The daemon lives, and the next
// page is rendered.
func TestAPanicCostsOnePage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := open(t, changed, chromium.Request{URI: front, Main: true})
		defer w.close()
		render := func() api.Rendering {
			w.visit(nil)
			<-w.player.done
			synctest.Wait()
			time.Sleep(24 * time.Hour)
			return w.pool.Status()
		}
		w.poisoned = front
		if s := render(); s.Done != 1 || w.player.answers[front].Status != 0 {
			t.Errorf("after a capture that cannot be read: %+v, answered with %d", s, w.player.answers[front].Status)
		}
		w.poisoned, w.player.panics = "", true
		if s := render(); s.Done != 1 || s.Failed != 1 {
			t.Errorf("after a rendering that panicked: %+v", s)
		}
		w.player.panics = false
		if s := render(); s.Done != 2 || s.Failed != 1 || w.player.answers[front].Status != http.StatusOK {
			t.Errorf("afterwards: %+v, answered with %d", s, w.player.answers[front].Status)
		}
	})
}

// TestAStopLeavesTheQueue stops pools that have a page in progress and others in their queue.
func TestAStopLeavesTheQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for range 10 { // a pool that chooses between the stop and the queue sometimes leaves it
			w := open(t, changed+"[[wait]]\nmime = \".*\"\nrule = \"classic\"\n") // the front page is not due again
			w.player.hold = make(chan struct{})
			w.visit(nil)
			synctest.Wait()
			for _, name := range []string{"a", "b", "c"} {
				page := frontier.Candidate{URI: uri.FromCanonical(front + name), Seed: front, Due: w.now()}
				if _, err := w.frontier.Add(w.now(), page); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Hour)
				w.visit(nil)
			}
			if s := w.pool.Status(); s.Queue != 3 {
				t.Fatalf("%d pages wait, want 3", s.Queue)
			}
			go w.close()
			synctest.Wait()
			close(w.player.hold)
			synctest.Wait()
			if n := len(w.player.done); n != 1 {
				t.Errorf("%d pages were rendered, want the one in progress", n)
			}
		}
	})
}
