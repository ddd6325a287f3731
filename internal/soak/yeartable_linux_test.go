package soak_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// judge compares what the year left with what is expected of it.
func (y *year) judge() {
	visits := y.stays()
	kept := y.archived()
	y.average()
	y.say("%d lives, of which %d ended with a kill; %d full disks; %d visits in %s of virtual time", y.lives, y.kills,
		len(y.plan.full), y.visitsSoFar(), y.ends)
	y.versions(visits, kept)
	y.verify()
	y.overdue()
	y.table()
	y.growth()
	y.rates()
}

// average computes the means of each month's samples. A daemon that has just started is not measured: its caches fill.
// A start belongs to each month in which its daemon lived.
func (y *year) average() {
	starts := map[start]bool{}
	for _, s := range y.samples {
		if of := (start{y.monthOf(s.At), s.Start}); !starts[of] {
			starts[of] = true
			m := &y.months[of.month]
			m.starts++
			m.start += (s.Start.Seconds() - m.start) / float64(m.starts)
		}
		m := &y.months[y.monthOf(s.At)]
		m.store, m.log, m.archives, m.uris = s.Store, s.Log, s.Archive, int(s.URIs)
		if s.Month {
			m.live, m.known, m.rows = y.web.live(s.At), int(s.Hosts), s.Rows
		}
		if s.Since < min(day, y.plan.lasts/60) {
			continue
		}
		m.samples++
		m.heap += s.Heap
		m.goroutines += float64(s.Goroutines)
		m.descriptors += float64(s.Descriptors)
		m.perURI += s.Store / float64(max(1, s.URIs))
		m.tables += s.Tables
	}
	for i := range y.months {
		m := &y.months[i]
		n := float64(max(1, m.samples))
		m.heap, m.goroutines, m.descriptors = m.heap/n, m.goroutines/n, m.descriptors/n
		m.perURI, m.tables = m.perURI/n, m.tables/n
		for _, h := range y.web.hosts {
			if h.at(time.Duration(i)*y.plan.month+y.plan.month/2) == fine {
				m.alive++
			}
		}
	}
}

// start is a start of a daemon that lived in a month. Two have different times.
type start struct {
	month int
	took  time.Duration
}

// live counts the URIs that the web shows at a time.
func (w *yearWeb) live(t time.Duration) (n int) {
	for _, h := range w.hosts {
		if h.at(t) != fine {
			continue
		}
		for _, path := range h.paths(t) {
			if h.version(path, t) != "" {
				n++
			}
		}
	}
	return n
}

// column is a column of the table of months.
type column struct {
	name string
	of   func(m monthly) string
}

func whole(name string, of func(m monthly) int) column {
	return column{name, func(m monthly) string { return fmt.Sprint(of(m)) }}
}

func number(name string, digits int, of func(m monthly) float64) column {
	return column{name, func(m monthly) string { return fmt.Sprintf("%.*f", digits, of(m)) }}
}

// table prints a row for each month.
func (y *year) table() {
	columns := []column{
		whole("hosts alive", func(m monthly) int { return m.alive }),
		whole("visits", func(m monthly) int { return m.visits }),
		whole("records", func(m monthly) int { return m.records }),
		whole("versions ended", func(m monthly) int { return m.shown }),
		whole("archived", func(m monthly) int { return m.archived }),
		whole("shown longer than the wait", func(m monthly) int { return m.due }),
		whole("missed", func(m monthly) int { return m.missed }),
		number("heap MB", 1, func(m monthly) float64 { return m.heap / 1e6 }),
		number("tables MB", 1, func(m monthly) float64 { return m.tables / 1e6 }),
		number("descriptors", 1, func(m monthly) float64 { return m.descriptors }),
		number("goroutines", 1, func(m monthly) float64 { return m.goroutines }),
		number("store MB", 1, func(m monthly) float64 { return m.store / 1e6 }),
		whole("URIs", func(m monthly) int { return m.uris }),
		whole("live URIs", func(m monthly) int { return m.live }),
		number("store kB/URI", 1, func(m monthly) float64 { return m.perURI / 1e3 }),
		number("store kB/live URI", 1, func(m monthly) float64 { return m.store / 1e3 / float64(max(1, m.live)) }),
		number("rows B/URI", 0, func(m monthly) float64 { return m.rowBytes("URI") / float64(max(1, m.uris)) }),
		number("rows B/live URI", 0, func(m monthly) float64 { return m.rowBytes("URI") / float64(max(1, m.live)) }),
		number("files beyond rows MB", 1, func(m monthly) float64 { return m.beyondRows() / 1e6 }),
		number("start s", 2, func(m monthly) float64 { return m.start }),
		number("crawl.log MB", 1, func(m monthly) float64 { return m.log / 1e6 }),
		number("archive MB", 1, func(m monthly) float64 { return m.archives / 1e6 }),
	}
	names := []string{"month"}
	for _, c := range columns {
		names = append(names, c.name)
	}
	fmt.Printf("| %s |\n|%s\n", strings.Join(names, " | "), strings.Repeat("---|", len(names)))
	for i, m := range y.months {
		row := []string{fmt.Sprint(i + 1)}
		for _, c := range columns {
			row = append(row, c.of(m))
		}
		fmt.Printf("| %s |\n", strings.Join(row, " | "))
	}
}

// The numbers of rows that package hosts keeps of a host, by its docs: the last days and the one that begins, and kinds
// of URIs.
const (
	maxDays  = 93
	maxKinds = 97
)

// blockCache is how many bytes of its tables the store keeps in memory. The cache of a small crawl fills all the year.
const blockCache = 12 << 20

// What grows by design is allowed. A known host has some 36 kB in memory, until caches are full: settings, rows, the
// URIs that are due next, a part of the overview. A start compares the last 10,000 lines of crawl.log with the store: a
// look-up takes 25 µs more in a store of which little is cached.
const (
	heapOfHost    = 36e3
	uncachedStart = 0.25 // seconds
)

// growing are the measurements that must not grow after the third month.
var growing = []struct {
	name, unit string
	of         func(m monthly) float64
	share      float64 // growth that is allowed, as a share of the mean of months 4 to 6
	least      float64 // growth that is allowed anyway
}{
	{
		"memory (live heap) beyond 36 kB for each known host", "MB", func(m monthly) float64 {
			return (m.heap - min(m.tables, blockCache) - heapOfHost*float64(m.known)) / 1e6
		}, 0.10, 1,
	},
	{"number of descriptors", "", func(m monthly) float64 { return m.descriptors }, 0, 2},
	{"number of goroutines", "", func(m monthly) float64 { return m.goroutines }, 0, 2},
	{"store size for each known URI", "kB", func(m monthly) float64 { return m.perURI / 1e3 }, 0.10, 0},
	{
		"size of the rows of a known URI", "B",
		func(m monthly) float64 { return m.rowBytes("URI") / float64(max(1, m.uris)) }, 0.10, 0,
	},
	{
		"size of the rows of a known host", "B",
		func(m monthly) float64 { return m.rowBytes("host") / float64(max(1, m.known)) }, 0.10, 0,
	},
	{
		"index of payloads for each archived response", "B",
		func(m monthly) float64 { return m.rowBytes("payload") / float64(max(1, m.responses)) }, 0.10, 0,
	},
	{"size of the store's files beyond their rows", "MB", func(m monthly) float64 { return m.beyondRows() / 1e6 }, 0.10, 20},
	{"start time (of the processor)", "s", func(m monthly) float64 { return m.start }, 0.15, uncachedStart},
}

// judgedFrom is the shortest time in which growth is judged. In a shorter one caches fill all the time.
const judgedFrom = 120 * day

// growth compares months 4 to 6 with the last three that were played, or two with two if fewer than nine were.
func (y *year) growth() {
	played := int(y.ends / y.plan.month)
	n := min(3, (played-3)/2)
	if y.ends < judgedFrom || n < 2 {
		y.say("growth is not judged: %s of %s were played, and at least %s and seven months are needed", y.ends, y.plan.lasts,
			judgedFrom)
		return
	}
	months := y.months
	for i := range months[1:] {
		months[i+1].responses += months[i].responses // up to the end of the month
	}
	mean := func(of func(monthly) float64, from int) (sum float64) {
		for _, m := range months[from : from+n] {
			sum += of(m) / float64(n)
		}
		return sum
	}
	for _, g := range growing {
		early, late := mean(g.of, 3), mean(g.of, played-n)
		allowed := math.Max(g.share*early, g.least)
		y.verdict(g.name+" does not grow after the third month", late-early <= allowed,
			"%.2f %s in months 4 to %d, %.2f in months %d to %d; %.2f more are allowed", early, g.unit, 3+n, late,
			played-n+1, played, allowed)
	}
	y.bounded(months[3], months[played-1])
}

// bounded checks what a host has learned, which grows until the host is old. months are those that were judged.
func (y *year) bounded(early, late monthly) {
	hosts := float64(max(1, late.known))
	days, kinds := late.rows["#a"]/hosts, late.rows["#k"]/hosts
	y.verdict("what is learned of a host has bounds", days <= maxDays && kinds <= maxKinds && late.rows["#pt"] <= hosts,
		"a host has %.1f days of at most %d and %.1f kinds of URIs of at most %d, and a record of its endless spaces; that "+
			"took %.0f B in month 4 and takes %.0f B now", days, maxDays, kinds, maxKinds,
		early.rowBytes("learned")/float64(max(1, early.known)), late.rowBytes("learned")/hosts)
}

// overdue checks that each backlog ends.
func (y *year) overdue() {
	never, longest := 0, time.Duration(0)
	for _, s := range y.samples {
		longest = max(longest, s.Healthy)
		for _, n := range s.Never {
			never++
			y.fault("at %s the API said: %s", s.At, n)
		}
	}
	y.verdict("overdue ends", never == 0 && longest < time.Hour, "where host and daemon have been well for a while, the "+
		"longest overdue time at the end of a month is %s; the API said %d times that a backlog never ends", longest, never)
}

// rates names what grows by design.
func (y *year) rates() {
	var last measured
	for _, s := range y.samples {
		if s.Month {
			last = s
		}
	}
	visits, records, versions := 0, 0, 0
	for _, m := range y.months[:y.monthOf(last.At)+1] {
		visits, records, versions = visits+m.visits, records+m.records, versions+m.archived
	}
	v := float64(max(1, visits))
	y.say("by design grow: the archive, by %.0f B for each visit and %.0f B for each version of the web; crawl.log, by "+
		"%.0f B for each visit; records, by %.2f for each visit", last.Archive/v, last.Archive/float64(max(1, versions)),
		last.Log/v, float64(records)/v)
	for _, kind := range slices.Sorted(maps.Keys(last.Rows)) {
		if n, bytes := last.Rows["#"+kind], last.Rows[kind]; !strings.HasPrefix(kind, "#") {
			y.say("rows %-2s of the store: %.0f with %.0f B each, %.4f for each visit, %.4f for each version", kind, n,
				bytes/max(1, n), n/v, n/float64(max(1, versions)))
		}
	}
	y.say("tables of the store: %.1f MB, with a descriptor for each MB; up to %d MB of them are kept in memory",
		last.Tables/1e6, blockCache>>20)
	m := y.months[y.monthOf(last.At)]
	bytes := m.rowBytes("URI") / float64(max(1, last.URIs))
	y.say("URIs in the store: %d, of which the web showed %d at the end; the store forgets none that is gone, so it grows "+
		"by %.0f B for each, %.1f kB a day, and has %.0f B of rows for each live URI", last.URIs, m.live, bytes,
		bytes*float64(int(last.URIs)-m.live)/1e3/max(1, last.At.Hours()/24), m.rowBytes("URI")/float64(max(1, m.live)))
}
