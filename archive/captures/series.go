package captures

import (
	"path/filepath"
	"regexp"

	"github.com/arcrawl/arcrawl/warcout"
)

// inName finds the part of a file name of ours where its series is. Without a series, it may find a part of the prefix.
var inName = regexp.MustCompile(`-([a-z0-9_]+)-\d{17}-\d{5,9}-`)

// SeriesOf returns what the name of a WARC file of ours has at the place of its series, or "" if there is nothing.
func SeriesOf(file string) string {
	if m := inName.FindStringSubmatch(filepath.Base(file)); m != nil && warcout.IsSeries(m[1]) {
		return m[1]
	}
	return ""
}
