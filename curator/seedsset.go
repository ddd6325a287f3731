package curator

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/schema"
)

// set returns the new texts of the files of all hosts that a filter selects, with other values of some keys, each as
// "politeness.min_delay=5s". Hosts without a file of their own are not changed.
func (f configFiles) set(only config.Filter, settings []string) (map[string][]byte, error) {
	c, faulty, err := f.load()
	if err != nil {
		return nil, err
	}
	index := c.Sites()
	texts := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(index.Files)) {
		if !only.Matches(index.Files[name]) {
			continue
		}
		text := f.Texts[name]
		for _, s := range settings {
			key, value, ok := strings.Cut(s, "=")
			if key = strings.TrimSpace(key); !ok || !settable(key) {
				return nil, fmt.Errorf("%q sets no key of a host file; write for example politeness.min_delay=5s; edit [[wait]], [[when]] and seeds in the files", s)
			}
			if text, err = setKey(text, key, asTOML(strings.TrimSpace(value))); err != nil {
				return nil, fmt.Errorf("%s: %w; nothing was written", name, err)
			}
		}
		if !bytes.Equal(text, f.Texts[name]) {
			texts[name] = text
		}
	}
	if err := f.check(texts, faulty); err != nil {
		return nil, fmt.Errorf("the host files would have faults; nothing was written:\n%w", err)
	}
	return texts, nil
}

// settable reports whether a key may be set in many files at once.
func settable(key string) bool {
	table, _, _ := strings.Cut(key, ".")
	return table != "wait" && table != "when" && table != "seeds" && key != "host" &&
		slices.ContainsFunc(config.Keys(), func(k config.Key) bool { return k.Name == key && k.In(config.InHost) })
}

// asTOML returns a value as TOML. What is not TOML is a text.
func asTOML(value string) string {
	doc := schema.Parse([]byte("x = "+value+"\n"), "the value")
	if len(doc.Faults) == 0 && len(doc.Root) == 1 {
		return value
	}
	return strconv.Quote(value)
}
