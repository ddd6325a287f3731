package api

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/arcrawl/arcrawl/config"
)

// Seconds is a duration that is a number of seconds in JSON.
type Seconds time.Duration

// MarshalJSON writes the seconds with their fraction.
func (s Seconds) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).Seconds()) }

// UnmarshalJSON reads a number of seconds.
func (s *Seconds) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return fmt.Errorf("seconds: %w", err)
	}
	*s = Seconds(f * float64(time.Second))
	return nil
}

// Status is the state of the crawl at one moment.
type Status struct {
	Version  string `json:"version" join:"texts"`
	Instance string `json:"instance" join:"first"` // admin.instance, or operator.name if it is not set

	Now     time.Time `json:"now" join:"max"`
	Started time.Time `json:"started" join:"min"`
	Uptime  Seconds   `json:"uptime_seconds" join:"max"`

	Condition Condition `json:"condition" join:"condition"` // whether it crawls, and if not, why

	LastMinute Counts `json:"last_minute" join:"parts"`
	LastHour   Counts `json:"last_hour" join:"parts"`
	LastDay    Counts `json:"last_day" join:"parts"`

	Hosts   HostCounts    `json:"hosts" join:"parts"`
	Down    []Unreachable `json:"unreachable" join:"unreachable"` // hosts, most failures first, at most 20
	URIs    URICounts     `json:"uris" join:"parts"`
	Workers Workers       `json:"workers" join:"parts"`

	Rendering Rendering `json:"rendering" join:"parts"`

	Disk    Disk    `json:"disk" join:"least free"`
	Archive Archive `json:"archive" join:"parts"`
	Config  Config  `json:"config" join:"parts"`
	Alarms  []Alarm `json:"alarms" join:"alarms"` // raised now

	// Wings has what wings of the program add, by their names.
	Wings map[string]json.RawMessage `json:"wings,omitempty" join:"wings"`
}

// Condition says whether the crawl runs.
type Condition struct {
	State string     `json:"state"`           // "crawling", "paused" by an operator, or "held" by a fault of its own
	Why   string     `json:"why,omitempty"`   // the reason, if it does not crawl
	Since *time.Time `json:"since,omitempty"` // the start of a pause or fault
	Until *time.Time `json:"until,omitempty"` // the automatic end of a pause
}

// The states of a crawl.
const (
	Crawling = "crawling"
	Paused   = "paused"
	Held     = "held"
)

// HostCounts holds the number of hosts in each state. Hosts that are down are also counted in their state.
type HostCounts struct {
	Known   int64 `json:"known" join:"sum"`
	Ready   int64 `json:"ready" join:"sum"`   // have a URI that can be visited now
	Snoozed int64 `json:"snoozed" join:"sum"` // rest, or have no URI due yet
	Busy    int64 `json:"busy" join:"sum"`    // have no free slot
	Idle    int64 `json:"idle" join:"sum"`    // have no URI to visit
	Paused  int64 `json:"paused" join:"sum"`  // by an operator
	Down    int64 `json:"down" join:"sum"`    // were unreachable at the last visit
}

// Add counts a host in a state.
func (n *HostCounts) Add(state string, down bool) {
	n.Known++
	if at := map[string]*int64{
		"ready": &n.Ready, "snoozed": &n.Snoozed, "busy": &n.Busy, "idle": &n.Idle, "paused": &n.Paused,
	}[state]; at != nil {
		*at++
	}
	if down {
		n.Down++
	}
}

// URICounts holds numbers of URIs.
type URICounts struct {
	Known     int64 `json:"known" join:"sum"`
	Queued    int64 `json:"queued" join:"sum"`    // have a due time
	Forbidden int64 `json:"forbidden" join:"sum"` // by robots.txt
	Held      int64 `json:"held" join:"sum"`      // by an operator
	// Due and waiting; counted to 100,000; -1 = they are still being counted.
	Due int64 `json:"due" join:"due"`

	// Oldest is the due time of the URI that has been due for longest.
	Oldest  *time.Time `json:"oldest,omitempty" join:"min"`
	Overdue Seconds    `json:"overdue_seconds" join:"max"` // since Oldest; 0 if no URI is due

	// OverdueReachable is Overdue without the hosts that were unreachable at their last visit.
	OverdueReachable Seconds `json:"overdue_reachable_seconds" join:"max"`
}

// Workers describes the visits in progress.
type Workers struct {
	All    int     `json:"all" join:"sum"`
	Busy   int     `json:"busy" join:"sum"`
	Visits []Visit `json:"visits" join:"longest"` // in progress, longest first, at most 100
}

// Visit is a visit in progress.
type Visit struct {
	URI     string    `json:"uri"`
	Since   time.Time `json:"since"`
	Seconds Seconds   `json:"seconds"` // since then
}

// Disk is the free space of the disk that has the least.
type Disk struct {
	Free    int64 `json:"free"`     // bytes
	MinFree int64 `json:"min_free"` // bytes; the crawl pauses below it

	// FullIn is the time until then, if space shrinks at the rate of the last day. It is null if space does not shrink or
	// the rate is not known yet.
	FullIn *Seconds `json:"full_in_seconds"`
}

// Archive describes the open archive files and the store.
type Archive struct {
	Files []WARCFile `json:"files" join:"list"` // being written
	Store int64      `json:"store" join:"sum"`  // bytes of the store

	Handover Handover `json:"handover" join:"parts"`
	Lost     Lost     `json:"lost" join:"parts"`
	Fixity   Fixity   `json:"fixity" join:"parts"`
	Offload  Offload  `json:"offload" join:"parts"`

	// Of the cluster: why its loss would lose visits; "" if it would not.
	Database string `json:"database,omitempty" join:"some"`
}

// Fixity says when finished archive files were compared with their manifest (fixity.daily).
type Fixity struct {
	Files int `json:"files" join:"sum"` // that are compared in turn; 0 = none are
	// The latest check, and of the file whose last check is oldest. A file counts as checked when it is listed.
	Last    *time.Time `json:"last,omitempty" join:"max"`
	Oldest  *time.Time `json:"oldest,omitempty" join:"min"`
	Failed  int        `json:"failed" join:"sum"`              // files that differed at their last check
	Example string     `json:"example,omitempty" join:"named"` // one of these, and how it differs
	Error   string     `json:"error,omitempty" join:"named"`   // why no file could be checked
}

// Offload says where finished archive files go from their first folder (storage.folders).
type Offload struct {
	Folders []Folder `json:"folders,omitempty" join:"list"`
	// The first of the failures in a row; null if the last attempt succeeded.
	Since  *time.Time `json:"since,omitempty" join:"min"`
	Error  string     `json:"error,omitempty" join:"named"` // of the last attempt
	Upload *Upload    `json:"upload,omitempty" join:"parts"`
}

// Upload says how far the upload of finished archive files is.
type Upload struct {
	Bucket string `json:"bucket" join:"some"` // address of the server and name of the bucket
	Done   int    `json:"done" join:"sum"`    // files in the bucket
	// Files that were gone or changed before they were uploaded.
	Skipped int `json:"skipped" join:"sum"`
	// Files that are only in the bucket that was set earlier.
	Earlier int `json:"earlier" join:"sum"`
	Waiting int `json:"waiting" join:"sum"` // files that are not there yet
	// The first of the failures in a row; null if the last attempt succeeded.
	Since *time.Time `json:"since,omitempty" join:"min"`
	Error string     `json:"error,omitempty" join:"named"` // of the last attempt
}

// NotUploaded returns the number of files that wait; 0 if nothing is uploaded at all.
func (u *Upload) NotUploaded() int {
	if u == nil {
		return 0
	}
	return u.Waiting
}

// Folder is a further folder of archive files.
type Folder struct {
	Path  string `json:"path" join:"named"`
	Free  int64  `json:"free"`  // bytes of its disk
	Files int    `json:"files"` // archive files in it
	Bytes int64  `json:"bytes"` // of these files
}

// Lost counts the archive files of which something is lost, by cause.
type Lost struct {
	Absent   int    `json:"absent" join:"max"`             // they are gone, and nobody said where they are
	CutOff   int    `json:"cut_off" join:"max"`            // their ends are lost
	Declared int    `json:"declared" join:"max"`           // the operator declared them lost
	Example  string `json:"example,omitempty" join:"some"` // name of one that is absent
}

// Handover says whether warc.sealed_url and warc.sealed_command take the finished archive files.
type Handover struct {
	Waiting int `json:"waiting" join:"sum"` // finished files that were not taken yet
	// The first of the failures in a row; null if the last attempt succeeded.
	Since *time.Time `json:"since,omitempty" join:"min"`
	Error string     `json:"error,omitempty" join:"named"` // of the last attempt
}

// WARCFile is an archive file that is being written.
type WARCFile struct {
	Name   string    `json:"name"`
	Opened time.Time `json:"opened"`
	Size   int64     `json:"size"` // bytes
}

// Config is the configuration in force.
type Config struct {
	Path     string         `json:"path" join:"first"`
	Digest   string         `json:"digest" join:"first"`
	Loaded   time.Time      `json:"loaded" join:"max"`
	Tried    *time.Time     `json:"last_reload,omitempty" join:"max"` // the last reload
	Faults   []config.Fault `json:"faults" join:"faults"`             // why that reload failed; empty if it succeeded
	Warnings []config.Fault `json:"warnings" join:"warnings"`         // about the configuration in force
	// AtRestart has the keys whose values in the files take effect when the daemon starts again.
	AtRestart []string `json:"at_restart,omitempty" join:"some"`
}

// Hosts is a page of the list of hosts.
type Hosts struct {
	Total int    `json:"total" join:"sum"` // matching hosts on all pages
	Hosts []Host `json:"hosts" join:"list"`
}

// Host is the state of a host.
type Host struct {
	Host       string     `json:"host"`
	State      string     `json:"state"` // "ready", "snoozed", "busy", "idle", "paused"
	URIs       int64      `json:"uris"`
	Queued     int64      `json:"queued"`
	Forbidden  int64      `json:"forbidden"`
	Held       int64      `json:"held"` // by an operator
	InProgress int64      `json:"in_progress"`
	Slots      int        `json:"slots"`                // maximum number of visits in progress
	Failures   int        `json:"failures"`             // times in a row that it was unreachable
	Paused     *time.Time `json:"paused,omitempty"`     // when an operator paused it
	Ready      *time.Time `json:"ready,omitempty"`      // earliest time of the next visit
	Oldest     *time.Time `json:"oldest,omitempty"`     // earliest due time of its URIs
	Rests      *time.Time `json:"rest_until,omitempty"` // end of its rest
	Overdue    Seconds    `json:"overdue_seconds"`      // since Oldest; 0 if no URI is due

	// LastError says why the host could not be reached the last time, and what to do. It is empty if it was reached.
	LastError string `json:"last_error,omitempty"`

	Unicode string `json:"unicode,omitempty"` // the name in Unicode, if it is internationalized
	Removed bool   `json:"removed,omitempty"` // its host file was removed, and no other file replaced it

	About config.Site `json:"about"` // what curators wrote about it
}

// Unreachable is a host that could not be reached at the last visit.
type Unreachable struct {
	Host     string `json:"host"`
	Failures int    `json:"failures"` // in a row
	Error    string `json:"error"`    // the reason, and what to do

	Removed bool `json:"removed,omitempty"` // its host file was removed
}

// Alarm is a condition that the operator should look at.
type Alarm struct {
	Kind  string `json:"kind"`
	About string `json:"about,omitempty"` // a host, a URI or a folder; empty for the crawl as a whole
	Host  string `json:"host,omitempty"`  // that it is about; empty for the crawl as a whole

	Unicode string `json:"unicode,omitempty"` // name of the host in Unicode, if it is internationalized

	Text  string    `json:"text"` // the problem and what to do
	Since time.Time `json:"since"`

	Setting string `json:"setting,omitempty"` // key of the host file that helps most often; of seeds without a page

	Acknowledged *Acknowledgement `json:"acknowledged,omitempty"` // null if nobody has acknowledged it
}

// Acknowledgement says that somebody knows of an alarm. It ends with the alarm.
type Acknowledgement struct {
	Who  string    `json:"who"`
	At   time.Time `json:"at"`
	Note string    `json:"note,omitempty"`
}

// Acknowledge selects the alarms to acknowledge.
type Acknowledge struct {
	Kind  string `json:"kind"`
	About string `json:"about,omitempty"` // empty: all alarms of the kind
	Note  string `json:"note,omitempty"`
	Undo  bool   `json:"undo,omitempty"` // take the acknowledgement back
}

// Acknowledged is the result of acknowledging alarms.
type Acknowledged struct {
	Changed int `json:"changed"`
}

// Alarms is a list of raised alarms, newest first.
type Alarms struct {
	Alarms []Alarm `json:"alarms" join:"alarms"`
}

// Series holds counts and gauges over a period, one value for each step, oldest first.
type Series struct {
	Step   Seconds            `json:"step_seconds" join:"series"`
	Times  []int64            `json:"times" join:"series"`  // start of each step, in seconds since 1970
	Values map[string][]int64 `json:"values" join:"series"` // fields of Counts and Gauges by JSON name; -1 is unknown
}

// URI is the stored history of a URI.
type URI struct {
	URI         string     `json:"uri"`
	Title       string     `json:"title,omitempty"` // of the last capture that differed
	Hops        string     `json:"hops"`            // hop path from the seed, one letter for each hop
	Via         string     `json:"via,omitempty"`
	Seed        string     `json:"seed"`
	FirstSeen   *time.Time `json:"first_seen,omitempty"`
	LastVisit   *time.Time `json:"last_visit,omitempty"`
	LastCapture *time.Time `json:"last_capture,omitempty"`
	LastChange  *time.Time `json:"last_change,omitempty"`
	Due         *time.Time `json:"due,omitempty"` // null for a URI that is visited on demand only
	Overdue     Seconds    `json:"overdue_seconds"`
	Visits      int        `json:"visits"`
	Versions    int        `json:"versions"`
	Failures    int        `json:"failures"`             // in a row
	LastStatus  int        `json:"last_status"`          // of the last visit; negative (Heritrix) without a response
	LastError   string     `json:"last_error,omitempty"` // why the last visit failed, if the status does not say enough
	Wait        Seconds    `json:"wait_seconds"`
	Rate        float64    `json:"rate_per_day"` // expected changes; 0 is unknown
	ContentType string     `json:"content_type,omitempty"`
	Status      int        `json:"status"` // of the last complete capture, like the fields below
	Size        int64      `json:"size"`
	Digest      string     `json:"digest,omitempty"` // of the payload
	ETag        string     `json:"etag,omitempty"`
	Modified    string     `json:"last_modified,omitempty"`
	File        string     `json:"warc_file,omitempty"` // WARC file that holds the payload
	Offset      int64      `json:"warc_offset,omitempty"`
}

// Reason is an operator's reason for a pause, and its length.
type Reason struct {
	Reason string  `json:"reason,omitempty"`
	For    Seconds `json:"for_seconds,omitempty"` // 0 means until resumed
}

// Seeds is a list of URIs to crawl.
type Seeds struct {
	URIs []string `json:"uris"` // at most 10,000
}

// Added is the result of adding seeds.
type Added struct {
	New     int      `json:"new"`
	Known   int      `json:"known"`
	Refused int      `json:"refused"`             // their host has its maximum number of URIs
	Posted  int      `json:"forwarded,omitempty"` // are sent to the nodes of the cluster that their hosts belong to
	Faults  []string `json:"faults,omitempty"`    // invalid URIs
	Outside []string `json:"outside,omitempty"`   // on hosts without a seed in the configuration
}

// HeaderReport says how reliable validators and the dates of feeds and sitemaps are on each host.
type HeaderReport struct {
	Rows  []HeaderTrust `json:"rows" join:"headers"`  // at most 10,000
	Dates []DateTrust   `json:"dates" join:"headers"` // at most 10,000

	Indexes []IndexTrust `json:"indexes" join:"headers"` // at most 10,000

	More bool `json:"more" join:"headers"` // there are more
}

// HeaderTrust says how reliable one validator of a host is.
type HeaderTrust struct {
	Host        string  `json:"host"`
	Content     string  `json:"content"`   // class of content: "text" or "other"
	Validator   string  `json:"validator"` // "ETag", "weak ETag", "Last-Modified" or "304"
	ChangeRight int64   `json:"change_right"`
	ChangeFalse int64   `json:"change_wrong"`
	SameRight   int64   `json:"same_right"`
	SameFalse   int64   `json:"same_wrong"`
	Missing     int64   `json:"missing"`
	Known       int     `json:"known"` // number of predictions in Precision
	Precision   float64 `json:"precision"`
	Believed    bool    `json:"believed"`
}

// DateTrust says how reliable the dates of a host's feeds and sitemaps are.
type DateTrust struct {
	Host      string  `json:"host"`
	Of        string  `json:"kind"` // "entries": when a feed changed; "pages": when listed pages changed
	Right     int64   `json:"right"`
	False     int64   `json:"wrong"`
	Known     int     `json:"known"` // number of dates in Precision
	Precision float64 `json:"precision"`
	Believed  bool    `json:"believed"`
}

// IndexTrust says what the word of a sitemap, feed or front page was worth that says when the pages of its host
// changed.
type IndexTrust struct {
	Host     string    `json:"host"`
	URI      string    `json:"uri"`
	Right    int64     `json:"said_right"`   // pages that it said had changed, and a visit found so
	False    int64     `json:"said_wrong"`   // pages that it said had changed, and had not
	Heard    int64     `json:"found_said"`   // changes that visits found, and it said so
	LeftOut  int64     `json:"found_unsaid"` // changes that visits found, and it did not say so
	Late     int64     `json:"late_seconds"` // how late it said so, on average
	Every    int64     `json:"read_every_seconds"`
	Requests int64     `json:"requests"`       // for it, since its first reading
	Received int64     `json:"received_bytes"` // of their answers
	Read     time.Time `json:"read"`           // the last reading
	Followed bool      `json:"followed"`       // its pages are visited when it says so, and otherwise only audited
}

// Audit is a list of orders and other changes, newest first.
type Audit struct {
	Entries []AuditEntry `json:"entries" join:"entries"`
}

// AuditEntry is one order or other change, and its result.
type AuditEntry struct {
	Time   time.Time       `json:"time"`
	Who    string          `json:"who"`              // name of the user or of the token; "" if it is not known
	Way    string          `json:"way"`              // "socket", "token", "session", "proxy", "node", "files" or "store"
	What   string          `json:"what"`             // for example "pause" or "frontier/steer"
	Order  json.RawMessage `json:"order,omitempty"`  // the body of the request
	Result string          `json:"result"`           // "done", or the error
	Answer json.RawMessage `json:"answer,omitempty"` // for example how many URIs were changed
}

// AuditFilter selects entries of the audit log. The zero value selects all.
type AuditFilter struct {
	Who, What string    // the whole name; "" matches all
	Since     time.Time // the earliest time; zero matches all
	Limit     int       // maximum number of entries; 0 has no limit
}

// Problem is the answer to a request that failed.
type Problem struct {
	Error string `json:"error"`
}

// Moment returns a time for JSON, or nil for the zero time.
func Moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// Rendering says what the browsers did since the start of the daemon.
type Rendering struct {
	Queue     int64 `json:"queue" join:"sum"`               // pages that wait
	NoBrowser bool  `json:"no_browser,omitempty" join:"or"` // Chromium is not installed

	Done   int64 `json:"done" join:"sum"`
	Late   int64 `json:"late" join:"sum"`   // of Done, those that were not quiet within render.limit
	Failed int64 `json:"failed" join:"sum"` // the browser crashed, took too long or needed too much memory
	// The queue was full, render.max_per_day was reached, or the crawl was paused.
	Dropped int64 `json:"dropped" join:"sum"`

	FromArchive int64 `json:"from_archive" join:"sum"` // requests that a fresh capture answered
	Visited     int64 `json:"visited" join:"sum"`      // requests that a visit answered
	Refused     int64 `json:"refused" join:"sum"`      // requests out of scope, or that no archive can answer
	// Requests whose visit did not come in time, or was forbidden by robots.txt.
	GaveUp int64 `json:"gave_up" join:"sum"`

	Found int64 `json:"found" join:"sum"` // new URIs
}

// Line returns the line of arcrawl status about it; "" if no page was to be rendered.
func (r Rendering) Line() string {
	switch {
	case r.NoBrowser:
		return "rendering no page, because Chromium is not installed\n"
	case r.Queue+r.Done+r.Failed+r.Dropped == 0:
		return ""
	}
	return fmt.Sprintf("rendered  %d pages: %d new URIs; %d waiting, %d failed, %d dropped\n", r.Done, r.Found, r.Queue, r.Failed, r.Dropped)
}
