package admin

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/arcrawl/arcrawl/admin/alarm"
	"github.com/arcrawl/arcrawl/aspects/spaces"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// Options holds what a [Reader] reads.
type SurveyOptions struct {
	Frontier *frontier.Frontier
	Config   func() *config.Config // the configuration in force
	Now      func() time.Time      // the clock
	Stopped  func() bool           // reports whether the crawl is paused or held
	Traps    *spaces.Store         // nil knows of no paths that may be endless
}

// Reader surveys the frontier. Its methods are safe for concurrent use.
type Reader struct {
	o SurveyOptions

	surveying sync.Mutex             // held during a survey, so that only one runs at a time
	last      *survey                // of all hosts
	known     atomic.Pointer[survey] // the same, for those who do not wait
	wanted    atomic.Bool            // somebody has read known since it was made
	single    *survey                // of one host
	chosen    *survey                // of the hosts that a filter selected

	pacing sync.Mutex // guards paces
	paces  paces
}

// New returns a reader without a survey.
func SurveyNew(o SurveyOptions) *Reader { return &Reader{o: o, paces: paces{}} }

// Lives returns how often each host changed, from a survey that is no older than maxAge. The caller must not change it.
func (r *Reader) Lives(maxAge time.Duration) (map[uri.Host]alarm.Life, error) {
	s, err := r.surveyed("", config.Filter{}, maxAge)
	if err != nil {
		return nil, err
	}
	return s.lives, nil
}

// Waiting returns how many URIs of paths that may be endless wait on a host, or on all hosts if it is empty, from a
// survey that is no older than maxAge. The caller must not change it.
func (r *Reader) Waiting(h uri.Host, maxAge time.Duration) (EndlessWaiting, error) {
	s, err := r.surveyed(h, config.Filter{}, maxAge)
	if err != nil {
		return nil, err
	}
	return s.endless, nil
}
