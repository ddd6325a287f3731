package config

import (
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/config/schema"
)

func TestHostFileListsItsKeys(t *testing.T) {
	t.Parallel()
	text := NewHostFile("www.a.example", []string{"https://www.a.example/"})
	for _, name := range hostKeys {
		if _, key, _ := strings.Cut(name, "."); !strings.Contains(text, key+" = ") {
			t.Errorf("%s is not shown", name)
		}
	}
}

// Rules that arcrawl scrub suggest prints begin with [change]. They can be pasted below a new host file.
func TestTablesCanBePastedBelowANewHostFile(t *testing.T) {
	t.Parallel()
	text := NewHostFile("www.news.example", []string{"https://www.news.example/"})
	for _, table := range Tables() {
		if table.List || table.Name == "seeds" {
			continue
		}
		if doc := schema.Parse([]byte(text+"\n["+table.Name+"]\n"), "x"); len(doc.Faults) > 0 {
			t.Errorf("[%s] below a new file: %v", table.Name, doc.Faults)
		}
	}
}
