package noise

import (
	"context"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/aspects"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

// The bounds of kin: of their hosts, and of the rules of each host.
const (
	maxKinHosts = 1000
	maxKinRules = 4
)

// scoutAfter is the number of visits in a row that find a difference after which a page of a host without rules is
// looked at twice, once in scoutEvery on each host. Its rules may fit all pages of its template.
const (
	scoutAfter = 2
	scoutEvery = 24 * time.Hour
)

// kin remembers rules for the pages of a host, because pages of one template differ in the same. The zero value knows
// nothing. It is not safe for concurrent use.
type kin struct {
	hosts map[uri.Host]*kinHost
	order []uri.Host // the oldest first
}

// kinHost remembers rules for the pages of a host.
type kinHost struct {
	rules   []kinRules // the last used first
	scouted time.Time  // when a page was looked at twice before its time
}

// kinRules silence some pages of a host.
type kinRules struct {
	silencer string    // as [digest.Silencer] writes it
	since    time.Time // when they became known
}

// of returns the memory of a host, and begins one.
func (k *kin) of(h uri.Host) *kinHost {
	if known := k.hosts[h]; known != nil {
		return known
	}
	if k.hosts == nil {
		k.hosts = map[uri.Host]*kinHost{}
	}
	if k.order = append(k.order, h); len(k.order) > maxKinHosts {
		delete(k.hosts, k.order[0])
		k.order = k.order[1:]
	}
	k.hosts[h] = &kinHost{}
	return k.hosts[h]
}

// add notes rules that silence a page.
func (k *kinHost) add(silencer string, now time.Time) {
	if i := slices.IndexFunc(k.rules, func(r kinRules) bool { return r.silencer == silencer }); i >= 0 {
		now = k.rules[i].since
		k.rules = slices.Delete(k.rules, i, i+1)
	}
	k.rules = slices.Insert(k.rules, 0, kinRules{silencer, now})
	k.rules = k.rules[:min(len(k.rules), maxKinRules)]
}

// note remembers the rules that silence a page, for the other pages of its host.
func (f *Fetches) note(h uri.Host, silencer string, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kin.of(h).add(silencer, now)
}

// rulesOf returns the rules of a host.
func (k *kin) rulesOf(h uri.Host) []kinRules {
	if known := k.hosts[h]; known != nil {
		return slices.Clone(known.rules)
	}
	return nil
}

// newKin returns the rules of a host that were not known at a time.
func (f *Fetches) newKin(h uri.Host, at time.Time) []kinRules {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(f.kin.rulesOf(h), func(r kinRules) bool { return !r.since.After(at) })
}

// scouts reports whether a page of a host without rules is looked at twice now for all others.
func (f *Fetches) scouts(h uri.Host, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.kin.of(h)
	if f.Finder == nil || len(known.rules) > 0 || now.Sub(known.scouted) < scoutEvery {
		return false
	}
	known.scouted = now
	return true
}

// isEarly reports whether a page that differs is looked at twice before its time: rules of other pages of its host
// match something of it, or none are known there. Then a look or two replace more visits of this page, or of others.
func (a *Aspect) isEarly(ctx context.Context, v *aspects.Visit, o *Options, look evaluators.Look) (bool, error) {
	if look.Noisy() || look.Finding != evaluators.NoFinding || o.Seen == nil {
		return false, nil
	}
	host, known := v.URI().Host(), v.Record().LastVisit
	if look.Row == 0 {
		known = time.Time{} // it did not differ before
	}
	rules := a.fetches.newKin(host, known)
	if len(rules) == 0 {
		return look.Row+1 >= scoutAfter && a.fetches.scouts(host, v.Finished), nil
	}
	whole, err := sight(ctx, v.Capture, o, o.Seen)
	if err != nil {
		return false, err
	}
	for _, r := range rules {
		with, err := o.Seen.With(digest.ParseSilencer(r.silencer))
		if err != nil {
			continue // it is of another version of the program
		}
		left, err := sight(ctx, v.Capture, o, with)
		if err != nil {
			return false, err
		}
		if left.Exact != whole.Exact && left.IsMost(whole) {
			return true, nil
		}
	}
	return false, nil
}

// fitting returns rules of other pages of a host that silence a page too, by the same proofs as its own would need. It
// returns an empty text if there are none.
func (f *Fetches) fitting(ended func() error, known []kinRules, o *Options, fetched []Version) (string, error) {
	if !digest.IsHTML(fetched[len(fetched)-1].MIME) {
		return "", nil
	}
	for _, r := range known {
		if err := ended(); err != nil {
			return "", err
		}
		if f.Finder.Silences(o.Seen, digest.ParseSilencer(r.silencer), fetched) {
			return r.silencer, nil
		}
	}
	return "", nil
}
