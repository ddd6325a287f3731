package warcout

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	suffix     = ".warc.gz"
	openSuffix = ".open" // of a file that is being written
	tailSuffix = ".tail" // of a cut-off tail with whole records after the damage
)

// maxSerials is the maximum number of taken names to skip.
const maxSerials = 10000

var namePart = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// seriesName matches the name of a series. It has no hyphen, so that it can be found in the name of a file.
const seriesName = `[a-z][a-z0-9_]{0,31}`

var wholeSeriesName = regexp.MustCompile(`^` + seriesName + `$`)

// IsSeries reports whether a series of files may have a name.
func IsSeries(name string) bool { return wholeSeriesName.MatchString(name) }

// SeriesIn returns a function that returns the series of a file of ours by its name, or "" if it is in none. prefix is
// the first part of the names.
func SeriesIn(prefix string) func(file string) string {
	prefix = cmp.Or(prefix, DefaultPrefix)
	ours, begin := oursPattern(prefix), prefix+"-"
	return func(file string) string {
		rest, ok := strings.CutPrefix(file, begin)
		if !ok || rest == "" || rest[0] < 'a' { // nearly all files, for which this must be fast
			return ""
		}
		if m := ours.FindStringSubmatch(file); m != nil {
			return strings.TrimSuffix(m[1], "-")
		}
		return ""
	}
}

// oursPattern matches final names with a prefix, of any series and host: host names change, above all in containers.
func oursPattern(prefix string) *regexp.Regexp {
	return regexp.MustCompile(`^` + regexp.QuoteMeta(prefix) + `-(` + seriesName +
		`-)?(\d{17})-(\d{5,9})-([A-Za-z0-9][A-Za-z0-9._-]*)` + regexp.QuoteMeta(suffix) + `$`)
}

// naming makes and recognises the names of our files.
type naming struct {
	prefix, host string
	ours         *regexp.Regexp
}

func newNaming(prefix, host string) (naming, error) {
	for kind, part := range map[string]string{"prefix": prefix, "host": host} {
		if !namePart.MatchString(part) {
			return naming{}, fmt.Errorf("%s %q: want at most 64 letters, digits, dots, underscores and hyphens", kind, part)
		}
	}
	return naming{prefix, host, oursPattern(prefix)}, nil
}

// name returns a final name.
func (n naming) name(series string, now time.Time, serial int) string {
	if series != "" {
		series += "-"
	}
	return n.join(series, strings.Replace(now.UTC().Format("20060102150405.000"), ".", "", 1), serial, n.host)
}

func (n naming) join(series, stamp string, serial int, host string) string {
	return fmt.Sprintf("%s-%s%s-%05d-%s%s", n.prefix, series, stamp, serial, host, suffix)
}

// another returns the name after the given one.
func (n naming) another(name string) string {
	parts := n.ours.FindStringSubmatch(name)
	serial, _ := strconv.Atoi(parts[3]) // at most nine digits
	return n.join(parts[1], parts[2], serial+1, parts[4])
}

// openName returns the final name of one of our .open files.
func (n naming) openName(file string) (name string, ok bool) {
	name, ok = strings.CutSuffix(file, openSuffix)
	return name, ok && n.ours.MatchString(name)
}

// isFree reports whether dir has no entry of the name.
func isFree(dir, name string) (bool, error) {
	_, err := os.Lstat(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return false, err
}

// freeName returns the given name, or the first one after it that no file has.
func (n naming) freeName(dir, name string) (string, error) {
	for range maxSerials {
		free, err := isFree(dir, name)
		if err != nil {
			return "", fmt.Errorf("find a free name: %w", err)
		}
		if free {
			return name, nil
		}
		name = n.another(name)
	}
	return "", fmt.Errorf("%s and %d names after it are taken", name, maxSerials)
}
