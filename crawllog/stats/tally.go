package stats

import (
	"bytes"
	"maps"

	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/evaluators"
)

// Tally is what a number of lines come to. Sizes are bytes.
type Tally struct {
	Visits      int64         `json:"visits"`       // lines
	Answered    int64         `json:"answered"`     // neither failed nor not tried
	Failed      int64         `json:"failed"`       // see the package comment
	NotTried    int64         `json:"not_tried"`    // see the package comment
	Versions    int64         `json:"versions"`     // see the package comment
	Unchanged   int64         `json:"unchanged"`    // the content was that of the last capture
	NotModified int64         `json:"not_modified"` // the server said so: 304
	BrokenOff   int64         `json:"broken_off"`   // the download was, because the headers vouched for the page
	Duplicates  int64         `json:"duplicates"`   // the payload was in the archive already
	Received    int64         `json:"received"`
	Spared      int64         `json:"spared"`
	Deduped     int64         `json:"deduplicated"`
	Dedup       Dedup         `json:"deduplication"`
	Status      map[int]int64 `json:"status"`  // lines of each status
	Overdue     Histogram     `json:"overdue"` // of scheduled visits
	Wait        Histogram     `json:"wait"`    // the intervals that were set

	// Account is what a report on days makes of them: like the one that the crawl keeps, without robots.txt among the versions.
	Account evaluators.Day `json:"-"`
}

// notTried is the greatest of Heritrix's statuses for what was not fetched because of a decision.
const notTried = -5000

// Add counts one line.
func (t *Tally) Add(g *crawllog.Glance) {
	t.Visits++
	if t.Status == nil {
		t.Status = make(map[int]int64)
	}
	t.Status[g.Status]++
	if g.Scheduled {
		t.Overdue.Add(g.Overdue)
		t.Wait.Add(g.Wait)
	}
	t.Received += max(0, g.Size)
	t.Account = t.Account.Plus(Account(g))
	t.Spared += g.Spared
	t.Dedup.add(g)
	if g.Duplicate {
		t.Duplicates++
		t.Deduped += max(0, g.Size)
	}
	switch {
	case g.Status <= notTried:
		t.NotTried++
		return
	case g.Troubled || refuses(g.Status):
		t.Failed++
		return
	}
	t.Answered++
	switch {
	case g.Unchanged:
		t.Unchanged++
	case isVersion(g):
		t.Versions++
	}
	if g.Status == 304 {
		t.NotModified++
	}
	if g.Stopped {
		t.BrokenOff++
	}
}

// Account is a line as the crawl counts the visit in its accounts of days. What a line does not tell of the versions since the last visit is taken
// from how many visits found one.
func Account(g *crawllog.Glance) evaluators.Day {
	switch {
	case g.Status <= notTried, g.Status == dnsFailed, g.Status == connectFailed:
		return evaluators.Day{}
	case g.Troubled, refuses(g.Status), bytes.HasSuffix(g.URI, robotsTxt) || g.Unchanged || !isVersion(g):
		return evaluators.Day{Requests: 1}
	}
	d := evaluators.Day{Requests: 1, Seen: 1, Versions: max(g.New, 1)}
	if g.New == 0 && g.Scheduled && g.Visits > 1 {
		d.Versions = evaluators.Since(g.Visits-1, g.Versions-1)
	}
	return d
}

// Heritrix's statuses of a host that was not reached, and the end of the URI that is asked for before all others.
const dnsFailed, connectFailed = -1, -2

var robotsTxt = []byte("/robots.txt")

// refuses reports whether a status is no answer to the question.
func refuses(status int) bool {
	switch status {
	case 401, 403, 407, 408, 425, 429:
		return true
	}
	return status <= 0 || status >= 500
}

func isVersion(g *crawllog.Glance) bool {
	if len(g.State) > 0 {
		return string(g.State) == "changed"
	}
	return g.Scheduled && g.Status != 404 && g.Status != 410
}

// Merge adds all that o has counted.
func (t *Tally) Merge(o *Tally) {
	t.Visits += o.Visits
	t.Answered += o.Answered
	t.Failed += o.Failed
	t.NotTried += o.NotTried
	t.Versions += o.Versions
	t.Unchanged += o.Unchanged
	t.NotModified += o.NotModified
	t.BrokenOff += o.BrokenOff
	t.Duplicates += o.Duplicates
	t.Received += o.Received
	t.Spared += o.Spared
	t.Deduped += o.Deduped
	t.Dedup.merge(o.Dedup)
	t.Account = t.Account.Plus(o.Account)
	if t.Status == nil {
		t.Status = maps.Clone(o.Status)
	} else {
		for status, n := range o.Status {
			t.Status[status] += n
		}
	}
	t.Overdue.Merge(o.Overdue)
	t.Wait.Merge(o.Wait)
}

// ChangeRate is the share of the visits that could be judged which found a new version, 0 to 1; ok is false when there
// was none.
func (t *Tally) ChangeRate() (rate float64, ok bool) {
	judged := t.Versions + t.Unchanged
	if judged == 0 {
		return 0, false
	}
	return float64(t.Versions) / float64(judged), true
}
