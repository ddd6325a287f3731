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

// surveyorOptions holds what a surveyor reads.
type surveyorOptions struct {
	Frontier *frontier.Frontier
	Config   func() *config.Config // the configuration in force
	Now      func() time.Time      // the clock
	Stopped  func() bool           // reports whether the crawl is paused or held
	Traps    *spaces.Store         // nil knows of no paths that may be endless
}

// surveyor reads the frontier as a whole and reports what waits, how long backlogs last, and which capture targets the
// pace of each host can meet. It keeps the last survey, so that many requests can use one. Its methods are safe for
// concurrent use.
type surveyor struct {
	o surveyorOptions

	surveying sync.Mutex             // held during a survey, so that only one runs at a time
	last      *survey                // of all hosts
	known     atomic.Pointer[survey] // the same, for those who do not wait
	wanted    atomic.Bool            // somebody has read known since it was made
	single    *survey                // of one host
	chosen    *survey                // of the hosts that a filter selected

	pacing sync.Mutex // guards paces
	paces  paces
}

// newSurveyor returns a surveyor without a survey.
func newSurveyor(o surveyorOptions) *surveyor { return &surveyor{o: o, paces: paces{}} }

// hostLives returns how often each host changed, from a survey that is no older than maxAge. The caller must not change
// it.
func (r *surveyor) hostLives(maxAge time.Duration) (map[uri.Host]alarm.Life, error) {
	s, err := r.surveyed("", config.Filter{}, maxAge)
	if err != nil {
		return nil, err
	}
	return s.lives, nil
}

// endlessWaiting returns how many URIs of paths that may be endless wait on a host, or on all hosts if it is empty,
// from a survey that is no older than maxAge. The caller must not change it.
func (r *surveyor) endlessWaiting(h uri.Host, maxAge time.Duration) (EndlessWaiting, error) {
	s, err := r.surveyed(h, config.Filter{}, maxAge)
	if err != nil {
		return nil, err
	}
	return s.endless, nil
}
