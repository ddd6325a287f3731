package heritrix

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/internal/human"
)

// file is a configuration file that is being written.
type file struct {
	keys []entry
}

// entry is a key and its value or values.
type entry struct {
	table, name string
	value       string   // of a plain key
	list        []string // of one that takes several values
}

// set sets a key. The last value counts, as in the job.
func (f *file) set(key, value string) { f.entry(key).value = value }

// add adds a value to the list of a key, once.
func (f *file) add(key, value string) {
	if e := f.entry(key); !slices.Contains(e.list, value) {
		e.list = append(e.list, value)
	}
}

func (f *file) entry(key string) *entry {
	at := strings.LastIndexByte(key, '.')
	table, name := key[:at], key[at+1:]
	i := slices.IndexFunc(f.keys, func(e entry) bool { return e.table == table && e.name == name })
	if i < 0 {
		i = len(f.keys)
		f.keys = append(f.keys, entry{table: table, name: name})
	}
	return &f.keys[i]
}

// reconcileDelays raises the maximum delay to the minimum delay. In Heritrix the minimum wins; in arcrawl it would be a
// fault. otherwise is the maximum delay of a file that does not set it.
func (f *file) reconcileDelays(otherwise time.Duration) {
	shortest, longest := f.delay("min_delay"), f.delay("max_delay")
	if longest == 0 {
		longest = otherwise
	}
	if longest > 0 && shortest > longest {
		f.set("politeness.max_delay", strconv.Quote(durationText(shortest)))
	}
}

// delay returns a duration of [politeness], zero if the file does not set it.
func (f *file) delay(name string) time.Duration {
	for _, e := range f.keys {
		if e.table == "politeness" && e.name == name {
			if d, err := human.ParseDuration(strings.Trim(e.value, `"`)); err == nil {
				return d
			}
		}
	}
	return 0
}

// tables are the tables in the order in which they are written.
var tables = []string{
	"operator", "storage", "crawl", "warc", "politeness", "robots", "retry", "fetch", "scope", "seeds",
	"feeds", "index", "log",
}

// text returns the file as TOML.
func (f *file) text() []byte {
	var b strings.Builder
	for _, table := range tables {
		head := "[" + table + "]\n"
		for _, e := range f.keys {
			if e.table != table {
				continue
			}
			if head != "" && b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(head)
			head = ""
			b.WriteString(e.name + " = " + e.text() + "\n")
		}
	}
	return []byte(b.String())
}

func (e entry) text() string {
	switch {
	case e.list == nil:
		return e.value
	case len(e.list) == 1:
		return "[" + e.list[0] + "]"
	}
	return "[\n    " + strings.Join(e.list, ",\n    ") + ",\n]"
}
