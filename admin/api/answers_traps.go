package api

import "time"

// Traps is a list of traps.
type Traps struct {
	Traps   []Trap   `json:"traps" join:"traps"`             // at most 10,000
	More    bool     `json:"more" join:"traps"`              // there are more
	Budgets []Budget `json:"budgets,omitempty" join:"traps"` // at most 10,000
}

// Budget is a path with parameters that may be an endless space, and has a budget until that is clear.
type Budget struct {
	Host     string   `json:"host"`
	Pattern  string   `json:"pattern"`   // path and names of parameters
	Visited  int      `json:"visited"`   // first visits of pages that were found on pages of the same path
	SomeNew  int      `json:"with_news"` // pages among them that had something new
	Allowed  int      `json:"allowed"`   // first visits that it may have now
	PutOff   int64    `json:"deferred"`  // times that a URI had to wait
	Waiting  int64    `json:"waiting"`   // known URIs that were never visited
	Examples []string `json:"examples"`
}

// Trap is a part of a host with endless URIs, which is kept out of the crawl.
type Trap struct {
	Host      string    `json:"host"`
	Kind      string    `json:"kind"`
	Pattern   string    `json:"pattern"`  // regular expression for URIs; for soft404 the digest of the page
	Why       string    `json:"why"`      // evidence
	Found     time.Time `json:"found"`    // when it became certain
	Visited   int       `json:"visited"`  // pages that were visited before
	Kept      int64     `json:"kept_out"` // URIs that were kept out so far
	Released  bool      `json:"released"`
	Examples  []string  `json:"examples"`
	Rule      string    `json:"rule,omitempty"`       // lines for the host file that would keep it out permanently
	FreeFrom  string    `json:"free_from,omitempty"`  // for a calendar: first day outside of the trap
	FreeUntil string    `json:"free_until,omitempty"` // last day outside of the trap
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
