package admin

import (
	"cmp"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

// promise says what a host's delay can keep of its capture target. The target is that of the entry for HTML, for which
// there is one if its rule asks for it.
func (w *Window) promise(host uri.Host, l *load, delay time.Duration, slots int) (p evaluators.Promise, ok bool) {
	if l.rates == nil || l.rates.URIs() == 0 {
		return p, false
	}
	e := w.o.Config().Config.ForHost(host, w.o.Now()).Wait.For("text/html")
	if e.Rule != evaluators.Learned && e.Rule != evaluators.Target {
		return p, false
	}
	return l.rates.Promise(evaluators.Terms{Target: e.CaptureTarget, Least: e.Min, Most: e.Max, Rest: delay, Valence: slots}), true
}

// paceAge is how old the look at every URI may be from which the pace of hosts is judged in reports and in the log.
const paceAge = time.Hour

// outbid lists the hosts, or the one host, whose pace cannot keep their capture target: those first that lose most.
func (w *Window) outbid(only uri.Host) ([]HostBid, error) {
	s, err := w.surveyed(only, paceAge)
	if err != nil {
		return nil, err
	}
	out := []HostBid{}
	for name, l := range s.hosts {
		host := uri.Host(name)
		view, known := w.o.Frontier.Host(host, w.o.Now())
		if !known {
			continue
		}
		delay, _ := w.delayOf(host)
		if p, ok := w.promise(host, l, delay, view.Slots); ok && p.Bound {
			out = append(out, HostBid{Host: name, Promise: p.String(), Share: p.Share, Lost: max(p.Target-p.Share, 0) * l.rates.Changes()})
		}
	}
	slices.SortFunc(out, func(a, b HostBid) int { return cmp.Or(cmp.Compare(b.Lost, a.Lost), cmp.Compare(a.Host, b.Host)) })
	return out[:min(len(out), dayHosts)], nil
}
