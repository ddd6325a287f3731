package warcout

import (
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

// naming makes and recognises the names of our files.
type naming struct {
	prefix, host string
	ours         *regexp.Regexp // final names with our prefix, of any host: host names change, above all in containers
}

func newNaming(prefix, host string) (naming, error) {
	for kind, part := range map[string]string{"prefix": prefix, "host": host} {
		if !namePart.MatchString(part) {
			return naming{}, fmt.Errorf("%s %q: want at most 64 letters, digits, dots, underscores and hyphens", kind, part)
		}
	}
	ours := regexp.MustCompile(`^` + regexp.QuoteMeta(prefix) +
		`-(\d{17})-(\d{5,9})-([A-Za-z0-9][A-Za-z0-9._-]*)` + regexp.QuoteMeta(suffix) + `$`)
	return naming{prefix, host, ours}, nil
}

// name returns a final name.
func (n naming) name(now time.Time, serial int) string {
	return n.join(strings.Replace(now.UTC().Format("20060102150405.000"), ".", "", 1), serial, n.host)
}

func (n naming) join(stamp string, serial int, host string) string {
	return fmt.Sprintf("%s-%s-%05d-%s%s", n.prefix, stamp, serial, host, suffix)
}

// another returns the name after the given one.
func (n naming) another(name string) string {
	parts := n.ours.FindStringSubmatch(name)
	serial, _ := strconv.Atoi(parts[2]) // at most nine digits
	return n.join(parts[1], serial+1, parts[3])
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
