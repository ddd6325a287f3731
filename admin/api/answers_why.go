package api

import "time"

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
	Rules []Rule `json:"rules"`
}
