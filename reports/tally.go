package reports

import (
	"maps"

	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/evaluators"
)

// Tally sums up lines. Sizes are bytes.
type Tally struct {
	Visits      int64              `json:"visits"`       // lines
	Answered    int64              `json:"answered"`     // neither failed nor not tried
	Failed      int64              `json:"failed"`       // see the package comment
	NotTried    int64              `json:"not_tried"`    // see the package comment
	Versions    int64              `json:"versions"`     // see the package comment
	Unchanged   int64              `json:"unchanged"`    // the content was the same as in the last capture
	NotModified int64              `json:"not_modified"` // status 304
	BrokenOff   int64              `json:"broken_off"`   // the download was ended, because the headers showed no change
	Duplicates  int64              `json:"duplicates"`   // the payload was archived before
	Received    int64              `json:"received"`
	Spared      int64              `json:"spared"`
	Deduped     int64              `json:"deduplicated"`
	Dedup       Dedup              `json:"deduplication"`
	Status      map[int]int64      `json:"status"`  // lines of each status
	Overdue     crawllog.Histogram `json:"overdue"` // of scheduled visits
	Wait        crawllog.Histogram `json:"wait"`    // the new wait intervals

	// Daily is the sum of [crawllog.DailyCount], for reports on days.
	Daily evaluators.Day `json:"-"`
}

// Add counts one line.
func (t *Tally) Add(g *crawllog.RawEntry) {
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
	t.Daily = t.Daily.Plus(crawllog.DailyCount(g))
	t.Spared += g.Spared
	t.Dedup.add(g)
	if g.Duplicate {
		t.Duplicates++
		t.Deduped += max(0, g.Size)
	}
	switch {
	case crawllog.NotTried(g.Status):
		t.NotTried++
		return
	case g.Misfortune || crawllog.Refused(g.Status):
		t.Failed++
		return
	}
	t.Answered++
	switch {
	case g.Unchanged:
		t.Unchanged++
	case crawllog.IsVersion(g):
		t.Versions++
	}
	if g.Status == 304 {
		t.NotModified++
	}
	if g.Stopped {
		t.BrokenOff++
	}
}

// Merge adds everything that o counted.
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
	t.Daily = t.Daily.Plus(o.Daily)
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

// ChangeRate returns the share of visits, 0 to 1, that found a new version. Only visits that found a new version or no
// change are counted. ok is false if there were none.
func (t *Tally) ChangeRate() (rate float64, ok bool) {
	judged := t.Versions + t.Unchanged
	if judged == 0 {
		return 0, false
	}
	return float64(t.Versions) / float64(judged), true
}

// Dedup is the result of deduplication. It counts the responses whose payload was looked up in the index. Responses
// that the settings exclude and responses without a payload of their own (304) are not counted. Sizes are bytes of
// payload.
type Dedup struct {
	Handled    int64 `json:"handled"`    // responses that were looked up
	Bytes      int64 `json:"bytes"`      // of the responses that were looked up
	New        int64 `json:"new"`        // the payload was not in the archive
	Duplicates int64 `json:"duplicates"` // the payload was in the archive; the sum of the next four

	Exact      int64 `json:"exact"`      // under the same URI
	Equivalent int64 `json:"equivalent"` // under an equivalent URI
	Other      int64 `json:"other"`      // under another URI
	Unknown    int64 `json:"unknown"`    // the log does not say, as logs of Heritrix

	DuplicateBytes int64 `json:"duplicate_bytes"` // of the duplicates
	Discarded      int64 `json:"discarded"`       // duplicates that were not stored again, which "force-new" prevents
	DiscardedBytes int64 `json:"discarded_bytes"` // of the discarded duplicates: the size that was saved
	Unwritten      int64 `json:"unwritten"`       // discarded without a revisit record, because of dedup.revisits
}

// add counts a line.
func (d *Dedup) add(g *crawllog.RawEntry) {
	discarded := g.Duplicate || g.Unwritten && g.Status != 304
	bytes := max(0, g.Size)
	switch string(g.Repeats) {
	case "none":
		d.New++
	case "exact":
		d.Exact++
	case "equivalent":
		d.Equivalent++
	case "other":
		d.Other++
	default:
		if !discarded {
			return
		}
		d.Unknown++
	}
	d.Handled++
	d.Bytes += bytes
	if string(g.Repeats) == "none" {
		return
	}
	d.Duplicates++
	d.DuplicateBytes += bytes
	if discarded {
		d.Discarded++
		d.DiscardedBytes += bytes
	}
	if g.Unwritten {
		d.Unwritten++
	}
}

// merge adds everything that o counted.
func (d *Dedup) merge(o Dedup) {
	d.Handled += o.Handled
	d.Bytes += o.Bytes
	d.New += o.New
	d.Duplicates += o.Duplicates
	d.Exact += o.Exact
	d.Equivalent += o.Equivalent
	d.Other += o.Other
	d.Unknown += o.Unknown
	d.DuplicateBytes += o.DuplicateBytes
	d.Discarded += o.Discarded
	d.DiscardedBytes += o.DiscardedBytes
	d.Unwritten += o.Unwritten
}
