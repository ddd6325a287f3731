package warcout

import (
	"regexp"
	"testing"
	"time"
)

// TestNamesOfNetarchiveSuite names files with the two prefixes with which NetarchiveSuite starts Heritrix: job and
// harvest, as its LegacyNamingConvention, or with a collection before them, as its CollectionPrefixNamingConvention.
// Heritrix adds 17 digits, five digits and the host. The suffixes are the ones of NetarchiveSuite's FileUtils.
func TestNamesOfNetarchiveSuite(t *testing.T) {
	t.Parallel()
	sealed, open := regexp.MustCompile(`(?i)\.warc(\.gz)?$`), regexp.MustCompile(`(?i)\.warc(\.gz)?\.open$`)
	metadata := regexp.MustCompile(`-metadata-[0-9]+\.(w)?arc(\.gz)?$`)
	for prefix, want := range map[string]*regexp.Regexp{
		"1234-56":    regexp.MustCompile(`^1234-56-[0-9]{17}-[0-9]{5}-crawler\.example\.warc\.gz$`),
		"dk-1234-56": regexp.MustCompile(`^dk-1234-56-[0-9]{17}-[0-9]{5}-crawler\.example\.warc\.gz$`),
	} {
		n, err := newNaming(prefix, "crawler.example")
		if err != nil {
			t.Fatal(err)
		}
		name := n.name("", time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC), 1)
		if !want.MatchString(name) || !sealed.MatchString(name) || !open.MatchString(name+openSuffix) ||
			metadata.MatchString(name) {
			t.Errorf("the prefix %s makes the name %s", prefix, name)
		}
	}
}
