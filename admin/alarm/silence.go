package alarm

import (
	"math"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/human"
)

// Activity says when something new last came from a host or seed, and how long the longest silence was.
type Activity struct {
	Last    time.Time   `json:"last"`
	Longest api.Seconds `json:"longest"` // silence between two versions; decays by 1/20 with each version
	Quiet   int         `json:"quiet"`   // visits since Last that found nothing new
}

// Activities holds the activity of hosts by name and of seeds by URI. It is bounded, and stored when the daemon
// stops, so that the usual silences of a site, such as nights and weekends, stay known.
type Activities map[string]Activity

// maxActivities is the maximum number of hosts and seeds.
const maxActivities = 100_000

// Add adds a visit of a host or seed that ended at now. changed says whether it found something new.
func (p Activities) Add(key string, changed bool, now time.Time) {
	was, known := p[key]
	if !known && len(p) >= maxActivities {
		return
	}
	if !changed {
		was.Quiet++
		p[key] = was
		return
	}
	if !was.Last.IsZero() {
		was.Longest = max(was.Longest-was.Longest/20, api.Seconds(now.Sub(was.Last)))
	}
	p[key] = Activity{Last: now, Longest: was.Longest}
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

// Life counts the changes of a host or seed.
type Life struct {
	Changes     int64
	First, Last time.Time // when it became known, when it changed last
}

// Silent reports whether a silence is improbably long, and its probability. It assumes that versions come as a
// Poisson process at the past rate: the probability of none in time t is exp(−rate·t). Because versions come in
// bursts, a silence must also be twice as long as the longest one before.
func (l Life) Silent(p Activity, now time.Time) (chance float64, yes bool) {
	history, silence := l.Last.Sub(l.First), now.Sub(l.Last)
	if l.Changes < minVersions || history < minHistory || silence < minSilence || p.Quiet < minVisits {
		return 1, false
	}
	chance = math.Exp(-float64(l.Changes) / history.Hours() * silence.Hours())
	return chance, chance < improbable && silence > 2*time.Duration(p.Longest)
}

// HostSilence returns the trouble of a host that has been silent for too long.
func (l Life) HostSilence(host string, all Activities, now time.Time) (Trouble, bool) {
	chance, yes := l.Silent(all[host], now)
	return trouble(Silence, host, "nothing new from %s for %s, after %.1f versions a day before; the probability is %.0e; "+
		"check whether it blocks us or has moved", human.Host(host), human.About(now.Sub(l.Last)), l.perDay(), chance), yes
}

// SeedSilence returns the trouble of a seed that has not changed for too long.
func (l Life) SeedSilence(seed string, all Activities, now time.Time) (Trouble, bool) {
	chance, yes := l.Silent(all[seed], now)
	return trouble(FrontPage, seed,
		"%s has not changed for %s, after %.1f versions a day before; the probability is %.0e; see arcrawl why %s",
		human.URI(seed), human.About(now.Sub(l.Last)), l.perDay(), chance, seed), yes
}

// perDay returns the mean number of versions a day.
func (l Life) perDay() float64 { return float64(l.Changes) / l.Last.Sub(l.First).Hours() * 24 }
