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
// host file is listURI, ":hosts:" and its name.
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
	Defaults  map[string]string `json:"defaults"` // values, as TOML, of the keys that the main file does not set
}

type file struct {
	URI    string `json:"uri"`
	SHA256 string `json:"sha256,omitempty"` // of its record; empty if the file sets nothing, because it has no record then
}

// record writes what has changed since the configuration that was written last, and returns the number of records.
// After an error, or if ctx has ended, the next call writes all changes again.
func (r *recorder) record(ctx context.Context, c *config.Config, now time.Time) (records int, err error) {
	before, err := r.read()
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", r.state, err)
	}
	files, err := c.Redacted()
	if err != nil {
		return 0, err
	}
	list, after := r.account(c, now), map[string]string{}
	if list.Digest, err = c.PublicDigest(); err != nil {
		return 0, err
	}
	for i, f := range files {
		name := nameOf(f.Name, i == 0)
		after[name] = sumOf(f.Data)
		if before[name] == after[name] {
			list.Unchanged++
			continue
		}
		if len(f.Data) == 0 { // a record must have content
			list.Changed = append(list.Changed, file{URI: name})
			continue
		}
		list.Changed = append(list.Changed, file{name, after[name]})
		if err := errors.Join(ctx.Err(), r.write(name, typeTOML, f.Data, now)); err != nil {
			return records, err
		}
		records++
	}
	for name := range before {
		if _, still := after[name]; !still && name != listURI {
			list.Removed = append(list.Removed, name)
		}
	}
	slices.Sort(list.Removed)
	after[listURI] = list.sum()
	if len(list.Changed)+len(list.Removed) == 0 && before[listURI] == after[listURI] {
		return 0, nil
	}
	text, err := json.MarshalIndent(list, "", "  ")
	if err == nil {
		err = r.write(listURI, typeJSON, append(text, '\n'), now)
	}
	if err != nil {
		return records, err
	}
	return records + 1, r.save(after)
}

// nameOf returns the URI of a file.
func nameOf(name string, isMain bool) string {
	if isMain {
		return listURI + ":" + url.PathEscape(name)
	}
	return listURI + ":hosts:" + url.PathEscape(name)
}

// account returns the list of changes before any are found.
func (r *recorder) account(c *config.Config, now time.Time) account {
	list := account{
		Format: 1, Software: "arcrawl/" + r.version, Time: now.UTC(), Changed: []file{},
		AtRestart: c.AtRestart, Defaults: map[string]string{},
	}
	for _, s := range c.Defaults() {
		list.Defaults[s.Key] = s.Value
	}
	for _, h := range c.HeldHosts() {
		list.Held = append(list.Held, string(h))
	}
	return list
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
func (r *recorder) write(name, contentType string, content []byte, now time.Time) error {
	w, err := r.archive.WriteResource(now, warcout.Resource{
		URI: name, Date: now, ContentType: contentType, Content: content,
	})
	if err != nil {
		return err
	}
	r.index(w.Origin, contentType)
	return nil
}

// read returns the digest of each record that was written last, by its URI.
func (r *recorder) read() (map[string]string, error) {
	f, err := os.Open(r.state)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	sums := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if sum, name, ok := strings.Cut(lines.Text(), "  "); ok {
			sums[name] = sum
		}
	}
	return sums, lines.Err()
}

// save replaces what read returns.
func (r *recorder) save(sums map[string]string) error {
	var lines []string
	for name, sum := range sums {
		lines = append(lines, sum+"  "+name+"\n")
	}
	slices.Sort(lines)
	return fileio.Write(r.state, []byte(strings.Join(lines, "")), 0o640)
}

// provenanceInfo returns the fields of the warcinfo record of each WARC file: who made it, with which software and
// settings.
// sum is the digest of the settings.
func provenanceInfo(c *config.Config, version, host, sum string) []warcout.Field {
	names := c.NamesNotation()
	fields := []warcout.Field{
		{Name: "software", Value: "arcrawl/" + version + " (https://github.com/arcrawl/arcrawl)"},
		{Name: "format", Value: "WARC File Format 1.1"},
		{Name: "conformsTo", Value: "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
		{Name: "operator", Value: c.Operator.Name + " <" + c.Operator.Contact + ">"},
		{Name: "hostname", Value: host},
		{Name: "http-header-user-agent", Value: c.UserAgent(version)},
		{Name: "robots", Value: "obey (RFC 9309), except where a metadata record has robotsPermission"},
		{Name: "canonicalization", Value: "whatwg; without fragment and user information"},
		{Name: "nameRules", Value: joinNameRules(names)},
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
// the rules of single hosts, as far as they fit into maxNameRules.
func joinNameRules(lines []string) string {
	all := strings.Join(lines, "; ")
	if len(all) <= maxNameRules {
		return all
	}
	size, n := len(lines[0]), 1
	for ; size+2+len(lines[n]) <= maxNameRules; n++ {
		size += 2 + len(lines[n])
	}
	return fmt.Sprintf("%s; and the rules of %d more hosts", strings.Join(lines[:n], "; "), len(lines)-n)
}
