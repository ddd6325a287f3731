// This file says what the ticket of a view opens: one page, and what that page shows.
//
// On the player's origin all archived pages are one site, so a browser lets the scripts of each read everything. Hence
// the player decides, by rules like the rules of the web: what a page embeds was said when it was captured; of
// other hosts, a script reads only what their servers permit; no page shows what is archived in another series, or what
// the crawl got from another site with a secret.

package curator

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/discover"
	"github.com/arcrawl/arcrawl/uri"
)

// maxEmbeds is the maximum number of URIs that a view opens.
const maxEmbeds = 5000

// view is one archived page that a ticket opens. Its methods are safe for concurrent use.
type view struct {
	holder      string
	role        access.Role
	page, stamp string
	expires     time.Time
	used        time.Time // guarded by the lock of the tickets

	mu    sync.Mutex      // guards the fields below
	root  string          // the page, or where its redirect leads
	shows map[string]bool // keys of what the page, or what it shows, embeds; false: only a script names it
	read  map[string]bool // captures whose embeds are known
}

func newView(holder string, role access.Role, page, stamp string, expires time.Time) *view {
	return &view{
		holder: holder, role: role, page: page, root: page, stamp: stamp, expires: expires,
		shows: map[string]bool{uri.ReplayKey(page): true}, read: map[string]bool{},
	}
}

// Opens reports whether the view opens an address. embedded is false if only a script of the page names it.
func (v *view) Opens(address string) (embedded, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	embedded, ok = v.shows[uri.ReplayKey(address)]
	return embedded, ok
}

// Learn adds what a capture that is being shown embeds.
func (v *view) Learn(ctx context.Context, l *captures.Library, e index.Entry) {
	v.mu.Lock()
	defer v.mu.Unlock()
	id := e.URL + " " + e.Timestamp
	if v.read[id] || len(v.shows) >= maxEmbeds {
		return
	}
	v.read[id] = true
	for _, link := range shownBy(ctx, l, e) {
		key := uri.ReplayKey(link.URI.String())
		if len(v.shows) >= maxEmbeds {
			return
		}
		switch link.Hop {
		case uri.Redirect:
			if uri.ReplayKey(e.URL) == uri.ReplayKey(v.root) {
				v.root = link.URI.String()
			}
			v.shows[key] = true
		case uri.Embed:
			v.shows[key] = true
		case uri.Speculative:
			if v.shows[key] || hostKey(v.root) != hostKey(link.URI.String()) {
				continue
			}
			v.shows[key] = false
		}
	}
}

// shownBy returns the embeds of a capture, the target of its redirect, and the addresses in its scripts. A capture that
// cannot be read has none.
func shownBy(ctx context.Context, l *captures.Library, e index.Entry) []discover.Link {
	u, err := uri.Parse(e.URL)
	if err != nil {
		return nil
	}
	if strings.HasPrefix(e.Status, "3") && e.Status != "304" {
		_, fields, err := l.At(e.URL, e.Filename, e.Offset)
		to, bad := u.Join(fields.Get("Location"))
		if err != nil || bad != nil {
			return nil
		}
		return []discover.Link{{URI: to, Hop: uri.Redirect}}
	}
	if !isText(e.MIME) {
		return nil
	}
	content, mime, err := captures.ReadContent(ctx, l, e)
	if err != nil {
		return nil
	}
	doc := discover.Document{URI: u, Status: http.StatusOK, Header: http.Header{"Content-Type": {mime}}}
	found, _ := discover.Links(ctx, doc, bytes.NewReader(content), discover.Bounds{Speculative: true})
	return slices.DeleteFunc(found.Links, func(link discover.Link) bool {
		return link.Hop == uri.Redirect // a meta element leads to another page
	})
}

// isText reports whether captures of a media type can embed something.
func isText(mime string) bool {
	return mime == "" || mime == "unk" || mime == index.RevisitMIME || strings.HasPrefix(mime, "text/") ||
		strings.Contains(mime, "xml") ||
		strings.Contains(mime, "script") || strings.Contains(mime, "json")
}

// isOwn reports whether an address is of the host of the page. Schemes and a leading www do not count.
func (v *view) isOwn(address string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return hostKey(v.root) == hostKey(address)
}

func hostKey(address string) string {
	host, _, _ := strings.Cut(uri.ReplayKey(address), ")")
	return host
}

// mayUse reports whether a page may use a capture of another host for what a browser calls the destination of a
// request: "" for a script that reads it. access is what the server said about who may read it.
func (v *view) mayUse(destination, mime, access string) bool {
	switch destination {
	case "iframe", "frame":
		return true // without scripts, and with an origin of its own
	case "image", "audio", "video", "track", "font", "style", "script":
		media, _, _ := strings.Cut(strings.ToLower(mime), ";")
		return !isDocument(strings.TrimSpace(media))
	}
	v.mu.Lock()
	page, err := url.Parse(v.root)
	v.mu.Unlock()
	return access == "*" || err == nil && access == page.Scheme+"://"+page.Host
}

// isDocument reports whether a media type is of texts that people read, or of data, as browsers have it for their
// blocking of opaque responses.
func isDocument(media string) bool {
	return media == "text/html" || media == "text/plain" || strings.HasSuffix(media, "json") ||
		strings.HasSuffix(media, "xml") && media != "image/svg+xml"
}

// permits reports whether a page may show a capture. It may not show a capture of another series. Nor may it show what
// the crawl gets from another site with a secret, or by a proxy, local address or private network that the page's own
// site does not have.
func permits(c *config.Config, page, shown index.Entry, now time.Time) bool {
	from, err := uri.Parse(page.URL)
	to, err2 := uri.Parse(shown.URL)
	if err != nil || err2 != nil {
		return false
	}
	series := captures.SeriesIn(c.WARC.Prefix)
	own := c.MeansOf(config.About{URI: from, ContentType: page.MIME, Now: now})
	other := c.MeansOf(config.About{URI: to, ContentType: shown.MIME, Now: now})
	for _, name := range []string{series(shown), other.Series} {
		if name != "" && name != own.Series && name != series(page) {
			return false
		}
	}
	if from.Domain() == to.Domain() {
		return true
	}
	return !other.Secret && (other.Client == "" || other.Client == own.Client) &&
		(len(other.Networks) == 0 || slices.Equal(other.Networks, own.Networks))
}
