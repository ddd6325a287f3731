package admin

import (
	"encoding/json"
	"fmt"
	"time"
)

// Seconds is a duration that JSON has as a number of seconds.
type Seconds time.Duration

// MarshalJSON writes the seconds with their fraction.
func (s Seconds) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).Seconds()) }

func (s Seconds) seconds() float64 { return time.Duration(s).Seconds() }

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Seconds) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return fmt.Errorf("seconds: %w", err)
	}
	*s = Seconds(f * float64(time.Second))
	return nil
}

// Status is all that an operator wants to see at one look.
type Status struct {
	Version string    `json:"version"`
	Now     time.Time `json:"now"`
	Started time.Time `json:"started"`
	Uptime  Seconds   `json:"uptime_seconds"`

	Stand Stand `json:"stand"` // does it crawl, and if not, why

	LastMinute Counts `json:"last_minute"`
	LastHour   Counts `json:"last_hour"`
	LastDay    Counts `json:"last_day"`

	Hosts   HostCounts `json:"hosts"`
	URIs    URICounts  `json:"uris"`
	Workers Workers    `json:"workers"`

	Disk    Disk    `json:"disk"`
	Archive Archive `json:"archive"`
	Config  Config  `json:"config"`
	Alarms  []Alarm `json:"alarms"` // raised now
}

// Stand is whether the crawl goes on.
type Stand struct {
	State string     `json:"state"`           // "crawling", "paused" by an operator, or "held" by a fault of its own
	Why   string     `json:"why,omitempty"`   // it does not crawl
	Since *time.Time `json:"since,omitempty"` // it does not crawl
	Until *time.Time `json:"until,omitempty"` // when a pause ends by itself
}

// The states of a crawl.
const (
	Crawling = "crawling"
	Paused   = "paused"
	Held     = "held"
)

// HostCounts is how many hosts are in each state. Down ones are counted a second time; the others are all there are.
type HostCounts struct {
	Known   int64 `json:"known"`
	Ready   int64 `json:"ready"`   // would hand out a URI now
	Snoozed int64 `json:"snoozed"` // will hand out one later
	Busy    int64 `json:"busy"`    // are being visited
	Idle    int64 `json:"idle"`    // have nothing to visit
	Paused  int64 `json:"paused"`  // by an operator
	Down    int64 `json:"down"`    // could not be reached the last time
}

// URICounts is how many URIs there are.
type URICounts struct {
	Known     int64 `json:"known"`
	Queued    int64 `json:"queued"`    // have a due time
	Forbidden int64 `json:"forbidden"` // by robots.txt
	Held      int64 `json:"held"`      // by an operator
	Due       int64 `json:"due"`       // due and waiting; counted to 100,000

	// Oldest is when the URI was due that waits and has been due for longest; the crawl is that late.
	Oldest  *time.Time `json:"oldest,omitempty"`
	Overdue Seconds    `json:"overdue_seconds"` // since Oldest, 0 while nothing is due
}

// Workers is what the crawl is doing at this moment.
type Workers struct {
	All    int     `json:"all"`
	Busy   int     `json:"busy"`
	Visits []Visit `json:"visits"` // in progress, the longest first, at most 100
}

// Visit is a visit in progress.
type Visit struct {
	URI     string    `json:"uri"`
	Since   time.Time `json:"since"`
	Seconds Seconds   `json:"seconds"` // since then
}

// Disk is the room that is left, where there is least.
type Disk struct {
	Free    int64 `json:"free"`     // bytes
	MinFree int64 `json:"min_free"` // bytes; below it the crawl stands still

	// FullIn is when that will be, if space goes on shrinking as it did over the last day; null if it does not, or if that
	// is not known yet.
	FullIn *Seconds `json:"full_in_seconds"`
}

// Archive is what is being written.
type Archive struct {
	Files []WARCFile `json:"files"` // in progress
	Store int64      `json:"store"` // bytes of the store
}

// WARCFile is an archive file in progress.
type WARCFile struct {
	Name   string    `json:"name"`
	Opened time.Time `json:"opened"`
	Size   int64     `json:"size"` // bytes
}

// Config is the configuration in force.
type Config struct {
	Path     string     `json:"path"`
	Digest   string     `json:"digest"`
	Loaded   time.Time  `json:"loaded"`
	Tried    *time.Time `json:"tried,omitempty"` // the last attempt to load another one
	Faults   []Fault    `json:"faults"`          // why that attempt failed; empty when it did not
	Warnings []Fault    `json:"warnings"`        // of the one in force
}

// Fault is one thing that is wrong in a configuration file.
type Fault struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Key     string `json:"key,omitempty"`
	Value   string `json:"value,omitempty"`
	Problem string `json:"problem"`
	Remedy  string `json:"remedy,omitempty"`
}

// Hosts is a page of the list of hosts.
type Hosts struct {
	Total int    `json:"total"` // that match, on all pages
	Hosts []Host `json:"hosts"`
}

// Host is how a host stands.
type Host struct {
	Host       string     `json:"host"`
	State      string     `json:"state"` // "ready", "snoozed", "busy", "idle", "paused"
	URIs       int64      `json:"uris"`
	Queued     int64      `json:"queued"`
	Forbidden  int64      `json:"forbidden"`
	Held       int64      `json:"held"` // by an operator
	InProgress int64      `json:"in_progress"`
	Slots      int        `json:"slots"`            // visits at once
	Failures   int        `json:"failures"`         // times in a row that it could not be reached
	Paused     *time.Time `json:"paused,omitempty"` // since when an operator has it hand out nothing
	Ready      *time.Time `json:"ready,omitempty"`  // when it can hand out the next URI
	Oldest     *time.Time `json:"oldest,omitempty"` // due time of the URI that waits and is due first
	Rests      *time.Time `json:"rests,omitempty"`  // until then
	Overdue    Seconds    `json:"overdue_seconds"`  // since Oldest, 0 while nothing is due
}

// Alarm is something that the operator should know of.
type Alarm struct {
	Kind  string    `json:"kind"`
	About string    `json:"about,omitempty"` // a host, a URI or a folder; empty for the crawl as a whole
	Text  string    `json:"text"`            // what is wrong and what to do
	Since time.Time `json:"since"`
}

// Alarms is what is raised now, the newest first.
type Alarms struct {
	Alarms []Alarm `json:"alarms"`
}

// Series is what happened in a time, a value for each step, oldest first.
type Series struct {
	Step   Seconds            `json:"step_seconds"`
	Times  []int64            `json:"times"`  // when each step began, in seconds since 1970
	Values map[string][]int64 `json:"values"` // those of Counts and Gauges, by their names there; -1 is not known
}

// URI is what is remembered of a URI.
type URI struct {
	URI         string     `json:"uri"`
	Hops        string     `json:"hops"` // the way from the seed, a letter for each step
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
	Failures    int        `json:"failures"`    // in a row
	LastStatus  int        `json:"last_status"` // of the last visit; a negative code of Heritrix if it was not answered
	Wait        Seconds    `json:"wait_seconds"`
	Rate        float64    `json:"rate_per_day"` // changes that are expected; 0 is unknown
	ContentType string     `json:"content_type,omitempty"`
	Status      int        `json:"status"` // of the last complete capture, as what follows
	Size        int64      `json:"size"`
	Digest      string     `json:"digest,omitempty"` // of the payload
	ETag        string     `json:"etag,omitempty"`
	Modified    string     `json:"last_modified,omitempty"`
	File        string     `json:"warc_file,omitempty"` // that holds the payload
	Offset      int64      `json:"warc_offset,omitempty"`
}

// Reason is why an operator does something, and for how long.
type Reason struct {
	Reason string  `json:"reason,omitempty"`
	For    Seconds `json:"for_seconds,omitempty"` // 0 is until it is taken back
}

// Seeds is a list of URIs to crawl.
type Seeds struct {
	URIs []string `json:"uris"` // at most 10,000
}

// Added is what became of seeds.
type Added struct {
	New     int      `json:"new"`
	Known   int      `json:"known"`
	Refused int      `json:"refused"`           // their host has as many URIs as it may have
	Faults  []string `json:"faults,omitempty"`  // what is no URI
	Outside []string `json:"outside,omitempty"` // not in the configuration: forgotten by the scope at the first visit
}

// HeaderReport tells what validators, and the dates of feeds and sitemaps, have been worth, host by host.
type HeaderReport struct {
	Rows  []HeaderTrust `json:"rows"`  // at most 10,000
	Dates []DateTrust   `json:"dates"` // at most 10,000
	More  bool          `json:"more"`  // there are others
}

// HeaderTrust is what one validator of a host has been worth.
type HeaderTrust struct {
	Host        string  `json:"host"`
	Content     string  `json:"content"`   // class of content: "text" or "other"
	Validator   string  `json:"validator"` // "ETag", "weak ETag", "Last-Modified" or "304"
	ChangeRight int64   `json:"change_right"`
	ChangeFalse int64   `json:"change_false"`
	SameRight   int64   `json:"same_right"`
	SameFalse   int64   `json:"same_false"`
	Missing     int64   `json:"missing"`
	Known       int     `json:"known"` // how many predictions Precision is of
	Precision   float64 `json:"precision"`
	Believed    bool    `json:"believed"`
}

// DateTrust is what the dates that feeds and sitemaps give have been worth on a host.
type DateTrust struct {
	Host      string  `json:"host"`
	Of        string  `json:"of"` // "entries": when a feed listed something new; "pages": when listed pages changed
	Right     int64   `json:"right"`
	False     int64   `json:"false"`
	Known     int     `json:"known"` // how many dates Precision is of
	Precision float64 `json:"precision"`
	Believed  bool    `json:"believed"`
}

// Problem is the answer to a request that was not granted.
type Problem struct {
	Error string `json:"error"`
}
