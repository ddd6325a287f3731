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

// activity says when something new last came from a host or seed, and how long the longest silence was.
type activity struct {
	Last    time.Time `json:"last"`
	Longest Seconds   `json:"longest"` // silence between two versions; decays by 1/20 with each version
	Quiet   int       `json:"quiet"`   // visits since Last that found nothing new
}

// activities holds the activity of hosts by name and of seeds by URI. It is bounded, and stored when the daemon stops, so
// that the usual silences of a site, such as nights and weekends, stay known.
type activities map[string]activity

const (
	maxActivities = 100_000
	activityFile  = "pulses.json"
)

func (p activities) add(r crawler.Report) {
	if r.Failed || r.Verdict.State == evaluators.Unknown {
		return
	}
	p.record(string(r.URI.Host()), r)
	if r.Hops == "" {
		p.record(r.URI.String(), r)
	}
}

func (p activities) record(key string, r crawler.Report) {
	was, known := p[key]
	if !known && len(p) >= maxActivities {
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
	p[key] = activity{Last: r.Finished, Longest: was.Longest}
}

const (
	// improbable is the probability below which a silence is reported, if versions come at random at the past rate.
	improbable = 1e-6
	// minSilence, minVersions and minVisits prevent decisions from too little data.
	minSilence  = 24 * time.Hour
	minVersions = 20
	minVisits   = 5
	// minHistory is the time that a host or seed must have been known.
	minHistory = 3 * 24 * time.Hour
)

// life counts the changes of a host or seed.
type life struct {
	changes     int64
	first, last time.Time // when it became known, when it changed last
}

// silent reports whether a silence is improbably long, and its probability. It assumes that versions come as a Poisson
// process at the past rate: the probability of none in time t is exp(−rate·t). Because versions come in bursts, a silence
// must also be twice as long as the longest one before.
func (l life) silent(p activity, now time.Time) (chance float64, yes bool) {
	history, silence := l.last.Sub(l.first), now.Sub(l.last)
	if l.changes < minVersions || history < minHistory || silence < minSilence || p.Quiet < minVisits {
		return 1, false
	}
	chance = math.Exp(-float64(l.changes) / history.Hours() * silence.Hours())
	return chance, chance < improbable && silence > 2*time.Duration(p.Longest)
}

// loadActivities reads the file of an earlier run. An unreadable file is ignored.
func loadActivities(dir string) activities {
	p := activities{}
	if dir == "" {
		return p
	}
	text, err := os.ReadFile(filepath.Join(dir, activityFile))
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil || p == nil {
		return activities{}
	}
	return p
}

// saveJSON replaces a file of the folder atomically.
func saveJSON(dir, name string, v any) error {
	if dir == "" {
		return nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, name), text, 0o640)
}

// removeFile removes a file of the folder. A missing file is not an error.
func removeFile(dir, name string) error {
	if dir == "" {
		return nil
	}
	if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
