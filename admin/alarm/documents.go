package alarm

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/internal/human"
)

// documentLasts is how long a document that could not be processed is a trouble.
const documentLasts = 24 * time.Hour

// maxDocumentHosts bounds the hosts of which such documents are kept.
const maxDocumentHosts = maxOfKind

// Documents counts the documents that the program could not process. The zero value is empty. It is not safe for
// concurrent use.
type Documents struct {
	totals map[string]int64 // by kind of fault, since the start
	hosts  map[hostKind]*hostDocuments
}

// hostKind is a host and the kind of alarm: [Document] or [Rules].
type hostKind struct{ host, alarm string }

// hostDocuments holds the faults of one host.
type hostDocuments struct {
	visits   int64
	uri, why string // of the last one
	last     time.Time
}

// Add counts a visit whose document could not be processed.
func (d *Documents) Add(host, uri, kind, why string, at time.Time) {
	if d.totals == nil {
		d.totals, d.hosts = map[string]int64{}, map[hostKind]*hostDocuments{}
	}
	d.totals[kind]++
	key := hostKind{host, Document}
	if kind == Rules {
		key.alarm = Rules
	}
	h := d.hosts[key]
	if h == nil {
		if len(d.hosts) >= maxDocumentHosts {
			return
		}
		h = &hostDocuments{}
		d.hosts[key] = h
	}
	h.visits++
	h.uri, h.why, h.last = cut(uri, maxText), cut(why, maxText), at
}

// Totals returns the number of faults of each kind since the start.
func (d *Documents) Totals() map[string]int64 { return maps.Clone(d.totals) }

// Troubles returns the hosts with faults in the last day.
func (d *Documents) Troubles(now time.Time) (list []Trouble) {
	for key, h := range d.hosts {
		if now.Sub(h.last) > documentLasts {
			delete(d.hosts, key)
			continue
		}
		text := fmt.Sprintf(
			"%s of %s could not be processed, last %s: %s; only these URIs are affected; please report this fault of the program",
			human.Count(int(h.visits), "visit"), human.Host(key.host), h.uri, h.why,
		)
		if key.alarm == Rules {
			pages := human.Count(int(h.visits), "page")
			text = fmt.Sprintf("%s of %s compared whole, last %s: %s", pages, human.Host(key.host), h.uri, h.why)
		}
		list = append(list, Trouble{Kind: key.alarm, About: key.host, Text: text})
	}
	return list
}

// cut returns the beginning of a text, in at most n bytes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
