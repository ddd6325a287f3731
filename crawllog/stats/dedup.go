package stats

import "github.com/arcrawl/arcrawl/crawllog"

// Dedup is what deduplication came to. It counts the answers whose payload was looked for in the archive; those that the
// settings leave out, and answers without a payload of their own (304), are not among them. Sizes are bytes of payload.
type Dedup struct {
	Handled    int64 `json:"handled"`    // answers that were looked for
	Bytes      int64 `json:"bytes"`      // of them
	New        int64 `json:"new"`        // the payload was not in the archive
	Duplicates int64 `json:"duplicates"` // it was: the four below together

	Exact      int64 `json:"exact"`      // under the same URI
	Equivalent int64 `json:"equivalent"` // under an equivalent one
	Other      int64 `json:"other"`      // under another one
	Unknown    int64 `json:"unknown"`    // the log does not tell: it is not of arcrawl, or of an older one

	DuplicateBytes int64 `json:"duplicateBytes"` // of the duplicates
	Discarded      int64 `json:"discarded"`      // duplicates that were not stored again: all but those of "force-new"
	DiscardedBytes int64 `json:"discardedBytes"` // of them: the size that was conserved
	Unwritten      int64 `json:"unwritten"`      // of them, those without a revisit record, as dedup.revisits has it
}

// add counts a line.
func (d *Dedup) add(g *crawllog.Glance) {
	discarded := g.Duplicate || g.Unwritten && g.Status != 304
	if g.Repeats == crawllog.NotLooked && !discarded {
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
	case crawllog.NotLooked:
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

// merge adds all that o has counted.
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
