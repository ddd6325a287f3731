// Package chromium loads archived pages in a browser, to find what their scripts ask for.
//
// The browser has no network. Each request of a page is passed to the caller, who answers it from the archive, or
// refuses it. So the browser sees what was captured, and only the caller decides what is fetched.
//
//	NewBrowser ──▶ Render ──▶ Render … ──▶ Close
//	                 │ the page limit is reached, too much memory, a crash, no answer
//	                 ▼
//	          the process ends; the next Render starts another one
//
// The process is Debian's Chromium. It runs with its sandbox, and in a network namespace of its own without interfaces.
// Where the system does not permit such a namespace, it has only a proxy that does not exist.
// Requests that cannot be intercepted, such as WebSockets, WebRTC and DNS look-ups, therefore leave no trace outside.
package chromium

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"time"
)

// ErrNoBrowser says that no browser was found.
var ErrNoBrowser = errors.New("no Chromium is installed")

// Find returns the path of the browser. name is a path, or the name of a program; empty means the usual names.
func Find(name string) (string, error) {
	names := []string{name}
	if name == "" {
		names = []string{"chromium", "chromium-browser", "google-chrome"}
	}
	for _, n := range names {
		if path, err := exec.LookPath(n); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: found no program %q; install the package chromium, or set render.browser", ErrNoBrowser, names)
}

// Job is a page to render.
type Job struct {
	URI string // of the page
	// Answer answers a request of the page, the first one included. It is called by several goroutines at once. Its
	// context ends with the rendering.
	Answer func(context.Context, Request) Answer
	// Limit is the maximum duration until the page is taken as it is.
	Limit time.Duration
	// Grace is the maximum time for reading the page after that; zero is half a minute. A page that takes longer ends the
	// browser.
	Grace time.Duration
	// MaxRequests is the maximum number of requests that are answered. All others fail. Zero is no bound.
	MaxRequests int
	// Picture says whether to take a picture of the whole page.
	Picture bool
	// Steps are done in their order before the page is taken as it is.
	Steps []Step
	// Known holds, by the names of steps, the entries that earlier renderings have returned.
	Known map[string]Entries
	// Pictured is called with a picture of the page before the first step, and after each; nil wants none.
	Pictured func(step int, png []byte)
	// Without holds CSS selectors of elements whose text is missing in Result.Compared.
	Without []string
}

// Request is a request of a page.
type Request struct {
	URI  string
	Kind Kind
	Main bool // it is the request of the page itself
	// Stored says that only the archive may answer, however old its capture is: see [Entries].
	Stored bool
}

// Kind is how a page uses what it requests.
type Kind uint8

// The kinds of requests.
const (
	Embed  Kind = iota // part of the page: a picture, style sheet, script, font, video, frame
	Script             // requested by a script of the page: fetch, XMLHttpRequest, prefetch
	Leave              // a page that replaces this one, or that opens in another window; it is not answered
)

// Answer is the answer to a request. The zero value makes the request fail.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // without transfer and content coding
}

// Found is a URI that a page requested.
type Found struct {
	URI  string
	Kind Kind
}

// Result is a rendered page.
type Result struct {
	Found    []Found // each URI once, in the order of the first requests, without the page
	Refused  int     // requests that no archive can answer: other methods than GET, other schemes, endless streams
	Dropped  int     // requests beyond MaxRequests
	Late     bool    // the page was not quiet within its limit
	URI      string  // of the document that is shown
	Title    string
	DOM      []byte // as HTML, with shadow trees as declarative ones and the documents of frames as srcdoc
	Text     string // that a reader sees, also in frames and shadow trees
	Compared string // Text without the elements of Job.Without
	Picture  []byte // PNG; empty unless it was asked for
	Steps    []Done // what came of the steps
}
