package admin

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/atomicfile"
)

// pulse is when something new last came from a host or a seed, and how long that took at the longest.
type pulse struct {
	Last    time.Time `json:"last"`
	Longest Seconds   `json:"longest"` // silence between two versions, forgotten by a twentieth with each
	Quiet   int       `json:"quiet"`   // visits since then that found nothing new
}

// pulses are those of hosts, by their names, and of seeds, by their URIs. They are bounded, and kept when the daemon stops,
// so that what is usual for a site, its nights and weekends, need not be learned anew.
type pulses map[string]pulse

const (
	maxPulses = 100_000
	pulseFile = "pulses.json"
)

func (p pulses) add(r crawler.Report) {
	if r.Failed || r.Verdict.State == evaluators.Unknown {
		return
	}
	p.beat(string(r.URI.Host()), r)
	if r.Hops == "" {
		p.beat(r.URI.String(), r)
	}
}

func (p pulses) beat(key string, r crawler.Report) {
	was, known := p[key]
	if !known && len(p) >= maxPulses {
		return
	}
	if r.Verdict.State != evaluators.Changed {
		was.Quiet++
		p[key] = was
		return
	}
	if !was.Last.IsZero() {
		was.Longest = max(was.Longest-was.Longest/20, Seconds(r.Finished.Sub(was.Last)))
	}
	p[key] = pulse{Last: r.Finished, Longest: was.Longest}
}

const (
	// improbable is how unlikely a silence must be, if versions came at random at the rate of the past.
	improbable = 1e-6
	// leastSilence, leastVersions and leastVisits keep from judging by too little.
	leastSilence  = 24 * time.Hour
	leastVersions = 20
	leastVisits   = 5
	// leastHistory is for how long a host or seed must have been known.
	leastHistory = 3 * 24 * time.Hour
)

// life is how often something changed in a time.
type life struct {
	changes     int64
	first, last time.Time // when it became known, when it changed last
}

// silent reports whether nothing new came for longer than a history allows, and how probable that was. Versions are taken
// to come as a Poisson process at the rate of the past: the chance of none in a time t is exp(−rate·t). Since they come in
// bursts, a silence must also be twice as long as the longest that is remembered.
func (l life) silent(p pulse, now time.Time) (chance float64, yes bool) {
	history, silence := l.last.Sub(l.first), now.Sub(l.last)
	if l.changes < leastVersions || history < leastHistory || silence < leastSilence || p.Quiet < leastVisits {
		return 1, false
	}
	chance = math.Exp(-float64(l.changes) / history.Hours() * silence.Hours())
	return chance, chance < improbable && silence > 2*time.Duration(p.Longest)
}

// loadPulses reads what an earlier run left. A file that cannot be read costs what it held, no more.
func loadPulses(dir string) pulses {
	p := pulses{}
	if dir == "" {
		return p
	}
	text, err := os.ReadFile(filepath.Join(dir, pulseFile))
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil || p == nil {
		return pulses{}
	}
	return p
}

// keepJSON writes a value as JSON to a file in dir, atomically. Without a folder it does nothing.
func keepJSON(dir, name string, v any) error {
	if dir == "" {
		return nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, name), text, 0o640)
}

// drop removes a file of the folder.
func drop(dir, name string) error {
	if dir == "" {
		return nil
	}
	if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
