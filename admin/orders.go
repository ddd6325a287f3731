package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
)

// errBusy says that too many requests of one kind wait.
var errBusy = errors.New("too many requests of this kind are in progress; repeat it in some seconds")

// The bounds of heavy requests.
const (
	heavyAtOnce  = 2
	heavyWaiting = 16
)

// maxResult is the maximum length of an error in the audit log, in bytes.
const maxResult = 1000

// Orders reports whether a request changes something.
func (r Route) Orders() bool { return r.Method != http.MethodGet && !r.Asks }

// ServeRoute answers a request. A request that changes something needs a role, and is recorded.
func (w *Window) ServeRoute(r Route, from *http.Request) (any, error) {
	caller := access.CallerOf(from.Context())
	err := r.refusal(caller)
	switch {
	case err != nil && (caller.Role < access.Read || !r.Orders()):
		return nil, err
	case err == nil && r.Heavy:
		leave, ok := w.heavy.Enter(from.Context())
		if !ok {
			return nil, errBusy
		}
		defer leave()
	}
	if !r.Orders() {
		return r.Serve(w, from)
	}
	order := recorder{body: from.Body}
	from.Body = &order
	var answer any
	if err == nil {
		answer, err = r.Serve(w, from)
	}
	body, recorded := order.kept, answer
	if r.Private { // the answer says which file was written
		body, _ = json.Marshal(answer)
		recorded = nil
	}
	if a, ok := answer.(interface{ Recorded() any }); ok {
		recorded = a.Recorded()
	}
	w.recordOrder(caller, strings.TrimPrefix(r.Path, api.Base+"/"), body, recorded, err)
	return answer, err
}

// Role returns the role that a caller needs. An order whose role is not written down needs the highest.
func (r Route) Role() access.Role {
	switch {
	case r.Needs != access.None:
		return r.Needs
	case r.Orders():
		return access.Operate
	}
	return access.Read
}

// refusal returns an error if a caller may not send a request.
func (r Route) refusal(c access.Caller) error {
	if c.Role >= r.Role() {
		return nil
	}
	return fmt.Errorf("%w: %s; you have the role %s; see arcrawl user", ErrRole, r.Role(), c.Role)
}

// recordSignIn records who signed in or changed a password, and logs who was refused. Names that nobody has may be
// passwords, so they are not written down.
func (w *Window) recordSignIn(s access.SignIn) {
	if !s.Done {
		w.o.Log.Warn().Str("who", s.Name).Str("way", s.Way).Str("from", s.From).
			Msg("refused a name and password; further attempts from there are limited")
		return
	}
	w.record(api.AuditEntry{Time: s.Time, Who: s.Name, Way: s.Way, What: s.What, Result: access.OrderDone})
}

// recordOrder writes an order and its result to the audit log and the journal.
func (w *Window) recordOrder(by access.Caller, what string, order []byte, answer any, failed error) {
	e := api.AuditEntry{Time: w.o.Now(), Who: by.Name, Way: by.Way, What: what, Order: order, Result: access.OrderDone}
	if failed != nil {
		e.Result = failed.Error()
		e.Result = e.Result[:min(len(e.Result), maxResult)]
	} else if text, err := json.Marshal(answer); err == nil {
		e.Answer = text
	}
	w.o.Log.Info().Str("order", what).Str("who", by.Name).Str("way", by.Way).Str("result", e.Result).
		Msg("received an order; arcrawl audit shows all")
	w.record(e)
}

// record appends an entry to the audit log. A failure does not prevent the order.
func (w *Window) record(e api.AuditEntry) {
	if err := w.audit.Add(e); err != nil {
		w.o.Log.Error().Err(err).Str("order", e.What).Msg("could not record an order: the audit log is incomplete")
	}
}

// configChange describes a configuration that came into force.
type configChange struct {
	Before string        `json:"before"` // digests
	After  string        `json:"after"`
	Loaded time.Time     `json:"loaded"`
	Files  []changedFile `json:"files"` // changed since the last time
}

// recordConfig records that another configuration is in force, with the files that were edited and their owners.
func (w *Window) recordConfig(now time.Time) {
	l := w.o.Config()
	if l.Config.Digest == w.inForce {
		return
	}
	e := api.AuditEntry{Time: now, Way: "files", What: "configuration", Result: access.OrderDone}
	files := changedFiles(w.inForceAt, l.Config.Path, filepath.Join(l.Config.HostsDir, "*.toml"))
	change := configChange{Before: w.inForce, After: l.Config.Digest, Loaded: l.At.UTC(), Files: files}
	if text, err := json.Marshal(change); err == nil {
		e.Order = text
	}
	w.inForce, w.inForceAt = l.Config.Digest, l.At
	w.updateNames(l.Config)
	w.record(e)
}

// auditRoutes returns the request for the audit log.
func auditRoutes() []Route {
	return []Route{{
		Method: "GET", Path: api.Base + "/audit", Doc: "Returns who changed what, newest first.", Answer: api.Audit{},
		Params: []Param{
			{"who", "string", "only entries of this user or token"},
			{"what", "string", "only this kind of order, for example pause or frontier/steer"},
			{"days", "integer", "only entries of the last days, 1 to 36500 (default: all)"},
			{"limit", "integer", "maximum number of entries, 1 to 10000 (default 100)"},
		},
		Serve: func(w *Window, r *http.Request) (any, error) {
			days, err := Number(r, "days", 0, 1, 36500)
			if err != nil {
				return nil, err
			}
			limit, err := Number(r, "limit", 100, 1, 10_000)
			if err != nil {
				return nil, err
			}
			f := api.AuditFilter{Who: r.FormValue("who"), What: r.FormValue("what"), Limit: limit}
			if days > 0 {
				f.Since = w.o.Now().AddDate(0, 0, -days)
			}
			entries, err := access.ReadAudit(w.o.Dir, f)
			if err != nil {
				return nil, fmt.Errorf("read the audit log: %w", err)
			}
			return api.Audit{Entries: entries}, nil
		},
	}}
}
