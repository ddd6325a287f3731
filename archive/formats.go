package archive

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/richardlehane/siegfried"
	"github.com/richardlehane/siegfried/pkg/config"
	"github.com/richardlehane/siegfried/pkg/static"

	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/warc"
)

const (
	// formatsName is the list of formats in a bag.
	formatsName = "metadata/formats.csv"
	// unknownFormat stands for a payload that has no known format, and undecodable for one that cannot be read.
	unknownFormat, undecodable = "UNKNOWN", "UNREADABLE"
	// maxIdentified is how much of a payload is looked at.
	maxIdentified = 64 << 20
)

// format is a format in the registry PRONOM.
type format struct{ id, name, version, mime string }

// formatCount says how many payloads of a file have a format, and their size without content coding, in bytes.
type formatCount struct{ payloads, bytes int64 }

// pronom finds the formats of payloads. It is safe for concurrent use.
type pronom struct {
	*siegfried.Siegfried
	agent string
}

// newPronom returns one with the signatures that are linked into the program.
var newPronom = sync.OnceValue(func() *pronom {
	s := static.New()
	v := config.Version()
	agent := fmt.Sprintf("siegfried %d.%d.%d", v[0], v[1], v[2])
	for _, i := range s.Identifiers() {
		signatures, _, _ := strings.Cut(i[1], ";")
		agent += " (" + signatures + ")"
	}
	return &pronom{s, agent}
})

// formatsOf counts the formats of the payloads of a file.
func (i *pronom) formatsOf(ctx context.Context, file string) (map[format]formatCount, error) {
	counts := map[format]formatCount{}
	var found warc.Findings // the bag has compared the file with the manifest; what is damaged in it was archived so
	err := warc.EachRecord(ctx, warc.File{Path: file}, nil, &found, func(rec *warc.Record) error {
		if t := rec.Header.Type(); t != "response" && t != "resource" && t != "conversion" {
			return rec.Close()
		}
		f, size := i.formatOf(rec)
		c := counts[f]
		counts[f] = formatCount{c.payloads + 1, c.bytes + size}
		return rec.Close()
	})
	return counts, err
}

// formatOf returns the format of the payload of a record, and its size.
func (i *pronom) formatOf(rec *warc.Record) (f format, size int64) {
	defer func() {
		if fault := recover(); fault != nil { // the payload is a stranger's, and so is the code that looks into it
			f = format{id: undecodable}
		}
	}()
	head, body, err := rec.Payload()
	if err == nil {
		body, err = head.Decode(body)
	}
	var content []byte
	if err == nil {
		content, err = io.ReadAll(io.LimitReader(body, maxIdentified))
	}
	size = int64(len(content))
	if err != nil {
		return format{id: undecodable}, size
	}
	if size == 0 {
		return format{id: "EMPTY"}, 0
	}
	name, _, _ := strings.Cut(rec.Header.Get("WARC-Target-URI"), "?")
	all, err := i.Identify(bytes.NewReader(content), path.Base(name), head.MIME())
	if len(all) == 0 || err != nil && !all[0].Known() {
		return format{id: unknownFormat}, size
	}
	said := map[string][]string{}
	for _, one := range all { // several formats if the signatures cannot decide
		for _, field := range i.Label(one) {
			said[field[0]] = append(said[field[0]], field[1])
		}
	}
	of := func(field string) string { return strings.Join(slices.Compact(said[field]), " or ") }
	return format{of("id"), of("format"), of("version"), of("mime")}, size
}

// formats adds the formats of the payloads of each file, and returns the list of them for the bag.
func (p *premis) formats(ctx context.Context, files []fixity.Entry) ([]byte, error) {
	var list bytes.Buffer
	out := csv.NewWriter(&list)
	if err := out.Write([]string{"file", "id", "format", "version", "mime", "payloads", "bytes"}); err != nil {
		return nil, err
	}
	i := newPronom()
	found := make([]map[format]formatCount, len(files))
	err := warc.ForEach(ctx, len(files), func(ctx context.Context, n int) (err error) {
		found[n], err = i.formatsOf(ctx, filepath.Join(p.dir, filepath.FromSlash(files[n].File)))
		return err
	}, func(n int) error {
		counts, file := found[n], files[n].File
		often := slices.SortedFunc(maps.Keys(counts), func(a, b format) int {
			return cmp.Or(cmp.Compare(counts[b].payloads, counts[a].payloads), cmp.Compare(a.id, b.id))
		})
		var said []string
		for _, f := range often {
			c := counts[f]
			said = append(said, fmt.Sprintf("%s %d", f.id, c.payloads))
			if err := out.Write([]string{
				file, f.id, f.name, f.version, f.mime, strconv.FormatInt(c.payloads, 10), strconv.FormatInt(c.bytes, 10),
			}); err != nil {
				return err
			}
		}
		p.add(premisEvent{
			eventType: identification, at: p.now, note: strings.Join(said, ", "), agents: []premisAgent{{i.agent, true}},
			detail: "The payloads were identified by PRONOM, and counted by format: " + formatsName + ".",
		}, file)
		found[n] = nil
		return nil
	})
	out.Flush()
	return list.Bytes(), err
}
