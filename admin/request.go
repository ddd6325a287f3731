package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/uri"
)

// This file has what the requests of the API have in common, also those that wings bring: how parameters and bodies are
// read, and the errors that have a status of their own.

// Descriptions of parameters that several requests have.
const (
	HostDoc = "host name, with the port if it is not the default port"
	URIDoc  = "the URI; it is converted to canonical form"
)

// ErrRole says that a caller may not do something.
var ErrRole = errors.New("this needs another role")

var errNotHere = errors.New("unknown")

// Unknown returns the error for a name that does not exist.
func Unknown(what string) error { return fmt.Errorf("%s: %w", what, errNotHere) }

// Number parses a whole number of the query and checks its bounds. A missing parameter has the default value.
func Number(r *http.Request, name string, byDefault, minimum, maximum int) (int, error) {
	text := r.FormValue(name)
	if text == "" {
		return byDefault, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < minimum || n > maximum {
		return 0, Fault("%s %q is not a number from %d to %d", name, text, minimum, maximum)
	}
	return n, nil
}

// MaxBody is the maximum size of a request body in bytes.
const MaxBody = 40_000_000 + 1<<20

// Read decodes the JSON body of a request. An empty body is the zero value.
func Read[T any](r *http.Request) (v T, err error) {
	if t := r.Header.Get("Content-Type"); t != "" && !strings.HasPrefix(t, "application/json") {
		return v, Fault("Content-Type %s: want application/json", t)
	}
	from := json.NewDecoder(http.MaxBytesReader(nil, r.Body, MaxBody))
	from.DisallowUnknownFields()
	if err := from.Decode(&v); err != nil && !errors.Is(err, io.EOF) {
		return v, Fault("read the request: %w", err)
	}
	return v, nil
}

// badRequest is the error of a request that is not valid.
type badRequest struct{ error }

func (b badRequest) Unwrap() error { return b.error }

// BadRequest returns an error for which the request is responsible.
func BadRequest(err error) error { return badRequest{err} }

// Fault returns the error of a request that is not valid.
func Fault(format string, args ...any) error { return badRequest{fmt.Errorf(format, args...)} }

// Served returns a route function that decodes the request body.
func Served[B, A any](serve func(*Window, B) (A, error)) func(*Window, *http.Request) (any, error) {
	return func(w *Window, r *http.Request) (any, error) {
		b, err := Read[B](r)
		if err != nil {
			return nil, err
		}
		return serve(w, b)
	}
}

// Filtered returns the parameters of a request that is about some of the hosts.
func Filtered(more ...Param) []Param {
	return append(more,
		Param{"label", "string", "only hosts with this label, and hosts below a domain with it"},
		Param{"collection", "string", "only hosts of this collection"},
		Param{"owner", "string", "only hosts of this owner"},
	)
}

// FilterOf returns the filter of a request.
func FilterOf(r *http.Request) config.Filter {
	return config.Filter{Label: r.FormValue("label"), Collection: r.FormValue("collection"), Owner: r.FormValue("owner")}
}

// Choice reports whether a host is chosen.
type Choice = func(uri.Host) bool

// Chooses returns a function that reports whether a filter selects a host; nil if it selects all.
func (w *Window) Chooses(f config.Filter) Choice {
	return w.o.Config().Config.Chooses(f)
}

// EmbargoFor returns the embargo that somebody with a role has to keep. Curators have to keep none.
func EmbargoFor(role access.Role, c *config.Config, now time.Time) config.Embargo {
	if role >= access.Curate {
		return nil
	}
	return c.EmbargoAt(now)
}

// Embargo returns the embargo that the caller of a request has to keep.
func (w *Window) Embargo(r *http.Request) config.Embargo {
	return EmbargoFor(access.CallerOf(r.Context()).Role, w.o.Config().Config, w.o.Now())
}

// TitleUnder returns the title of a page, and none if there is an embargo on the page.
func TitleUnder(e config.Embargo, title, address, contentType string) string {
	if e.Keeps(address, contentType) {
		return ""
	}
	return title
}

// maxPart is the maximum length of a text to search for, in bytes. Every URI of a page of results is compared with it.
const maxPart = 2000

// PartOf returns the text that a request searches for, without spaces around it.
func PartOf(r *http.Request) (string, error) {
	text := strings.TrimSpace(r.FormValue("q"))
	if len(text) > maxPart {
		return "", Fault("q has %d bytes, more than %d; search for a shorter part", len(text), maxPart)
	}
	return text, nil
}

// ReadURI returns the URI of a request.
func ReadURI(r *http.Request) (uri.URI, error) {
	return ParseURI(r.FormValue("uri"))
}

// ParseURI parses the URI of a request.
func ParseURI(text string) (uri.URI, error) {
	u, err := uri.Parse(text)
	if err != nil {
		return uri.URI{}, Fault("uri %q: %v", text, err)
	}
	return u, nil
}
