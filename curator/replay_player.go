package curator

import (
	"bytes"
	"embed"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/config"
)

// files are the pages and scripts of the player: all that is ours.
//
//go:embed player
var playerFiles embed.FS

// engineFile is the service worker of wabac.js in the folder of the engine.
const engineFile = "sw.js"

// maxAnswers is the maximum number of captures that are read at once.
const maxAnswers = 16

// playerOptions say what a player serves.
type playerOptions struct {
	Archive *captures.LiveReader
	Engine  string                // folder of the engine
	Tickets *tickets              // that are accepted
	Config  func() *config.Config // in force; nil: pages show captures of all series and sites
	Names   func() []string       // of the tokens in force, for which tickets were issued
	Now     func() time.Time      // the clock
	Log     zerolog.Logger
	Remote  *remote // answers programs of others; nil: they find nothing here
}

// player shows archived versions in a browser, from the archive that is being written. Its methods are safe for
// concurrent use.
//
// It serves an address of its own, so that archived pages have another origin than the dashboard. A frame of the
// dashboard opens /open/TICKET/TIMESTAMP/URI there. That page starts a service worker, player/sw.js, which loads the
// engine of ReplayWeb.page (wabac.js). The engine rewrites pages in the browser and asks /raw/TICKET/URI for each of
// their files. The player answers with the payload of the capture that is nearest in time to the page, which it takes
// from a [captures.LiveReader]: also from WARC files that are still open, and with revisits resolved. It answers for
// the page of the ticket, and for what that page shows, see [view].
//
// The engine is licensed under the AGPL. It is no part of this program: a package of its own has it, and the player
// serves it from a folder.
//
// An archived page can run its scripts, and nothing else. The dashboard's frame is sandboxed: no new windows, no
// navigation of the dashboard. The dashboard's policy keeps the frame at the player; so an archived page is not shown
// in a tab of its own. The policies of every answer allow connections to the player only. The player knows no token and
// no cookie of the dashboard; a ticket lets a browser see one page for some hours. Only the worker can read captures,
// with a key that no page can read; it says what each answer is for. The API refuses requests that pages of other
// origins send, see the package access. The worker accepts no messages and has no stored state, so that no archived
// page can change how another one is shown.
type player struct {
	o       playerOptions
	reading chan struct{} // one element for each capture that is read
}

// newPlayer returns a player.
func newPlayer(o playerOptions) *player {
	return &player{o: o, reading: make(chan struct{}, maxAnswers)}
}

// HasEngine reports whether a folder has the engine.
func HasEngine(folder string) bool {
	info, err := os.Stat(filepath.Join(folder, engineFile))
	return err == nil && info.Mode().IsRegular()
}

// ServeHTTP serves the pages of the player and the captures. Paths contain whole URIs, so they are not cleaned.
func (p *player) ServeHTTP(to http.ResponseWriter, from *http.Request) {
	h := to.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-DNS-Prefetch-Control", "off")
	h.Set("Connection-Allowlist", ownServer)
	h.Set("Content-Security-Policy", nothingAllowed)
	if from.Method != http.MethodGet && from.Method != http.MethodHead {
		to.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if p.o.Remote != nil && p.o.Remote.answers(to, from) {
		return
	}
	path, query, _ := strings.Cut(from.URL.RequestURI(), "?")
	isWorker := from.Header.Get("Service-Worker") == "script"
	switch {
	case path == "/sw.js" && query == "" && isWorker && from.Header.Get("Sec-Fetch-Dest") == "serviceworker":
		// Its query would configure the engine. No page can send this header, so none can read the key in the worker.
		p.page(to, "player/sw.js", "text/javascript", "default-src 'self'; script-src 'self' 'unsafe-eval'")
	case isWorker:
		p.refuse(to, http.StatusForbidden, "only the player has a service worker here")
	case path == "/engine/sw.js":
		h.Set("Content-Type", "text/javascript; charset=utf-8")
		http.ServeFile(to, from, filepath.Join(p.o.Engine, engineFile))
	case path == "/open.js":
		p.page(to, "player/open.js", "text/javascript", nothingAllowed)
	case path == "/open-other.js":
		p.page(to, "player/open-other.js", "text/javascript", nothingAllowed)
	case path == "/open.css":
		p.page(to, "player/open.css", "text/css", nothingAllowed)
	case strings.HasPrefix(path, "/open/") && from.Header.Get("Sec-Fetch-Dest") == "document":
		// Without the dashboard's frame around it, an archived page could leave for another server.
		p.refuse(to, http.StatusForbidden, "this page is shown only inside the dashboard; open the version there")
	case path == "/open-other":
		p.page(to, "player/open-other.html", "text/html", "default-src 'none'; script-src 'self'; style-src 'self'")
	case strings.HasPrefix(path, "/open/"):
		p.page(to, "player/open.html", "text/html", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; worker-src 'self'")
	case strings.HasPrefix(path, "/raw/"):
		p.raw(to, from, strings.TrimPrefix(from.URL.RequestURI(), "/raw/"))
	default:
		p.refuse(to, http.StatusNotFound, "there is no such page; open a version in the dashboard")
	}
}

// ownServer allows a page and the player's worker no connection but to the player. Unlike a content security policy, it
// also ends hints (preconnect), connections for frames that are then refused, and WebRTC. Only Chromium obeys it.
const ownServer = "(response-origin)"

// nothingAllowed is the policy of answers that are no pages of the player.
const nothingAllowed = "default-src 'none'; sandbox"

// page serves one of our files.
func (p *player) page(to http.ResponseWriter, name, mime, policy string) {
	text, err := playerFiles.ReadFile(name)
	if err != nil {
		p.refuse(to, http.StatusNotFound, err.Error()) // cannot happen: the file is embedded
		return
	}
	to.Header().Set("Content-Type", mime+"; charset=utf-8")
	to.Header().Set("Content-Security-Policy", policy)
	_, _ = to.Write(bytes.ReplaceAll(text, []byte("{{KEY}}"), []byte(p.o.Tickets.WorkerKey())))
}

// refuse answers with a sentence.
func (p *player) refuse(to http.ResponseWriter, status int, why string) {
	to.Header().Set("Content-Type", "text/plain; charset=utf-8")
	to.WriteHeader(status)
	_, _ = to.Write([]byte(why + "\n"))
}
