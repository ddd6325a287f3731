package admin

import (
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

// promise says what a host's delay can keep of its capture target. The target is that of the entry for HTML, for which
// there is one if its rule asks for it.
func (w *Window) promise(b *Backlog, l *load, delay time.Duration, slots int) {
	if l.rates == nil || l.rates.URIs() == 0 {
		return
	}
	e := w.o.Config().Config.ForHost(uri.Host(b.Name), w.o.Now()).Wait.For("text/html")
	if e.Rule != evaluators.Learned && e.Rule != evaluators.Target {
		return
	}
	p := l.rates.Promise(evaluators.Terms{Target: e.CaptureTarget, Least: e.Min, Most: e.Max, Rest: delay, Valence: slots})
	b.Promise, b.Share = p.String(), p.Share
}
