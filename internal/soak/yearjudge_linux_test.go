package soak_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/archive"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// A stay is a visit as its row has it.
type stay struct {
	at, wait time.Duration
	status   int
}

// stays returns the visits by page, in the order of time.
func (y *year) stays() map[uint64][]stay {
	text, err := os.ReadFile(filepath.Join(y.dir, "visits"))
	y.must(err)
	all := map[uint64][]stay{}
	for ; len(text) >= visitRow; text = text[visitRow:] {
		word := func(i int) uint64 { return binary.LittleEndian.Uint64(text[8*i:]) }
		s := stay{at: time.Duration(word(1)), wait: time.Duration(word(2)), status: int(int64(word(3)))}
		all[word(0)] = append(all[word(0)], s)
		y.months[y.monthOf(s.at)].visits++
	}
	return all
}

// monthly holds what is counted and measured of a month.
type monthly struct {
	alive                       int // hosts
	visits, records             int
	shown, archived             int // versions that ended in the month
	due, missed                 int // versions that were shown for longer than the wait of their page
	samples, starts             int
	heap                        float64 // means of the samples
	descriptors, goroutines     float64
	perURI, tables              float64 // bytes
	store, start, log, archives float64 // at the end of the month
	uris, live, known           int     // known hosts
	rows                        map[string]float64
	responses                   int // records
}

// Kinds of rows of the store: what a URI has, what a host has, and the index of payloads. What a host has learned grows
// with its age, up to bounds: a row for each of the last [hosts.MaxDays] days, 97 rows about kinds of URIs, and one
// about its endless spaces.
var rowKinds = map[string][]string{
	"URI": {"u", "q", "x", "f", "pd", "pn", "po"}, "host": {"n", "h", "r", "t", "pF", "pC"}, "payload": {"d"},
	"learned": {"a", "k", "pt", "pI"},
}

// rowBytes returns the bytes of all rows of one of the rowKinds.
func (m monthly) rowBytes(of string) (sum float64) {
	for _, kind := range rowKinds[of] {
		sum += m.rows[kind]
	}
	return sum
}

// beyondRows returns how many bytes of the store's files are not rows: logs with reserved space, and old rows.
func (m monthly) beyondRows() float64 {
	sum := m.store
	for kind, bytes := range m.rows {
		if !strings.HasPrefix(kind, "#") {
			sum -= bytes
		}
	}
	return sum
}

func (y *year) monthOf(t time.Duration) int { return min(11, int(t/y.plan.month)) }

// archived reads the archive and returns which payloads each URI has.
func (y *year) archived() map[uint64]struct{} {
	var mu sync.Mutex
	all := map[uint64]struct{}{}
	files, faults := warc.FilesNamed([]string{y.crawl("warc")}, warc.IsArchive)
	for _, f := range faults {
		y.fault("%v", f)
	}
	work := func(_ context.Context, i int) error {
		r, err := warc.OpenAt(files[i].Path, 0)
		if err != nil {
			return err
		}
		defer r.Close()
		for {
			rec, err := r.Next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("%s: %w", files[i].Path, err)
			}
			date := rec.Header.Date()
			kind := rec.Header.Type()
			mu.Lock()
			m := &y.months[y.monthOf(date.Sub(testcrawl.Epoch))]
			m.records += count(kind != "warcinfo")
			m.responses += count(kind == "response")
			if kind == "response" || kind == "revisit" {
				all[hashOf(rec.Header.Target()+" "+rec.Header.Get("WARC-Payload-Digest"))] = struct{}{}
			}
			mu.Unlock()
		}
	}
	y.must(warc.ForEach(context.Background(), len(files), work, func(int) error { return nil }))
	return all
}

// verify checks the whole archive.
func (y *year) verify() {
	sum, err := archive.Verify(context.Background(), []string{y.crawl("warc")}, archive.VerifyOptions{},
		func(f warc.Finding) error {
			if f.Severity == warc.Error {
				y.fault("archive: %v", f)
			}
			return nil
		})
	y.must(err)
	y.verdict("the archive verifies", sum.Errors == 0 && sum.Records["response"] > 0, "%d files, %d bytes, records %v, "+
		"%d errors, %d warnings", sum.Files, sum.Bytes, sum.Records, sum.Errors, sum.Warnings)
}

// fault notes what is not as it must be.
func (y *year) fault(format string, args ...any) {
	y.faults = append(y.faults, fmt.Sprintf(format, args...))
}

// verdict prints whether a sentence holds. If it does not, the test fails.
func (y *year) verdict(sentence string, holds bool, format string, args ...any) {
	word := "yes"
	if !holds {
		word = "NO"
		y.fault("not so: %s", sentence)
	}
	y.say("%-3s %s: %s", word, sentence, fmt.Sprintf(format, args...))
}

// neverVisited is how long a page may be there without a visit, but at most a month of the plan and a day.
const neverVisited = 21 * day

// versions compares the versions that the web showed with the archive.
func (y *year) versions(visits map[uint64][]stay, kept map[uint64]struct{}) {
	unfound := 0
	for _, h := range y.web.hosts {
		for _, path := range h.paths(y.ends) {
			name := "http://" + h.name + path
			changes := append(h.changes(path, y.ends), change{y.ends, ""})
			stays := visits[hashOf(name)]
			if len(stays) > 0 {
				y.compare(h, path, changes, stays, kept)
			} else if longestThere(changes) > min(neverVisited, y.plan.month+day) {
				y.fault("%s was never visited; its host was born at %s", name, h.born)
				unfound++
			}
		}
	}
	var all monthly
	for _, m := range y.months {
		all.shown, all.archived = all.shown+m.shown, all.archived+m.archived
		all.due, all.missed = all.due+m.due, all.missed+m.missed
	}
	holds := all.missed+unfound == 0 && all.archived > 0
	y.verdict("every version that was shown for longer than its page's wait is archived", holds, "%d versions "+
		"shown, %d archived, %d shown for longer than the wait, %d of these missed, %d pages never visited",
		all.shown, all.archived, all.due, all.missed, unfound)
}

// compare compares the versions of one page with the archive.
func (y *year) compare(h *yearHost, path string, changes []change, stays []stay, kept map[uint64]struct{}) {
	name := "http://" + h.name + path
	for i, c := range changes[:len(changes)-1] {
		if c.version == "" {
			continue
		}
		until := changes[i+1].from
		m := &y.months[y.monthOf(until)]
		m.shown++
		_, body := h.body(path, c.version)
		_, has := kept[hashOf(name+" "+digest.Of(body).String())]
		if has {
			m.archived++
		}
		wait, known := waitBefore(stays, c.from)
		slack := y.slack(h, c.from, until)
		if !known || until-c.from <= wait+slack {
			continue
		}
		m.due++
		if !has {
			m.missed++
			y.fault("%s", missedText(name, c, until, wait, slack, stays))
		}
	}
}

// longestThere returns the longest time for which a page was there without a break.
func longestThere(changes []change) (longest time.Duration) {
	var since time.Duration
	there := false
	for _, c := range changes {
		switch {
		case c.version != "" && !there:
			since, there = c.from, true
		case c.version == "" && there:
			longest, there = max(longest, c.from-since), false
		}
	}
	return longest
}

// waitBefore returns the wait after the last visit before a time.
func waitBefore(stays []stay, t time.Duration) (wait time.Duration, known bool) {
	i, _ := slices.BinarySearchFunc(stays, t, func(s stay, t time.Duration) int { return cmp.Compare(s.at, t) })
	if i == 0 {
		return 0, false
	}
	return stays[i-1].wait, true
}

// slack returns how much later than due a visit may be: politeness, and times in which the crawl or the host was down.
func (y *year) slack(h *yearHost, from, until time.Duration) time.Duration {
	s := 20 * time.Minute
	for _, d := range slices.Concat(y.down, y.plan.full) {
		if d.until+5*time.Minute > from && d.from < until {
			s += d.until - d.from + 5*time.Minute
		}
	}
	for i, p := range h.phases {
		ends := y.plan.lasts
		if i+1 < len(h.phases) {
			ends = h.phases[i+1].from
		}
		if p.mood != fine && ends > from-3*time.Hour && p.from < until {
			s += healthyHost
		}
	}
	return s
}

// missedText describes a version that is missing.
func missedText(name string, c change, until, wait, slack time.Duration, stays []stay) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s showed %q from %s until %s (%s), with a wait of %s and %s of slack, and it is not archived; "+
		"visits:", name, c.version, c.from, until, until-c.from, wait, slack)
	for _, s := range stays {
		if s.at > c.from-2*wait && s.at < until+wait {
			fmt.Fprintf(&b, " %s (status %d, wait %s)", s.at, s.status, s.wait)
		}
		if b.Len() > 1500 {
			break
		}
	}
	return b.String()
}

// count returns 1 if a condition holds, and else 0.
func count(holds bool) int {
	if holds {
		return 1
	}
	return 0
}
