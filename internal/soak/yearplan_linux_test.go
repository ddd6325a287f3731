package soak_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const yearSettings = `[operator]
name = "Test Library"
contact = "https://library.example/crawler"
[storage]
min_free = "2MB"
[admin]
socket = "off"
[reload]
watch = false
[crawl]
workers = 10
max_uris_per_host = 3000
[warc]
max_size = "64MB"
[fetch]
max_body = "1MB"
body_timeout = "5m"
[[wait]]
mime = ".*"
rule = "learned"
min = "2h"
max = "28d"
`

// An act is something that happens to a daemon at a time since the epoch: "sample" and "month" measure it, "edit" and
// "reload" read the configuration again, "rotate" renames crawl.log, "full" leaves it little disk space until "room".
type act struct {
	At   time.Duration
	What string
}

// A span is a time in which the crawl could not work.
type span struct{ from, until time.Duration }

// plan draws what happens to the daemon.
type plan struct {
	r     *rand.Rand
	lasts time.Duration
	month time.Duration
	acts  []act // of the whole year, in order
	full  []span
}

// newPlan draws reloads, edits, full disks and samples. unit is a 365th of the whole time.
func newPlan(seed uint64, w *yearWeb) *plan {
	p := &plan{r: rand.New(rand.NewPCG(seed, 2)), lasts: w.lasts, month: w.lasts / 12}
	for t := min(day, p.lasts/30) / 2; t < p.lasts; t += min(day, p.lasts/30) {
		p.add(t, "sample")
	}
	for m := range 12 {
		p.add(time.Duration(m+1)*p.month-time.Hour, "month")
	}
	for _, h := range w.hosts {
		p.add(h.born+p.between(0, 5*time.Hour), "edit")
	}
	unit := p.lasts / 365
	for t := p.between(0, unit*7); t < p.lasts; t += p.between(unit, 13*unit) {
		p.add(t, []string{"edit", "edit", "reload"}[p.r.IntN(3)])
	}
	for t := p.between(0, 30*unit); t < p.lasts; t += 30 * unit {
		p.add(t, "rotate")
	}
	for t := p.between(10*unit, 60*unit); t < p.lasts; t += p.between(10*unit, 80*unit) {
		until := t + p.between(10*time.Minute, 8*time.Hour)
		if until/p.month == t/p.month && until%p.month < p.month-2*unit {
			p.add(t, "full")
			p.add(until, "room")
			p.full = append(p.full, span{t, until})
		}
	}
	slices.SortStableFunc(p.acts, func(a, b act) int { return int(a.At - b.At) })
	return p
}

func (p *plan) add(at time.Duration, what string) {
	if at < p.lasts {
		p.acts = append(p.acts, act{at, what})
	}
}

func (p *plan) between(a, b time.Duration) time.Duration {
	return a + time.Duration(p.r.Int64N(int64(max(1, b-a))))
}

// next returns the life that begins at a time.
func (p *plan) next(from time.Duration) life {
	unit := p.lasts / 365
	until := from + p.between(max(2*time.Hour, unit), 38*unit)
	if left := p.month - until%p.month; left < 3*unit { // a month ends with a daemon that is not disturbed
		until += left + time.Minute
	}
	l := life{Lasts: p.lasts, From: from, Until: min(until, p.lasts), Kill: p.r.IntN(2) == 0}
	if l.Until == p.lasts {
		l.Kill = false
	}
	for _, a := range p.acts {
		if a.At > from+time.Hour/2 && a.At < l.Until {
			l.Acts = append(l.Acts, a)
		}
	}
	return l
}

// rests returns how long the daemon is down before its next start.
func (p *plan) rests() time.Duration {
	if p.r.IntN(6) == 0 {
		return p.between(time.Hour, 24*time.Hour)
	}
	return p.between(5*time.Minute, 20*time.Minute)
}

// extras are settings that a curator tries on a host. The last two are broken, and replaced at the next edit.
var extras = []string{
	"", "note = \"looked at\"\n", "labels = [\"press\"]\n", "[politeness]\nmin_delay = \"5s\"\n",
	"[scope]\nrules = ['reject /private']\n", "[[wait]]\nmime = \"image/.*\"\nevery = \"20d\"\nrule = \"fixed\"\n",
	"[crawl_typo]\nbroken = 1\n", "broken = [\n",
}

// edit writes files for the hosts that are born, changes one of 200 others, and replaces what is broken.
func (w *yearWeb) edit(t *testing.T, seed uint64, dir string, at time.Duration) {
	r := rand.New(rand.NewPCG(seed, uint64(at)))
	for _, h := range w.hosts {
		if h.born > at {
			continue
		}
		extra := ""
		text, err := os.ReadFile(filepath.Join(dir, "hosts.d", h.name+".toml"))
		if err == nil {
			if !strings.Contains(string(text), "broken") && r.IntN(200) > 0 {
				continue
			}
			extra = extras[r.IntN(len(extras))]
		}
		if err := h.writeFile(dir, extra); err != nil && !errors.Is(err, syscall.ENOSPC) { // then at the next edit
			t.Error(err)
		}
	}
}

// writeFile writes the file of a host, as an editor does.
func (h *yearHost) writeFile(dir, extra string) error {
	path := filepath.Join(dir, "hosts.d", h.name+".toml")
	text := extra + fmt.Sprintf("[seeds]\nuris = [\"http://%s/\"]\n", h.name)
	if err := os.WriteFile(path+"~", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(path+"~", path)
}
