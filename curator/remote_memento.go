package curator

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/uri"
)

// addresses returns the addresses of a URI in the Memento protocol.
type addresses struct{ base, original string }

func (a addresses) gate() string { return a.base + "/timegate/" + a.original }

func (a addresses) timeMap(format string, page int) string {
	if page > 0 {
		format += "/" + strconv.Itoa(page)
	}
	return a.base + "/timemap/" + format + "/" + a.original
}

func (a addresses) memento(e index.Entry) string {
	return a.base + "/memento/" + e.Timestamp + "/" + e.URL
}

// links returns the links of an answer about a capture: to its URI, and to the captures around it.
func (a addresses) links(l *captures.Library, e index.Entry) (string, error) {
	type named struct {
		rel string
		e   index.Entry
	}
	var first, last, before, after index.Entry
	if err := l.Ordered(e.Key+" ", func(other index.Entry) bool {
		switch at := index.Compare(other, e); {
		case at < 0:
			before = other
		case at > 0 && after.URL == "":
			after = other
		}
		if first.URL == "" {
			first = other
		}
		last = other
		return true
	}); err != nil {
		return "", err
	}
	text := fmt.Sprintf(`<%s>; rel="original", <%s>; rel="timegate", <%s>; rel="timemap"; type="application/link-format"`,
		a.original, a.gate(), a.timeMap("link", 0))
	for _, n := range []named{
		{"first memento", first}, {"prev memento", before}, {"memento", e}, {"next memento", after}, {"last memento", last},
	} {
		if n.e.URL != "" {
			text += fmt.Sprintf(`, <%s>; rel="%s"; datetime="%s"`, a.memento(n.e), n.rel, httpDate(n.e.Date()))
		}
	}
	return text, nil
}

// addressesOf returns the addresses of a URI for who sent a request.
func (m *remote) addressesOf(from *http.Request, original string) (addresses, error) {
	if !strings.HasPrefix(original, "http://") && !strings.HasPrefix(original, "https://") {
		return addresses{}, badQuestion{"want a URI that begins with http:// or https:// in the path"}
	}
	base := m.origin
	if base == "" {
		base = "http://" + from.Host
		if from.TLS != nil {
			base = "https://" + from.Host
		}
	}
	if u, err := uri.Parse(original); err == nil {
		original = u.String()
	}
	return addresses{strings.TrimSuffix(base, "/"), original}, nil
}

// timeGate leads to the capture of a URI that is nearest to the time in Accept-Datetime, or to the last one.
func (m *remote) timeGate(to http.ResponseWriter, from *http.Request, l *captures.Library, original string) error {
	a, err := m.addressesOf(from, original)
	if err != nil {
		return err
	}
	stamp := ""
	if text := from.Header.Get("Accept-Datetime"); text != "" {
		at, err := http.ParseTime(text)
		if err != nil {
			return badQuestion{fmt.Sprintf("Accept-Datetime: %s: want a date such as Sat, 21 Nov 2026 09:00:00 GMT", text)}
		}
		stamp = index.Stamp(at, false)
	}
	to.Header().Set("Vary", "accept-datetime")
	e, err := l.NearestTo(a.original, stamp)
	if err != nil {
		return err
	}
	links, err := a.links(l, e)
	if err != nil {
		return err
	}
	to.Header().Set("Link", links)
	to.Header().Set("Location", a.memento(e))
	to.WriteHeader(http.StatusFound)
	return nil
}

// pagedURI is the part of a path behind the format of a TimeMap: a page, if it is not the first one, and a URI.
var pagedURI = regexp.MustCompile(`^(?:([0-9]{1,6})/)?(.*)$`)

// timeMap lists the captures of a URI, oldest first.
func (m *remote) timeMap(to http.ResponseWriter, from *http.Request, l *captures.Library, path string) error {
	format, rest, _ := strings.Cut(path, "/")
	if format != "link" && format != "json" {
		return badQuestion{fmt.Sprintf("/timemap/%s/: want /timemap/link/URI or /timemap/json/URI", format)}
	}
	parts := pagedURI.FindStringSubmatch(rest)
	page, _ := strconv.Atoi(cmp.Or(parts[1], "0")) // digits
	a, err := m.addressesOf(from, parts[2])
	if err != nil {
		return err
	}
	var found []index.Entry
	skip, more := page*maxCDX, false
	if err := l.Ordered(uri.ReplayKey(a.original)+" ", func(e index.Entry) bool {
		switch {
		case skip > 0:
			skip--
		case len(found) == maxCDX:
			more = true
		default:
			found = append(found, e)
		}
		return !more
	}); err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("%w: %s", warc.ErrNotFound, a.original)
	}
	write := a.linkMap
	if format == "json" {
		write = a.jsonMap
	}
	var out bytes.Buffer
	mime := write(&out, found, page, more)
	to.Header().Set("Content-Type", mime)
	_, _ = to.Write(out.Bytes()) // an error means that the program has gone
	return nil
}

// linkMap writes a TimeMap as links.
func (a addresses) linkMap(out *bytes.Buffer, found []index.Entry, page int, more bool) (mime string) {
	first, last := found[0], found[len(found)-1]
	fmt.Fprintf(out, "<%s>; rel=\"original\",\n<%s>; rel=\"timegate\",\n", a.original, a.gate())
	fmt.Fprintf(out, "<%s>; rel=\"self\"; type=\"application/link-format\"; from=%q; until=%q", a.timeMap("link", page),
		httpDate(first.Date()), httpDate(last.Date()))
	if page > 0 {
		fmt.Fprintf(out, ",\n<%s>; rel=\"timemap\"; type=\"application/link-format\"", a.timeMap("link", page-1))
	}
	if more {
		fmt.Fprintf(out, ",\n<%s>; rel=\"timemap\"; type=\"application/link-format\"", a.timeMap("link", page+1))
	}
	for i, e := range found {
		rel := "memento"
		if i == len(found)-1 && !more {
			rel = "last memento"
		}
		if i == 0 && page == 0 {
			rel = "first " + rel
		}
		fmt.Fprintf(out, ",\n<%s>; rel=%q; datetime=%q", a.memento(e), rel, httpDate(e.Date()))
	}
	out.WriteByte('\n')
	return "application/link-format"
}

// jsonMap writes a TimeMap in the form of the Memento Time Travel service.
func (a addresses) jsonMap(out *bytes.Buffer, found []index.Entry, page int, more bool) (mime string) {
	type memento struct {
		Date time.Time `json:"datetime"`
		URI  string    `json:"uri"`
	}
	of := func(e index.Entry) memento { return memento{e.Date(), a.memento(e)} }
	var list struct {
		Original string `json:"original_uri"`
		Gate     string `json:"timegate_uri"`
		Self     string `json:"self"`
		Mementos struct {
			First *memento  `json:"first,omitempty"` // of all pages
			Last  *memento  `json:"last,omitempty"`
			List  []memento `json:"list"`
		} `json:"mementos"`
		Maps struct {
			Link string `json:"link_format"`
			JSON string `json:"json_format"`
			Next string `json:"next,omitempty"`
		} `json:"timemap_uri"`
	}
	list.Original, list.Gate, list.Self = a.original, a.gate(), a.timeMap("json", page)
	list.Maps.Link, list.Maps.JSON = a.timeMap("link", 0), a.timeMap("json", 0)
	for _, e := range found {
		list.Mementos.List = append(list.Mementos.List, of(e))
	}
	if first := of(found[0]); page == 0 {
		list.Mementos.First = &first
	}
	if last := of(found[len(found)-1]); more {
		list.Maps.Next = a.timeMap("json", page+1)
	} else {
		list.Mementos.Last = &last
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(list) // texts
	return "application/json"
}

func httpDate(t time.Time) string { return t.UTC().Format(http.TimeFormat) }

// memento answers with a capture as the server sent it, without content coding: the one with exactly this time. It
// leads to the nearest one if there is none.
func (m *remote) memento(
	ctx context.Context, to http.ResponseWriter, from *http.Request, l *captures.Library, path string,
) error {
	stamp, original, _ := strings.Cut(path, "/")
	a, err := m.addressesOf(from, original)
	if err != nil {
		return err
	}
	if stamp, err = boundOf("memento", strings.TrimSuffix(stamp, "id_"), "10000101000000"); err != nil || stamp == "" {
		return badQuestion{"want /memento/TIMESTAMP/URI, with a timestamp of up to 14 digits"}
	}
	e, err := l.NearestTo(a.original, stamp)
	if err != nil {
		return err
	}
	h := to.Header()
	if !strings.HasPrefix(e.Timestamp, stamp) || e.URL != a.original {
		h.Set("Location", a.memento(e))
		to.WriteHeader(http.StatusFound)
		return nil
	}
	links, err := a.links(l, e)
	if err != nil {
		return err
	}
	c, head, body, err := openCapture(ctx, l, e)
	if err != nil {
		return err
	}
	defer body.Close() //nolint:errcheck // nothing was written
	first, err := io.ReadAll(io.LimitReader(body, 64<<10))
	if err != nil { // better a sentence than half a page
		return fmt.Errorf("%w: %w", warc.ErrDamaged, err)
	}
	for _, name := range kept {
		if values := head.fields.Values(name); len(values) > 0 {
			h[name] = values[:1]
		}
	}
	if location := head.fields.Get("Location"); location != "" && head.status >= 300 && head.status < 400 {
		h.Set("Location", a.base+"/memento/"+e.Timestamp+"/"+absolute(c.URL, location))
	}
	h.Set("Memento-Datetime", httpDate(c.Date))
	h.Set("Link", links)
	to.WriteHeader(max(head.status, http.StatusOK))
	_, _ = io.Copy(to, io.MultiReader(bytes.NewReader(first), body)) // an error means that the program has gone, or damage
	return nil
}
