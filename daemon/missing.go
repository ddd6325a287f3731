package daemon

import (
	"context"
	"time"

	"github.com/arcrawl/arcrawl/crawler/history"
)

const (
	// comparedBytes is how much of the crawl log is compared with the store at the start.
	comparedBytes = 64 << 20
	// compareFor is the maximum time of that comparison.
	compareFor = 10 * time.Second
)

// findMissing compares the end of the crawl log with the store. The store can open without its last entries, for
// example if the log of a memory table was deleted or overwritten. Nothing else would show that. After an ordinary kill
// a few visits can be missing, at most one for each worker.
func (d *Daemon) findMissing(now time.Time) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), compareFor)
	defer cancel()
	c := d.live.Current()
	d.missing, err = history.FindMissing(ctx, d.parts.Frontier, c, c.Storage.Log, comparedBytes, now)
	if err != nil {
		return err
	}
	m := d.missing
	if m.Visits == 0 {
		return nil
	}
	event, text := d.log.Info(), "the last visits before the stop were logged but not stored; repeating them when their hosts have rested"
	switch {
	case m.Visits <= int64(c.Crawl.Workers):
	default:
		event, text = d.log.Warn(), "the store lost visits that crawl.log has; they are repeated, "+
			"unless you stop the daemon and run arcrawl backup restore --missing"
	}
	event.Int64("visits", m.Visits).Time("since", m.Since).Time("until", m.Until).Bool("perhaps_more", m.More).Msg(text)
	return nil
}
