package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/frontier"
)

// Base is the path of all requests of the API.
const Base = "/api/v1"

// MissingHeader is the header of an answer that is not about the whole crawl. It says what is left out, and why.
const MissingHeader = "Arcrawl-Missing"

// ErrNoDaemon says that no daemon answers at the socket.
var ErrNoDaemon = errors.New("no arcrawl answers")

// Client sends requests to a daemon, through its socket or to its address.
type Client struct {
	http  http.Client
	place string // path of the socket, or the address
	base  string // address without the path of a request
	token string // for an address

	header  http.Header  // of each request
	missing func(string) // is called with what an answer leaves out; nil = nobody wants to know
}

// answerTimeout is the maximum time for an answer. The slowest requests read every URI.
const answerTimeout = 2 * time.Minute

// NewClient returns a client of the daemon behind a socket. It connects with the first request.
func NewClient(socket string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return DialSocket(ctx, socket) }
	return &Client{
		http:  http.Client{Transport: &http.Transport{DialContext: dial}, Timeout: answerTimeout},
		place: socket, base: "http://arcrawl",
	}
}

// NewRemote returns a client of the daemon at an http or https address, with a token for it. It follows no redirects,
// so that the token goes nowhere else.
func NewRemote(address, token string, within time.Duration) *Client {
	return &Client{
		http: http.Client{
			Transport:     &http.Transport{},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Timeout:       within,
		},
		place: address, base: strings.TrimSuffix(address, "/"), token: token,
	}
}

// Within sets the maximum time for an answer, and returns c.
func (c *Client) Within(most time.Duration) *Client {
	c.http.Timeout = most
	return c
}

// Missing calls do with what an answer leaves out of the whole crawl, and returns c.
func (c *Client) Missing(do func(what string)) *Client {
	c.missing = do
	return c
}

// With sends a header with each request, and returns c.
func (c *Client) With(header http.Header) *Client {
	c.header = header
	return c
}

// Close closes the connections that are not in use.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// MaxSocketPath is the maximum length of a unix socket's path on every system.
const MaxSocketPath = 100

// DialSocket connects to a unix socket. The path may be longer than [MaxSocketPath].
func DialSocket(ctx context.Context, path string) (net.Conn, error) {
	var d net.Dialer
	if len(path) <= MaxSocketPath {
		return d.DialContext(ctx, "unix", path)
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	conn, err := d.DialContext(ctx, "unix", ShortPath(folder, filepath.Base(path)))
	return conn, errors.Join(err, folder.Close())
}

// ShortPath returns a path of a file in an open folder that fits into a socket address. It needs /proc. Use it only for
// paths longer than [MaxSocketPath].
func ShortPath(folder *os.File, name string) string {
	return fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), name)
}

// send sends a request, and returns the answer unless it is a refusal. The caller closes its body.
func (c *Client) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		sent = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, sent)
	if err != nil {
		return nil, fmt.Errorf("ask the daemon: %w", err)
	}
	maps.Copy(r.Header, c.header)
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	got, err := c.http.Do(r)
	if err != nil {
		return nil, c.unanswered(err)
	}
	if got.StatusCode >= http.StatusMultipleChoices {
		return nil, errors.Join(problemOf(got), got.Body.Close())
	}
	return got, nil
}

// get sends a GET request of the API, and reads the answer.
func get[A any](ctx context.Context, c *Client, path string, query url.Values) (answer A, err error) {
	at := Base + path
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	got, err := c.send(ctx, http.MethodGet, at, nil)
	return read[A](c, got, err, "GET "+path)
}

// post sends a POST request of the API, and reads the answer. body may be nil.
func post[A any](ctx context.Context, c *Client, path string, body any) (answer A, err error) {
	got, err := c.send(ctx, http.MethodPost, Base+path, body)
	return read[A](c, got, err, "POST "+path)
}

// read reads an answer, unless sending the request has failed.
func read[A any](c *Client, got *http.Response, failed error, request string) (answer A, err error) {
	if failed != nil {
		return answer, failed
	}
	defer func() { err = errors.Join(err, got.Body.Close()) }()
	if what := got.Header.Get(MissingHeader); what != "" && c.missing != nil {
		c.missing(what)
	}
	if err := json.NewDecoder(io.LimitReader(got.Body, maxAnswer)).Decode(&answer); err != nil {
		return answer, fmt.Errorf("read the daemon's answer to %s: %w", request, err)
	}
	return answer, nil
}

// unanswered returns the error of a request without answer, with the reason.
func (c *Client) unanswered(err error) error {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w: no socket at %s", ErrNoDaemon, c.place)
	case errors.Is(err, syscall.ECONNREFUSED) && c.token != "":
		return fmt.Errorf("%w at %s", ErrNoDaemon, c.place)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w at %s; the socket is from an earlier run", ErrNoDaemon, c.place)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("open the socket %s: %w; it belongs to the user and group of the daemon; try sudo -u arcrawl, "+
			"or join the group", c.place, os.ErrPermission)
	}
	return fmt.Errorf("ask the daemon at %s: %w", c.place, err)
}

// maxAnswer is the maximum size of an answer in bytes. Lists of 10,000 rows are much smaller.
const maxAnswer = 256 << 20

// maxProblem is the maximum size of an error answer in bytes.
const maxProblem = 64 << 10

// Refusal is the error answer of a daemon.
type Refusal struct {
	Status int // HTTP status
	Why    string
}

// Error returns the reason.
func (r Refusal) Error() string { return r.Why }

func problemOf(got *http.Response) error {
	var p Problem
	text, err := io.ReadAll(io.LimitReader(got.Body, maxProblem))
	if err == nil && json.Unmarshal(text, &p) == nil && p.Error != "" {
		return Refusal{got.StatusCode, p.Error}
	}
	return Refusal{got.StatusCode, "the daemon answered " + got.Status}
}

// Health returns an error if the daemon is not alive.
func (c *Client) Health(ctx context.Context) error {
	got, err := c.send(ctx, http.MethodGet, "/healthz", nil)
	if err != nil {
		return err
	}
	return got.Body.Close()
}

// Status returns the state of the crawl.
func (c *Client) Status(ctx context.Context) (Status, error) {
	return get[Status](ctx, c, "/status", nil)
}

// SitesStatus returns the state of the hosts that a filter selects.
func (c *Client) SitesStatus(ctx context.Context, f config.Filter) (SitesStatus, error) {
	return get[SitesStatus](ctx, c, "/status/sites", only(url.Values{}, f))
}

// HostFilter selects hosts. The fields are the parameters of the API.
type HostFilter struct {
	Part, State, Sort string
	Limit, Offset     int // 0 means the default of the API
	Only              config.Filter
}

// Hosts returns a page of the list of hosts.
func (c *Client) Hosts(ctx context.Context, f HostFilter) (Hosts, error) {
	q := url.Values{"q": {f.Part}, "state": {f.State}, "sort": {f.Sort}, "offset": {strconv.Itoa(f.Offset)}}
	only(q, f.Only)
	if f.Limit > 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	return get[Hosts](ctx, c, "/hosts", q)
}

// Host returns the state of one host.
func (c *Client) Host(ctx context.Context, name string) (Host, error) {
	return get[Host](ctx, c, "/hosts/"+url.PathEscape(name), nil)
}

// HostNames returns the hosts that are shown differently from their names.
func (c *Client) HostNames(ctx context.Context) (HostNames, error) {
	return get[HostNames](ctx, c, "/names", nil)
}

// Alarms returns the raised alarms, newest first: all, or those about hosts that a filter selects.
func (c *Client) Alarms(ctx context.Context, f config.Filter) (Alarms, error) {
	return get[Alarms](ctx, c, "/alarms", only(url.Values{}, f))
}

// Acknowledge records that somebody knows of alarms, or takes that back.
func (c *Client) Acknowledge(ctx context.Context, o Acknowledge) (Acknowledged, error) {
	return post[Acknowledged](ctx, c, "/alarms/acknowledge", o)
}

// Audit returns who changed what, newest first. days is 0 for all.
func (c *Client) Audit(ctx context.Context, f AuditFilter, days int) (Audit, error) {
	q := url.Values{"who": {f.Who}, "what": {f.What}}
	if days > 0 {
		q.Set("days", strconv.Itoa(days))
	}
	if f.Limit > 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	return get[Audit](ctx, c, "/audit", q)
}

// Config describes the configuration in force.
func (c *Client) Config(ctx context.Context) (Config, error) {
	return get[Config](ctx, c, "/config", nil)
}

// Headers returns how reliable validators and dates are.
func (c *Client) Headers(ctx context.Context, f config.Filter) (HeaderReport, error) {
	return get[HeaderReport](ctx, c, "/reports/headers", only(url.Values{}, f))
}

// Log returns lines of the crawl log, as a question of GET /log selects them.
func (c *Client) Log(ctx context.Context, q url.Values, f config.Filter) (Log, error) {
	return get[Log](ctx, c, "/log", only(q, f))
}

// New returns what is new, as a question of GET /new selects it.
func (c *Client) New(ctx context.Context, q url.Values) (New, error) {
	return get[New](ctx, c, "/new", q)
}

// Pause pauses the crawl, optionally for a given time.
func (c *Client) Pause(ctx context.Context, why Reason) (Condition, error) {
	return post[Condition](ctx, c, "/pause", why)
}

// Resume resumes a paused crawl.
func (c *Client) Resume(ctx context.Context) (Condition, error) {
	return post[Condition](ctx, c, "/resume", nil)
}

// AddSeeds adds URIs, due now.
func (c *Client) AddSeeds(ctx context.Context, uris []string) (Added, error) {
	return post[Added](ctx, c, "/seeds", Seeds{URIs: uris})
}

// OverdueFilter holds the parameters of [Client.Overdue].
type OverdueFilter struct {
	By, Host string
	Only     config.Filter // of hosts
	Limit    int           // 0 means the default of the API
	MaxAge   time.Duration // maximum age of the survey, in whole seconds; 0 makes a new one
}

// Overdue returns the overdue URIs and when the backlog will clear.
func (c *Client) Overdue(ctx context.Context, f OverdueFilter) (Overdue, error) {
	q := url.Values{"by": {f.By}, "host": {f.Host}, "max_age": {strconv.Itoa(int(f.MaxAge / time.Second))}}
	only(q, f.Only)
	if f.Limit > 0 {
		q.Set("limit", strconv.Itoa(f.Limit))
	}
	return get[Overdue](ctx, c, "/overdue", q)
}

// Days reports on the last days of a host, or of all hosts that a filter selects if it is empty.
func (c *Client) Days(ctx context.Context, host string, f config.Filter, days int) (DayReport, error) {
	q := only(url.Values{"host": {host}, "days": {strconv.Itoa(days)}}, f)
	return get[DayReport](ctx, c, "/reports/days", q)
}

// only adds a filter of hosts to a query, and returns the query.
func only(q url.Values, f config.Filter) url.Values {
	for name, value := range map[string]string{"label": f.Label, "collection": f.Collection, "owner": f.Owner} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// Why explains the state of a URI and its next visit.
func (c *Client) Why(ctx context.Context, text string) (Why, error) {
	return get[Why](ctx, c, "/why", url.Values{"uri": {text}})
}

// WhyNot returns which rule keeps a URI out of the crawl, if any.
func (c *Client) WhyNot(ctx context.Context, q whatif.Question) (WhyNot, error) {
	v := url.Values{"uri": {q.URI.String()}}
	if !q.Via.IsZero() {
		v.Set("via", q.Via.String())
	}
	if q.Hop != 0 {
		v.Set("hop", string(rune(q.Hop)))
	}
	return get[WhyNot](ctx, c, "/why-not", v)
}

// Reload makes the daemon reload its configuration.
func (c *Client) Reload(ctx context.Context, dryRun bool) (Reloaded, error) {
	return post[Reloaded](ctx, c, "/reload", ReloadOrder{DryRun: dryRun})
}

// Plan returns the effect of a staged configuration and changes nothing.
func (c *Client) Plan(ctx context.Context, s Staged) (Reloaded, error) {
	return post[Reloaded](ctx, c, "/reload", ReloadOrder{Staged: &s})
}

// Traps returns the traps of a host, or of all hosts if it is empty.
func (c *Client) Traps(ctx context.Context, host string) (Traps, error) {
	return get[Traps](ctx, c, "/traps", url.Values{"host": {host}})
}

// ReleaseTrap releases a trap permanently.
func (c *Client) ReleaseTrap(ctx context.Context, host, pattern string) (TrapReleased, error) {
	return post[TrapReleased](ctx, c, "/traps/release", TrapRelease{Host: host, Pattern: pattern})
}

// The following methods do for a running daemon what the methods of [frontier.Frontier] do for an open store.

// List returns up to n selected URIs after a cursor; see [frontier.Frontier.List].
func (c *Client) List(
	ctx context.Context, s frontier.Selection, from frontier.Cursor, n int,
) ([]frontier.Entry, frontier.Cursor, error) {
	sel := selectOf(s, from)
	sel.Limit = n
	l, err := post[List](ctx, c, "/frontier/list", sel)
	return l.Entries, frontier.Cursor(l.Next), err
}

// Count counts selected URIs after a cursor; see [frontier.Frontier.Count].
func (c *Client) Count(
	ctx context.Context, s frontier.Selection, from frontier.Cursor,
) (int64, frontier.Cursor, error) {
	n, err := post[Count](ctx, c, "/frontier/count", selectOf(s, from))
	return n.Count, frontier.Cursor(n.Next), err
}

// Steer executes an action on the next selected URIs after a cursor; see [frontier.Frontier.Steer].
func (c *Client) Steer(
	ctx context.Context, s frontier.Selection, a frontier.Action, from frontier.Cursor,
) (frontier.Steered, frontier.Cursor, error) {
	done, err := post[Ordered](ctx, c, "/frontier/steer", Order{
		Select: selectOf(s, from), All: s.IsAll(), Verb: string(a.Verb), Due: Moment(a.Due), Spread: Seconds(a.Spread),
	})
	return done.Steered, frontier.Cursor(done.Next), err
}

// Import imports at most 1000 URIs with their histories; see [frontier.Frontier.Import].
func (c *Client) Import(ctx context.Context, replace bool, entries ...frontier.Entry) (frontier.Imported, error) {
	return post[frontier.Imported](ctx, c, "/frontier/import", Import{Replace: replace, Entries: entries})
}

// SteerHosts executes an action on the hosts that match a pattern; see [frontier.Frontier.SteerHosts].
func (c *Client) SteerHosts(
	ctx context.Context, pattern string, a frontier.HostAction,
) (matched, changed int64, err error) {
	o := HostOrder{Pattern: pattern, Verb: string(a.Verb), Until: Moment(a.Until)}
	done, err := post[HostsOrdered](ctx, c, "/frontier/hosts", o)
	return done.Matched, done.Changed, err
}

func selectOf(s frontier.Selection, from frontier.Cursor) Select {
	sel := Select{Host: s.Host, Prefix: s.Prefix, Cursor: string(from)}
	for _, u := range s.URIs {
		sel.URIs = append(sel.URIs, u.String())
	}
	for _, state := range s.States {
		sel.States = append(sel.States, string(state))
	}
	if s.Match != nil {
		sel.Match = s.Match.String()
	}
	return sel
}
