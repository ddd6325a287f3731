package stats

import "github.com/arcrawl/arcrawl/crawllog"

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
	if g.Repeats == crawllog.RepeatUnknown && !discarded {
		return
	}
	bytes := max(0, g.Size)
	d.Handled++
	d.Bytes += bytes
	switch g.Repeats {
	case crawllog.RepeatsNone:
		d.New++
		return
	case crawllog.RepeatsExact:
		d.Exact++
	case crawllog.RepeatsEquivalent:
		d.Equivalent++
	case crawllog.RepeatsOther:
		d.Other++
	case crawllog.RepeatUnknown:
		d.Unknown++
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
