package crawler

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/uri"
)

// kindOf is the kind of URI that a visit was to; robots.txt is of none.
func kindOf(v visit) rate.Kind {
	if v.robots || v.failed || v.capture.Status != http.StatusOK {
		return 0
	}
	r, got := v.record(), v.capture
	return evaluators.Traits{
		MIME: got.Header.Get("Content-Type"), Depth: strings.Count(string(r.Hops), string(uri.Link)), Article: !r.Born.IsZero(),
		Size: got.PayloadSize, Dated: got.Header.Get("Last-Modified") != "",
	}.Kind()
}

// relatives looks up what is known of URIs of the same kind on the host: of the kind that the URI was found to be of on its first
// capture, and learned by since.
func (c *Crawler) relatives(v visit) (rate.Relatives, error) {
	kind := rate.Memory(v.record().Memory).Kind()
	if v.verdict.First {
		kind = kindOf(v)
	}
	if c.rooms.Kin == nil || kind == 0 || v.failed {
		return rate.Relatives{}, nil
	}
	return c.rooms.Kin.Get(v.uri().Host(), kind)
}

// tellRelatives adds what a visit changes in what is known of the kind.
func (c *Crawler) tellRelatives(v visit, w evaluators.Wait) error {
	if c.rooms.Kin == nil || w.Kind == 0 {
		return nil
	}
	if err := c.rooms.Kin.Add(v.uri().Host(), w.Kind, w.Lesson); err != nil {
		return fmt.Errorf("remember how %s changes: %w", v.uri(), err)
	}
	return nil
}
