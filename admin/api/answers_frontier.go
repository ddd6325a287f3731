package api

import (
	"context"
	"encoding/json"
	"time"

	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/frontier"
)

// Select selects URIs. All criteria that are set must hold.
type Select struct {
	URIs   []string `json:"uris,omitempty"`   // one of these, at most 10,000
	Host   string   `json:"host,omitempty"`   // on this host; "*.example.org" includes hosts below it
	Prefix string   `json:"prefix,omitempty"` // the canonical form starts with this
	Match  string   `json:"match,omitempty"`  // regular expression that matches part of the canonical form
	// States that must all hold: due, waiting, on-demand, in-progress, held, forbidden, rejected, failing, gone, new.
	States []string `json:"states,omitempty"`
	Cursor string   `json:"cursor,omitempty"` // "next" of an earlier answer
	Limit  int      `json:"limit,omitempty"`  // maximum length of a list, up to 1000 (default 100)
}

// List is a part of the selected URIs. Next is empty at the end. A part can be empty without being the last.
type List struct {
	Entries []frontier.Entry `json:"entries"`
	Next    string           `json:"next"`
}

// Count is the number of selected URIs up to Next.
type Count struct {
	Count int64  `json:"count"`
	Next  string `json:"next"`
}

// Order is an order for the selected URIs.
type Order struct {
	Select Select     `json:"select"`
	All    bool       `json:"all,omitempty"` // required to select all URIs with an empty selection
	Verb   string     `json:"verb"`          // force, reschedule, hold, release or forget
	Due    *time.Time `json:"due,omitempty"` // for reschedule
	Spread Seconds    `json:"spread_seconds,omitempty"`
}

// Ordered is the result of an order for some dozens of URIs. The rest starts at Next.
type Ordered struct {
	frontier.Steered
	Next string `json:"next"`
}

// HostOrder is an order for hosts.
type HostOrder struct {
	Pattern string     `json:"pattern"`         // a host; "*.example.org" includes hosts below it; "*" means all
	Verb    string     `json:"verb"`            // pause, resume, rest or wake
	Until   *time.Time `json:"until,omitempty"` // for rest
}

// HostsOrdered is the result of an order for hosts.
type HostsOrdered struct {
	Matched int64 `json:"matched"`
	Changed int64 `json:"changed"`
}

// Import is a list of URIs with their histories.
type Import struct {
	Replace bool             `json:"replace,omitempty"` // replace known URIs
	Entries []frontier.Entry `json:"entries"`
}

// Why explains the state of a URI and its next visit.
type Why struct {
	URI   URI    `json:"uri"`   // its history
	State string `json:"state"` // "in progress", "held", "due", "waiting" or "on demand"

	Next string     `json:"next"`         // in words: when it is visited, or what prevents that
	At   *time.Time `json:"at,omitempty"` // estimated time of the next visit; null if something prevents it
	Why  string     `json:"why"`          // reason for its due time: the wait evaluator and its computation
	// Chain says who decided about the due time, and who overruled whom; empty if nobody was overruled.
	Chain string `json:"chain,omitempty"`

	Hint string `json:"hint,omitempty"` // what usually helps against the last answer, if it came instead of the page

	Noise string `json:"noise,omitempty"` // why it seems to differ at each fetch without being new

	Ahead    int64   `json:"ahead"` // URIs of its host that come before it; counted up to 10,000
	Host     Host    `json:"host"`
	Delay    Seconds `json:"delay_seconds"` // between two visits through one slot of its host
	Observed bool    `json:"observed"`      // Delay was measured; false: computed from the settings

	Rules    []Rule    `json:"rules"`    // results of scope and robots.txt
	Settings []Setting `json:"settings"` // settings of its next visit that are not defaults
}

// Setting is a setting in force for a visit, with its source.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"` // file:line
}

// Rule is the result of one rule for a URI.
type Rule struct {
	Opinion string `json:"opinion"` // "accepts", "rejects", or "–" if the rule does not apply
	Rule    string `json:"rule"`
	Why     string `json:"why"`
	Where   string `json:"where,omitempty"` // file and line
}

// WhyNot says whether something keeps a URI out of the crawl.
type WhyNot struct {
	URI   string `json:"uri"`
	Known bool   `json:"known"`            // the URI is in the frontier
	Out   string `json:"reason,omitempty"` // why it is kept out or not visited; empty if it is visited
	Rule  string `json:"rule,omitempty"`   // the rule that keeps it out, as in Rules
	Rules []Rule `json:"rules"`
}

// Traps is a list of traps.
type Traps struct {
	Traps   []Trap   `json:"traps" join:"traps"`             // at most 10,000
	More    bool     `json:"more" join:"traps"`              // there are more
	Budgets []Budget `json:"budgets,omitempty" join:"traps"` // at most 10,000
}

// Budget is a path with parameters that may be an endless space, and has a budget until that is clear.
type Budget struct {
	Host string `json:"host"`
	spaces.Pattern
	Waiting  int64    `json:"waiting"` // known URIs that were never visited
	Examples []string `json:"examples"`
}

// Trap is a part of a host with endless URIs, which is kept out of the crawl.
type Trap struct {
	Host string `json:"host"`
	spaces.Trap
	Examples  []string `json:"examples"`
	Rule      string   `json:"rule,omitempty"`       // lines for the host file that would keep it out permanently
	FreeFrom  string   `json:"free_from,omitempty"`  // for a calendar: first day outside of the trap
	FreeUntil string   `json:"free_until,omitempty"` // last day outside of the trap
}

// TrapRelease is an order to release a trap.
type TrapRelease struct {
	Host    string `json:"host"`
	Pattern string `json:"pattern"` // as in the list of traps or budgets
}

// TrapReleased is the result of releasing a trap.
type TrapReleased struct {
	Due int64 `json:"due"` // its URIs in the store, which are due now
}

// Queue holds the next URIs of a host.
type Queue struct {
	URIs     []Waiting `json:"uris"`            // a page of it
	More     bool      `json:"more"`            // there are further pages
	Found    int       `json:"found,omitempty"` // URIs that were read and selected; absent in the queue's own order
	Complete bool      `json:"complete"`        // all URIs of the host were read
}

// Waiting is a URI in a queue.
type Waiting struct {
	URI        string    `json:"uri"`
	Title      string    `json:"title,omitempty"` // of the last capture that differed
	Due        time.Time `json:"due"`
	Wait       Seconds   `json:"wait_seconds"`
	Visits     int       `json:"visits"`
	Versions   int       `json:"versions"`
	LastStatus int       `json:"last_status"`
	// Out says why it was not visited when it was due last, such as "robots.txt forbids it"; empty if it was visited.
	Out string `json:"kept_out,omitempty"`
}

// Log holds lines of the crawl log.
type Log struct {
	Lines []LogLine `json:"lines" join:"log lines"` // by time, the oldest first
	Read  time.Time `json:"read" join:"min"`        // no line before this time is still to come
	More  bool      `json:"more" join:"or"`         // not all was read: ask again with next, or for more seconds
	Gap   bool      `json:"gap" join:"or"`          // the file that was read last is gone, and perhaps some lines
	// Next is the parameter after of a question for the lines after these: by node, where its log was read to.
	Next map[string]json.RawMessage `json:"next" join:"positions"`
}

// LogLine is a line of the crawl log.
type LogLine struct {
	At   time.Time `json:"at"`
	Node string    `json:"node,omitempty"` // of a cluster, whose log has the line
	Line string    `json:"line"`
}

// DedupReport summarizes deduplication, from the current crawl log.
type DedupReport struct {
	From     time.Time  `json:"from" join:"min"`     // time of the first line that was read, in the logs of all nodes
	Complete bool       `json:"complete" join:"and"` // false: the log has earlier lines
	All      DedupRow   `json:"all" join:"parts"`
	Hosts    []DedupRow `json:"hosts" join:"rows"` // hosts with the most visits
	Types    []DedupRow `json:"types" join:"rows"` // the same for MIME types
}

// DedupRow summarizes deduplication for a host or a MIME type.
type DedupRow struct {
	Key            string `json:"key,omitempty" join:"first"`
	Handled        int64  `json:"handled" join:"sum"` // responses whose payload was looked up
	Bytes          int64  `json:"bytes" join:"sum"`   // of these responses
	New            int64  `json:"new" join:"sum"`
	Duplicates     int64  `json:"duplicates" join:"sum"`
	Exact          int64  `json:"exact" join:"sum"`      // in the archive under the same URI
	Equivalent     int64  `json:"equivalent" join:"sum"` // under an equivalent URI
	Other          int64  `json:"other" join:"sum"`      // under another URI
	DiscardedBytes int64  `json:"discarded_bytes" join:"sum"`
}

// Overdue reports the overdue URIs, and whether the backlog will clear.
type Overdue struct {
	AsOf time.Time `json:"as_of" join:"overdue"`        // time of the survey of every URI
	Age  Seconds   `json:"age_seconds" join:"overdue"`  // since then
	Took Seconds   `json:"took_seconds" join:"overdue"` // duration of the survey
	By   string    `json:"by" join:"overdue"`           // one row for each "host", "mime" or "wait"
	Host string    `json:"host,omitempty" join:"overdue"`

	All  Backlog   `json:"all" join:"overdue"`  // everything together
	Rows []Backlog `json:"rows" join:"overdue"` // most overdue first, at most 1000
	More int       `json:"more" join:"overdue"` // number of rows left out
}

// Backlog counts the URIs of a host, a media type or a class of waits. Fields after Demand are for hosts only.
type Backlog struct {
	Name   string  `json:"name"`
	URIs   int64   `json:"uris"`        // with a due time
	Due    int64   `json:"due"`         // due now
	Most   Seconds `json:"max_seconds"` // longest overdue time
	P50    Seconds `json:"p50_seconds"` // half of the due URIs are overdue for longer
	P90    Seconds `json:"p90_seconds"`
	P99    Seconds `json:"p99_seconds"`
	Demand float64 `json:"demand_per_hour"` // visits that the waits ask for

	Late *Lateness `json:"late,omitempty"` // how many are overdue for how long, if the request asks for it

	Delay    Seconds `json:"delay_seconds"`     // between two visits through one slot
	Observed bool    `json:"observed"`          // Delay was measured; false: computed from the settings
	Capacity float64 `json:"capacity_per_hour"` // visits that this delay allows

	// Ends says in words when the backlog will be gone; the three fields below say it in numbers. GoneIn is null if the
	// backlog never ends, or if the host is unreachable. In a backlog that never ends, a delay of at most NeedsDelay would
	// end it, or FewerURIs URIs less.
	Ends       string   `json:"ends,omitempty"`
	GoneIn     *Seconds `json:"gone_in_seconds,omitempty"`
	NeedsDelay *Seconds `json:"needs_delay_seconds,omitempty"`
	FewerURIs  int64    `json:"fewer_uris,omitempty"`

	// Promise says in words whether this delay meets the capture targets of the host, if it has any. Share is the share of
	// versions that can be captured.
	Promise string  `json:"promise,omitempty"`
	Share   float64 `json:"captured_share,omitempty"`

	// Endless lists paths of the host that may be endless, and have a budget until that is clear.
	Endless []EndlessPath `json:"endless,omitempty"`
}

// Lateness counts URIs by the time that they are overdue, in classes: each power of two of milliseconds has sixteen.
type Lateness struct {
	First  int     `json:"first"`  // number of the first class
	Counts []int64 `json:"counts"` // of URIs, in each class from there on
}

// EndlessPath is a path with parameters that may have URIs without end.
type EndlessPath struct {
	Path    string  `json:"path"` // with the names of the parameters
	URIs    int64   `json:"uris"`
	Waiting int64   `json:"waiting"`         // of these, URIs that were never visited
	Demand  float64 `json:"demand_per_hour"` // visits that the waits of the others ask for
}

// DayReport holds the requests and versions of a period, by host and day.
type DayReport struct {
	All   DayRow   `json:"all" join:"days"`
	Days  []DayRow `json:"days" join:"days"`  // all hosts together, oldest first
	Weeks []DayRow `json:"weeks" join:"days"` // the days by weeks, each with the date of its Monday
	Hosts []DayRow `json:"hosts" join:"days"` // all days together, at most 1,000; most missed versions first
	Rows  []DayRow `json:"rows" join:"days"`  // each host and day, at most 10,000
	More  bool     `json:"more" join:"days"`  // there are more
	// Hosts that cannot meet their capture target, at most 1,000; most lost versions first.
	Pace []HostPace `json:"pace" join:"days"`
}

// DayRow is a day, a host, or a host on a day.
type DayRow struct {
	Day      string  `json:"day,omitempty"` // of UTC, such as 2026-11-21
	Host     string  `json:"host,omitempty"`
	Requests int     `json:"requests"`
	Seen     int     `json:"versions_seen"`
	Versions float64 `json:"versions_estimated"`   // estimated number of all versions; at least Seen
	Share    float64 `json:"share"`                // captured share of them; 0 if there were none or it is unknown
	Low      float64 `json:"share_low,omitempty"`  // the share is between Low and High on nine hosts of ten; 0 = unknown
	High     float64 `json:"share_high,omitempty"` // see Low
	Each     float64 `json:"requests_per_version"`
	// Versions of URIs that changed at every visit so far. If most are, nothing bounds the share.
	Blind   int    `json:"versions_blind,omitempty"`
	Unknown string `json:"share_unknown,omitempty"` // why the share is not known
	// How many versions fewer than estimated were missed, at Share High.
	Fewer float64 `json:"missed_fewer,omitempty"`
	More  float64 `json:"missed_more,omitempty"` // how many more, at Share Low
	Text  string  `json:"text"`                  // the same in words
}

// SitesStatus is the state of the hosts that a label, collection or owner selects.
type SitesStatus struct {
	Now       time.Time     `json:"now" join:"max"`
	Condition Condition     `json:"condition" join:"condition"` // of the whole crawl
	Hosts     HostCounts    `json:"hosts" join:"parts"`
	Down      []Unreachable `json:"unreachable" join:"unreachable"` // most failures first, at most 20
	URIs      URICounts     `json:"uris" join:"parts"`              // without the number of due ones, which is -1
	Busy      int           `json:"busy" join:"sum"`                // visits in progress
	Visits    []Visit       `json:"visits" join:"longest"`          // some of them, longest first
	Today     DayRow        `json:"today" join:"today"`             // of UTC
	Alarms    []Alarm       `json:"alarms" join:"alarms"`           // raised now, about these hosts
}

// HostPace says what a host would need to meet its capture target.
type HostPace struct {
	Host    string  `json:"host"`
	Promise string  `json:"promise"`        // in words
	Share   float64 `json:"captured_share"` // share of versions that its pace can capture
	Lost    float64 `json:"versions_lost"`  // versions a day below the target
}

// Counts holds the results of the visits in a period.
type Counts struct {
	Visits    int64 `json:"visits" join:"sum"`    // settled, with any result
	Versions  int64 `json:"versions" join:"sum"`  // captured: first visits and changes
	Unchanged int64 `json:"unchanged" join:"sum"` // visits that found nothing new
	Unread    int64 `json:"unread" join:"sum"`    // unchanged visits that did not read the body
	Failed    int64 `json:"failed" join:"sum"`    // failures
	Refused   int64 `json:"refused" join:"sum"`   // not requested because of robots.txt or scope
	Found     int64 `json:"found" join:"sum"`     // new URIs
	Received  int64 `json:"received" join:"sum"`  // transferred bytes of responses
	Spared    int64 `json:"spared" join:"sum"`    // bytes not transferred, estimated from the last capture
	Deduped   int64 `json:"deduped" join:"sum"`   // bytes transferred but not stored again
	Written   int64 `json:"written" join:"sum"`   // compressed bytes added to the archive
	Down      int64 `json:"down" join:"sum"`      // visits that did not reach their host
	// Bodies not received for lack of disk space, or beyond the quota of a day.
	NoSpace int64 `json:"no_space" join:"sum"`
}

// Plus returns the sum of two counts.
func (c Counts) Plus(d Counts) Counts {
	return Counts{
		Visits: c.Visits + d.Visits, Versions: c.Versions + d.Versions, Unchanged: c.Unchanged + d.Unchanged,
		Unread: c.Unread + d.Unread, Failed: c.Failed + d.Failed, Refused: c.Refused + d.Refused, Found: c.Found + d.Found,
		Received: c.Received + d.Received, Spared: c.Spared + d.Spared, Deduped: c.Deduped + d.Deduped,
		Written: c.Written + d.Written, Down: c.Down + d.Down, NoSpace: c.NoSpace + d.NoSpace,
	}
}

// LostFiles is an order about WARC files: what was in them is archived again, or not.
type LostFiles struct {
	Files []string `json:"files"` // names, without folders
	Are   string   `json:"state"` // lost, moved or found
}

// LostAnswer is the result of an order about WARC files.
type LostAnswer struct {
	Changed int    `json:"changed"` // files whose state was another
	Losses  []Loss `json:"losses"`  // all lost and moved files, at most 10,000
}

// Loss is a WARC file of which part is lost, or which was moved.
type Loss struct {
	File    string `json:"file"`
	From    int64  `json:"from_byte"` // the part from this byte on is lost
	Cause   string `json:"cause"`     // cut off, absent, declared lost or moved
	Pending bool   `json:"pending"`   // the URIs whose payload was in it are not due yet
}

// maxLosses is the maximum number of losses in an answer.
const maxLosses = 10_000

// LossesOf returns losses as an answer has them.
func LossesOf(all []dedup.Loss) []Loss {
	list := []Loss{}
	for _, l := range all[:min(len(all), maxLosses)] {
		list = append(list, Loss{File: l.File, From: l.From, Cause: l.Cause.String(), Pending: l.Pending})
	}
	return list
}

// CountLosses returns the numbers of losses by cause.
func CountLosses(all []dedup.Loss) (n Lost) {
	for _, l := range all {
		switch l.Cause {
		case dedup.Absent:
			if n.Absent++; n.Example == "" {
				n.Example = l.File
			}
		case dedup.CutOff:
			if l.From > 0 { // otherwise it is a file of an earlier archive that was removed
				n.CutOff++
			}
		case dedup.Declared:
			n.Declared++
		}
	}
	return n
}

// Lose records that WARC files are lost, moved or found. The daemon then makes the URIs of lost files due, in the
// background.
func (c *Client) Lose(ctx context.Context, o LostFiles) (LostAnswer, error) {
	return post[LostAnswer](ctx, c, "/archive/lost", o)
}

// Me says who sends a request, and what the caller may do.
type Me struct {
	Name string `json:"name"` // of the user or token; "" if it is not known
	Way  string `json:"way"`  // "socket", "token", "session", "proxy", or "node": through another node
	Role string `json:"role"` // "read", "curate" or "operate"
}

// Users lists who may use the dashboard and the API. It has no secrets.
type Users struct {
	File   string      `json:"file"`   // of the users
	Users  []UserName  `json:"users"`  // people
	Tokens []TokenName `json:"tokens"` // of programs
}

// The verbs of a [UserOrder].
const (
	AddUser     = "add"
	SetRole     = "role"
	NewPassword = "password"
	RemoveUser  = "remove"
)

// UserOrder changes a user or a token.
type UserOrder struct {
	Verb  string `json:"verb"` // add, role, password or remove; of tokens only add and remove
	Name  string `json:"name"`
	Role  string `json:"role,omitempty"`  // read, curate or operate; for add and role
	Token bool   `json:"token,omitempty"` // a token of a program; false: a user
	// NoPassword adds a user whom only a proxy names.
	NoPassword bool `json:"no_password,omitempty"`
}

// UserChanged is the result of a [UserOrder].
type UserChanged struct {
	Secret string `json:"secret,omitempty"` // the new password or token
}

// Recorded returns what the audit log has of the answer: nothing, because it may have a secret.
func (UserChanged) Recorded() any { return nil }

// UserName is a user without the password.
type UserName struct {
	Name     string `json:"name"`
	Role     string `json:"role"`
	Password bool   `json:"password"` // false: only a proxy can name the user
}

// TokenName is a token without its secret.
type TokenName struct {
	Name string `json:"name"`
	Role string `json:"role"`
}
