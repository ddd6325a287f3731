package curator

import (
	"bytes"
	"context"
	"crypto/hmac"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
)

// asked is the part of a path behind /raw/: ticket and URI. The ticket says of which time.
var asked = regexp.MustCompile(`^([0-9a-f]+-[0-9a-f]+)/(https?://.+)$`)

// kept are the header fields of archived responses that a browser may see. All others are left out: some would change
// how the browser treats the player, such as Clear-Site-Data, and some would make it connect to other servers.
var kept = []string{"Content-Type", "Content-Language", "Content-Disposition"}

// raw answers with the payload of the capture that a path names.
func (p *player) raw(to http.ResponseWriter, from *http.Request, path string) {
	if dest := from.Header.Get("Sec-Fetch-Dest"); dest != "" && dest != "empty" {
		p.refuse(to, http.StatusForbidden, forWorker)
		return
	}
	if !hmac.Equal([]byte(from.Header.Get(workerHeader)), []byte(p.o.Tickets.WorkerKey())) {
		p.refuse(to, http.StatusForbidden, forWorker)
		return
	}
	parts := asked.FindStringSubmatch(path)
	if parts == nil {
		p.refuse(to, http.StatusBadRequest, "this is not a ticket, a timestamp and a URI")
		return
	}
	v, ok := p.o.Tickets.Find(parts[1], p.o.Names(), p.o.Now())
	if !ok {
		p.refuse(to, http.StatusForbidden, "the ticket has expired; reload the page in the dashboard")
		return
	}
	select {
	case p.reading <- struct{}{}:
		defer func() { <-p.reading }()
	case <-from.Context().Done():
		return
	}
	library, release, err := p.o.Archive.Open(p.o.Now())
	if err == nil {
		defer release()
		if p.o.Config != nil {
			library = seenBy(v.role, library, p.o.Config(), p.o.Now())
		}
		err = p.answer(to, from, library, v, parts[2])
	}
	if err != nil {
		p.missing(to, parts[2], err)
	}
}

// What the worker and the player say about a request and its answer, in header fields.
const (
	workerHeader      = "X-Player-Worker"      // the key of the worker
	destinationHeader = "X-Player-Destination" // what the browser wants to do with the answer; a script reads: "none"
	foreignHeader     = "X-Player-Foreign"     // the answer is of another host than the page
	otherHeader       = "X-Player-Other"       // a frame asks for a page that is not the one of the ticket
)

const forWorker = "this address is for the player's worker; open a version in the dashboard"

// errNotShown says that the page of a view does not show something.
var errNotShown = fmt.Errorf("%w: it is not embedded in the viewed page", warc.ErrNotFound)

// missing answers with a page that says why a capture cannot be shown.
func (p *player) missing(to http.ResponseWriter, address string, err error) {
	if !errors.Is(err, warc.ErrNotFound) {
		p.o.Log.Warn().Err(err).Str("uri", address).Msg("could not show an archived capture: the page says why")
	}
	to.Header().Set("Content-Type", "text/html; charset=utf-8")
	to.WriteHeader(http.StatusNotFound)
	_, _ = fmt.Fprintf(to, `<!doctype html><html lang="en"><meta charset="utf-8"><title>Not shown</title>`+
		`<body style="font:16px/1.5 system-ui,sans-serif;margin:2rem"><h1>This version cannot be shown</h1><p>%s</p><p style="overflow-wrap:anywhere">%s</p>`,
		html.EscapeString(captures.Sentence(err)), html.EscapeString(address))
}

// answer writes the response of a capture that a view opens. It returns an error only if nothing was written.
func (p *player) answer(
	to http.ResponseWriter, from *http.Request, l *captures.Library, v *view, address string,
) error {
	h := to.Header()
	destination := strings.TrimPrefix(from.Header.Get(destinationHeader), "none")
	embedded, ok := v.Opens(address)
	if isFrame := strings.HasSuffix(destination, "frame"); isFrame && !embedded {
		h.Set(otherHeader, "yes")
		return errNotShown
	} else if !ok {
		return errNotShown
	}
	e, err := l.NearestTo(address, v.stamp)
	if err != nil {
		return err
	}
	if !embedded && strings.Contains(e.MIME, "html") {
		return errNotShown
	}
	if err := p.permits(l, v, e); err != nil {
		return err
	}
	c, head, body, err := openCapture(from.Context(), l, e)
	if err != nil {
		return err
	}
	defer body.Close() //nolint:errcheck // nothing was written
	// A payload whose coding is broken fails at its first bytes: better a sentence than half a page.
	first, err := io.ReadAll(io.LimitReader(body, 64<<10))
	if err != nil {
		return fmt.Errorf("%w: %w", warc.ErrDamaged, err)
	}
	if !v.isOwn(address) {
		h.Set(foreignHeader, "yes")
		if !v.mayUse(destination, head.fields.Get("Content-Type"), head.access) {
			return errNotShown
		}
	}
	v.Learn(from.Context(), l, e)
	for _, name := range kept {
		if values := head.fields.Values(name); len(values) > 0 {
			h[name] = values[:1]
		}
	}
	h.Set("Memento-Datetime", c.Date.UTC().Format(http.TimeFormat))
	if location := head.fields.Get("Location"); location != "" && head.status >= 300 && head.status < 400 {
		h.Set("X-Orig-Location", absolute(c.URL, location))
	}
	if head.status != http.StatusOK {
		h.Set("X-Redirect-Status", strconv.Itoa(head.status)) // the engine shows this status; it would follow a redirect
	}
	if from.Method == http.MethodHead {
		return nil
	}
	_, _ = io.Copy(to, io.MultiReader(bytes.NewReader(first), body)) // an error means that the browser has gone, or damage
	return nil
}

// absolute resolves the address of a redirect.
func absolute(base, location string) string {
	b, err := url.Parse(base)
	if err != nil {
		return location
	}
	to, err := b.Parse(location)
	if err != nil {
		return location
	}
	return to.String()
}

// shown is the head of the response that a browser receives.
type shown struct {
	status int
	fields http.Header
	access string // the origins whose scripts may read it, from the record of the capture itself
}

// permits returns an error if the page of a view may not show a capture.
func (p *player) permits(l *captures.Library, v *view, e index.Entry) error {
	if p.o.Config == nil {
		return nil
	}
	page, err := l.NearestTo(v.page, v.stamp)
	if err == nil && !permits(p.o.Config(), page, e, p.o.Now()) {
		err = errNotShown
	}
	return err
}

// openCapture opens the payload of a capture.
func openCapture(
	ctx context.Context, l *captures.Library, e index.Entry,
) (captures.Capture, shown, *captures.Payload, error) {
	none := func(err error) (captures.Capture, shown, *captures.Payload, error) {
		return captures.Capture{}, shown{}, nil, err
	}
	c, fields, err := l.At(e.URL, e.Filename, e.Offset)
	if err != nil {
		return none(err)
	}
	body, err := l.Payload(ctx, c, true)
	if err != nil {
		return none(err)
	}
	head := shown{body.Head.Status, body.Head.Header(), fields.Get("Access-Control-Allow-Origin")}
	if status, err := strconv.Atoi(e.Status); err == nil && status != http.StatusNotModified && c.Type == "revisit" {
		head.status = status
		if fields.Get("Content-Type") != "" || fields.Get("Location") != "" {
			head.fields = fields
		}
	}
	if head.status == 0 { // a record without HTTP
		head.status, head.fields = http.StatusOK, http.Header{"Content-Type": {e.MIME}}
	}
	return c, head, body, nil
}
