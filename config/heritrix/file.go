package heritrix

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/internal/human"
)

// file is a configuration file that is being written: keys in their tables.
type file struct {
	keys []entry
}

type entry struct {
	table, name string
	value       string   // of a plain key
	list        []string // of one that takes several values
}

// set gives a key its value. The last one counts, as in the job.
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

// longestRest is politeness.max_delay where no file sets it.
const longestRest = 30 * time.Second

// settle sees to it that the shortest rest is not above the longest one: there the shortest counts, here it is a fault.
func (f *file) settle() {
	least, most := f.rest("min_delay"), f.rest("max_delay")
	if most == 0 {
		most = longestRest
	}
	if least > most {
		f.set("politeness.max_delay", strconv.Quote(Duration(least)))
	}
}

// rest is a duration of politeness, zero if the file does not set it.
func (f *file) rest(name string) time.Duration {
	for _, e := range f.keys {
		if e.table == "politeness" && e.name == name {
			if d, err := human.ParseDuration(strings.Trim(e.value, `"`)); err == nil {
				return d
			}
		}
	}
	return 0
}

// tables is the order in which tables are written.
var tables = []string{"operator", "storage", "crawl", "warc", "politeness", "robots", "retry", "fetch", "scope", "seeds", "feeds"}

// text is the file as TOML.
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
