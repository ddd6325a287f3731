// This file writes the configuration in force into the archive, so that a reader of the WARC files knows by
// which settings they were made. Each file of the configuration is a resource record of its own, without comments and
// secrets, and is written again only when it has changed. One more record lists what has changed, and the defaults of
// the keys that the main file does not set.

package daemon

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/fileio"
	"github.com/arcrawl/arcrawl/warcout"
)

// listURI is the URI of the list of changes. The URI of the main file is listURI, a colon and its name; the URI of a
// host file is listURI, ":hosts:" and its name; the URI of the list of a series is listURI, ":series:" and its name.
const listURI = "urn:arcrawl:configuration"

// provenanceFile is the file in the state folder with the digest of each record that was written last.
const provenanceFile = "config.archived"

const (
	typeTOML = "application/toml"
	typeJSON = "application/json"
)

// account is the content of the record that lists the changes. AtRestart lists the keys whose new values
// take effect when the daemon starts again. Until then the values of earlier records hold.
type account struct {
	Format    int               `json:"arcrawl-configuration"`
	Software  string            `json:"software"`
	Time      time.Time         `json:"time"`
	Digest    string            `json:"digest"` // see [config.Config.PublicDigest]; also in warcinfo records
	Changed   []file            `json:"changed"`
	Removed   []string          `json:"removed,omitempty"` // URIs
	Unchanged int               `json:"unchanged"`         // number of files
	Held      []string          `json:"held,omitempty"`    // hosts that are not visited because their files have faults
	AtRestart []string          `json:"at_restart,omitempty"`
	Defaults  map[string]string `json:"defaults,omitempty"` // values, as TOML, of keys that the main file does not set
}

type file struct {
	URI    string `json:"uri"`
	SHA256 string `json:"sha256,omitempty"` // of its record; empty if the file sets nothing, because it has no record then
}

// record writes what has changed since the configuration that was written last, and returns the number of records.
// After an error, or if ctx has ended, the next call writes all changes again. What names a host with a series is in
// the files of this series alone.
func (r *recorder) record(ctx context.Context, c *config.Config, now time.Time) (records int, err error) {
	before, err := r.read()
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", r.state, err)
	}
	files, err := c.Redacted()
	if err != nil {
		return 0, err
	}
	digest, err := c.PublicDigest()
	if err != nil {
		return 0, err
	}
	lists, after := r.accounts(c, digest, now), map[place]string{}
	for i, f := range files {
		at := place{nameOf(f.Name, i == 0), f.Series}
		list := lists.of(f.Series)
		after[at] = sumOf(f.Data)
		if before[at] == after[at] {
			list.Unchanged++
			continue
		}
		if len(f.Data) == 0 { // a record must have content
			list.Changed = append(list.Changed, file{URI: at.name})
			continue
		}
		list.Changed = append(list.Changed, file{at.name, after[at]})
		if err := errors.Join(ctx.Err(), r.write(at, typeTOML, f.Data, now)); err != nil {
			return records, err
		}
		records++
	}
	lists.findRemoved(before, after)
	main := place{name: listURI}
	after[main] = lists.of("").sum()
	for _, series := range slices.Sorted(maps.Keys(lists.all)) {
		list := lists.all[series]
		if len(list.Changed)+len(list.Removed) == 0 && (series != "" || before[main] == after[main]) {
			continue
		}
		text, err := json.MarshalIndent(list, "", "  ")
		if err == nil {
			err = r.write(place{listOf(series), series}, typeJSON, append(text, '\n'), now)
		}
		if err != nil {
			return records, err
		}
		records++
	}
	if records == 0 && maps.Equal(before, after) {
		return 0, nil
	}
	return records, r.save(after)
}

// place is a record of the configuration, and the series of WARC files that it is in.
type place struct{ name, series string }

// listOf returns the URI of the list of changes of a series.
func listOf(series string) string {
	if series == "" {
		return listURI
	}
	return listURI + ":series:" + series
}

// nameOf returns the URI of a file.
func nameOf(name string, isMain bool) string {
	if isMain {
		return listURI + ":" + url.PathEscape(name)
	}
	return listURI + ":hosts:" + url.PathEscape(name)
}

// accounts are the lists of changes, by series.
type accounts struct {
	all   map[string]*account
	empty account
}

// accounts returns the lists of changes before any are found. The file of a host that is held does not say its series,
// so it is named only if there are no series.
func (r *recorder) accounts(c *config.Config, digest string, now time.Time) *accounts {
	empty := account{Format: 1, Software: "arcrawl/" + r.version, Time: now.UTC(), Digest: digest, Changed: []file{}}
	list := empty
	list.AtRestart, list.Defaults = c.AtRestart, map[string]string{}
	for _, s := range c.Defaults() {
		list.Defaults[s.Key] = s.Value
	}
	if len(c.Series) == 0 {
		for _, h := range c.HeldHosts() {
			list.Held = append(list.Held, string(h))
		}
	}
	return &accounts{map[string]*account{"": &list}, empty}
}

// of returns the list of a series.
func (a *accounts) of(series string) *account {
	if a.all[series] == nil {
		list := a.empty
		a.all[series] = &list
	}
	return a.all[series]
}

// findRemoved lists what was written before and is no longer in force. A host that has a series now is not named again
// in the files of no series.
func (a *accounts) findRemoved(before, after map[place]string) {
	apart := map[string]bool{}
	for at := range after {
		apart[at.name] = apart[at.name] || at.series != ""
	}
	for at := range before {
		_, still := after[at]
		if !still && at.name != listURI && (at.series != "" || !apart[at.name]) {
			a.of(at.series).Removed = append(a.of(at.series).Removed, at.name)
		}
	}
	for _, list := range a.all {
		slices.Sort(list.Removed)
	}
}

// sum returns a digest of what applies besides the files: the program, its defaults and the hosts that are held.
func (a account) sum() string {
	text, _ := json.Marshal([]any{a.Software, a.Held, a.AtRestart, a.Defaults}) // encoding texts never fails
	return sumOf(text)
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// write writes a record and adds it to the index.
func (r *recorder) write(at place, contentType string, content []byte, now time.Time) error {
	w, err := r.archive.WriteResource(now, warcout.Resource{
		Series: at.series, URI: at.name, Date: now, ContentType: contentType, Content: content,
	})
	if err != nil {
		return err
	}
	r.index(w.Origin, contentType)
	return nil
}

// read returns the digest of each record that was written last. A line has the digest, the URI, and the series if there
// is one.
func (r *recorder) read() (map[place]string, error) {
	f, err := os.Open(r.state)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	sums := map[place]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if sum, name, ok := strings.Cut(lines.Text(), "  "); ok {
			name, series, _ := strings.Cut(name, " ")
			sums[place{name, series}] = sum
		}
	}
	return sums, lines.Err()
}

// save replaces what read returns.
func (r *recorder) save(sums map[place]string) error {
	var lines []string
	for at, sum := range sums {
		lines = append(lines, strings.TrimSuffix(sum+"  "+at.name+" "+at.series, " ")+"\n")
	}
	slices.Sort(lines)
	return fileio.Write(r.state, []byte(strings.Join(lines, "")), 0o640)
}

// provenanceInfo returns the fields of the warcinfo record of each WARC file: who made it, with which software and
// settings.
// sum is the digest of the settings.
func provenanceInfo(c *config.Config, version, host, sum string) []warcout.Field {
	names, open := c.NamesNotation()
	fields := []warcout.Field{
		{Name: "software", Value: "arcrawl/" + version + " (https://github.com/arcrawl/arcrawl)"},
		{Name: "format", Value: "WARC File Format 1.1"},
		{Name: "conformsTo", Value: "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
		{Name: "operator", Value: c.Operator.Name + " <" + c.Operator.Contact + ">"},
		{Name: "hostname", Value: host},
		{Name: "http-header-user-agent", Value: c.UserAgent(version)},
		{Name: "robots", Value: "obey (RFC 9309), except where a metadata record has robotsPermission"},
		{Name: "canonicalization", Value: "whatwg; without fragment and user information"},
		{Name: "nameRules", Value: joinNameRules(open, len(names)-len(open))},
		{Name: "nameRulesDigest", Value: fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(strings.Join(names, "\n"))))},
		{Name: "configDigest", Value: sum},
		{Name: "description", Value: "WARC-Payload-Digest is of the payload with transfer encoding removed and content encoding kept"},
	}
	if c.Collection != "" {
		fields = append(fields, warcout.Field{Name: "isPartOf", Value: c.Collection})
	}
	return fields
}

// maxNameRules is the maximum length, in bytes, of the name rules in a warcinfo record. Their digest covers all rules.
const maxNameRules = 8 << 10

// joinNameRules writes on one line the rules by which several URIs have one name: first the rules of all hosts, then
// the rules of single hosts, as far as they fit into maxNameRules. apart counts more hosts, which are not named.
func joinNameRules(lines []string, apart int) string {
	size, n := len(lines[0]), 1
	for ; n < len(lines) && size+2+len(lines[n]) <= maxNameRules; n++ {
		size += 2 + len(lines[n])
	}
	all := strings.Join(lines[:n], "; ")
	if more := len(lines) - n + apart; more > 0 {
		return fmt.Sprintf("%s; and the rules of %d more hosts", all, more)
	}
	return all
}
