package render

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/render/chromium"
)

// textType is the type of the text of a rendered page.
const textType = "text/plain; charset=utf-8"

// withoutOf returns the selectors of the elements whose text is not compared.
func withoutOf(o *noise.Options) []string {
	if o.Of != noise.OfRendered || o.Mode == noise.Strict {
		return nil
	}
	return o.ScrubCSS
}

// compare lets the text of a rendered page decide about its next visit. It compares no text of a page that was not
// complete, and none of a page without text: the source decides then.
func (v *view) compare(ctx context.Context, r chromium.Result, s *config.Settings) error {
	text := strings.Join(strings.Fields(r.Compared), " ")
	if r.Late || r.Dropped > 0 || v.partial.Load() || text == "" {
		v.l.p.Log.Debug().Str("uri", v.page.uri.String()).
			Msg("a rendered page is not complete: its source decides about the next visit")
		return nil
	}
	compared, err := comparison(ctx, text, config.Own[noise.Options](s))
	if err != nil {
		return fmt.Errorf("compare the text of the rendered page: %w", err)
	}
	now := v.l.p.Now()
	_, err = v.l.p.Frontier.Revise(now, v.page.uri, func(record *frontier.Record) bool {
		earliest := record.Due
		if earliest.After(now) {
			earliest = now // the crawl is not late because the rendering was
		}
		state := v.page.visit.Decide(record, compared, s)
		if record.Due.Before(earliest) {
			record.Due = earliest
		}
		v.l.p.Log.Debug().Str("uri", v.page.uri.String()).Stringer("text", state).Time("due", record.Due).
			Msg("compared the text of a rendered page")
		return true
	})
	if err == nil {
		v.l.p.Wake()
	}
	return err
}

// comparison returns the digest of a text after scrubbing.
func comparison(ctx context.Context, text string, o *noise.Options) (digest.Comparison, error) {
	sum := digest.Of([]byte(text))
	if o.Rules.Idle(textType, int64(len(text))) {
		return o.Rules.Whole(sum), nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.MaxTime, digest.ErrTooSlow)
	defer cancel()
	c, err := o.Rules.Compare(ctx, strings.NewReader(text), textType, sum)
	if errors.Is(err, digest.ErrTooSlow) {
		return c, nil // it is compared whole
	}
	return c, err
}
