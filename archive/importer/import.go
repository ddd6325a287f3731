package importer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/dedup"
)

// Formats are the kinds of files that [Import] reads.
func Formats() []string {
	return []string{"warc", "wacz", "cdxj", "cdx", "crawl.log", "manifest"}
}

// Options say how to read earlier archives into a dedup index.
type Options struct {
	As       string           // one of ImportFormats; empty: each file's name and beginning tell
	Crawl    string           // id of the crawl that they came of; a manifest tells it of each file
	Remove   bool             // what came of a manifest and is no longer in it is removed
	Now      func() time.Time // the time when it is asked
	Progress *warc.Progress   // may be nil
	Added    func() error     // called each time that some hundred records were added; may be nil
	Done     func(FileSummary) error
}

// FileSummary is what came of one file.
type FileSummary struct {
	File     string `json:"file"`
	Known    bool   `json:"known"`    // it was in the index before; nothing changed
	Resumed  bool   `json:"resumed"`  // an earlier import had come so far with it
	Entries  int64  `json:"entries"`  // originals in it
	Revisits int64  `json:"revisits"` // in it
	Skipped  int64  `json:"skipped"`  // records that are neither, or say too little
	Removed  bool   `json:"removed"`  // it is no longer in its manifest
}

// Summary sums up an import.
type Summary struct {
	Files    int   `json:"files"`
	Known    int   `json:"known"`
	Removed  int   `json:"removed"`
	Entries  int64 `json:"entries"`
	Revisits int64 `json:"revisits"`
	Skipped  int64 `json:"skipped"`
	Errors   int   `json:"errors"`
}

// task is one file to read.
type task struct {
	file, name, format string
	crawl, manifest    string
	wantHash           string
	wantSize           int64
	missing            string // why it cannot be read
}

// importing is one import.
type importing struct {
	index *dedup.Index
	o     Options
	sum   Summary
	see   func(warc.Finding) error
}

// Files reads earlier archives into a dedup index: WARC files, plain or gzip; WACZ packages; indexes as CDX and CDXJ; crawl
// logs of Heritrix and arcrawl; and manifests, which list packages as Browsertrix does ("resources" with name, path, hash, size,
// crawlId). A folder stands for the WARC files and packages in it. A file that was read before, under whatever name, changes
// nothing; one that was read in part is read on. Its records count when all of it has been read.
//
// Damage is given to see, and the rest is read. What a payload of a record cannot be told of is skipped: it is cut, empty, without
// a SHA-1 in an index, or its digest is not that of the payload.
func Files(ctx context.Context, index *dedup.Index, paths []string, o Options, see func(warc.Finding) error) (Summary, error) {
	im := &importing{index: index, o: o}
	im.see = func(f warc.Finding) error {
		if f.Severity == warc.Error {
			im.sum.Errors++
		}
		return see(f)
	}
	tasks, manifests, err := im.tasks(paths)
	if err != nil {
		return im.sum, err
	}
	for _, t := range tasks {
		if info, err := os.Stat(t.file); err == nil {
			im.o.Progress.Expect([]warc.File{{Size: info.Size()}})
		}
	}
	if err := im.all(ctx, tasks); err != nil {
		return im.sum, err
	}
	if im.o.Remove {
		return im.sum, im.remove(tasks, manifests)
	}
	return im.sum, nil
}

func (im *importing) done(f FileSummary) error {
	if im.o.Done == nil {
		return nil
	}
	return im.o.Done(f)
}

// reader finds out how a file is to be read.
func (im *importing) reader(t task) (reap, error) {
	watch := im.o.Progress
	switch t.format {
	case "warc":
		return reapWARC(t.file, watch), nil
	case "wacz":
		return reapWACZ(t.file, watch), nil
	case "cdxj":
		return reapLines(t.file, watch, parseCDXJLine), nil
	case "cdx":
		return reapLines(t.file, watch, parseCDXLine), nil
	case "crawl.log":
		return reapLines(t.file, watch, parseLogLine), nil
	}
	return nil, unknownFormat(t.file)
}

// formatOf tells what a file is, by its name or else by how it begins. It is empty for what is none of them.
func formatOf(file string) string {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(file)), ".gz")
	for suffix, format := range map[string]string{".warc": "warc", ".arc": "warc", ".wacz": "wacz", ".cdxj": "cdxj", ".cdx": "cdx", ".json": "manifest", ".log": "crawl.log"} {
		if strings.HasSuffix(name, suffix) {
			return format
		}
	}
	t, err := openText(file)
	if err != nil {
		return ""
	}
	defer t.Close() //nolint:errcheck // nothing was written
	begin := make([]byte, 64<<10)
	n, _ := io.ReadFull(t, begin)
	text := string(begin[:n])
	line, _, _ := strings.Cut(text, "\n")
	_, notCDXJ := index.ParseEntry(line)
	_, _, notLog := parseLogLine()(line)
	_, _, notCDX := parseCDXLine()(line)
	switch {
	case strings.HasPrefix(text, "WARC/"):
		return "warc"
	case strings.HasPrefix(text, "PK\x03\x04"):
		return "wacz"
	case strings.HasPrefix(strings.TrimSpace(text), "{"):
		return "manifest"
	case notCDXJ == nil:
		return "cdxj"
	case notLog == nil:
		return "crawl.log"
	case notCDX == nil && strings.TrimSpace(line) != "":
		return "cdx"
	}
	return ""
}

// tasks lists what is to be read, and the manifests that were named.
func (im *importing) tasks(paths []string) (tasks []task, manifests []string, err error) {
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			if err := im.see(warc.Finding{File: p, Offset: -1, Severity: warc.Error, Kind: warc.Unreadable, Text: warc.Cause(err)}); err != nil {
				return nil, nil, err
			}
			continue
		}
		if info.IsDir() {
			more, err := im.folder(p)
			if err != nil {
				return nil, nil, err
			}
			tasks = append(tasks, more...)
			continue
		}
		t := task{file: p, name: filepath.Base(p), format: im.o.As, crawl: im.o.Crawl}
		if t.format == "" {
			t.format = formatOf(p)
		}
		if t.format != "manifest" {
			tasks = append(tasks, t)
			continue
		}
		more, id, err := im.manifest(p)
		if err != nil {
			if err := warc.ReportFinding(err, im.see); err != nil {
				return nil, nil, err
			}
			continue
		}
		tasks, manifests = append(tasks, more...), append(manifests, id)
	}
	return tasks, manifests, nil
}

// folder lists the WARC files and packages below a folder, sorted. Files that are being written are left out.
func (im *importing) folder(dir string) ([]task, error) {
	var tasks []task
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		name := ""
		if err == nil {
			name = strings.ToLower(d.Name())
		}
		switch {
		case err != nil:
			return im.see(warc.Finding{File: path, Offset: -1, Severity: warc.Error, Kind: warc.Unreadable, Text: warc.Cause(err)})
		case d.IsDir() || strings.HasPrefix(name, "."):
		case strings.HasSuffix(name, warc.OpenSuffix) && warc.IsArchive(name):
			return im.see(warc.Finding{File: path, Offset: -1, Severity: warc.Warning, Kind: warc.StillOpen, Text: "this file is still open and is left out"})
		case warc.IsArchive(name):
			tasks = append(tasks, task{file: path, name: d.Name(), format: "warc", crawl: im.o.Crawl})
		case strings.HasSuffix(name, ".wacz"):
			tasks = append(tasks, task{file: path, name: d.Name(), format: "wacz", crawl: im.o.Crawl})
		}
		return nil
	})
	if err == nil && len(tasks) == 0 {
		err = im.see(warc.Finding{File: dir, Offset: -1, Severity: warc.Error, Kind: warc.Empty, Text: "there is no WARC file and no package in this folder"})
	}
	return tasks, err
}

// manifestFile is a list of packages, with the names that Browsertrix gives to its parts.
type manifestFile struct {
	Resources []struct {
		Name    string `json:"name"`
		Path    string `json:"path"`
		Hash    string `json:"hash"`
		Size    int64  `json:"size"`
		Bytes   int64  `json:"bytes"` // what data packages call it
		CrawlID string `json:"crawlId"`
	} `json:"resources"`
}

// maxManifest bounds a manifest: some hundred thousand packages.
const maxManifest = 64 << 20

// manifest lists what a manifest names. Its paths are seen from its folder.
func (im *importing) manifest(file string) (tasks []task, id string, err error) {
	say := func(text string) error {
		return &warc.Finding{File: file, Offset: -1, Severity: warc.Error, Kind: warc.BadHeader, Text: text}
	}
	if id, err = filepath.Abs(file); err != nil {
		return nil, "", say(err.Error())
	}
	f, _, err := warc.OpenRegular(file)
	if err != nil {
		return nil, "", say(warc.Cause(err))
	}
	text, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, "", say(warc.Cause(err))
	}
	var m manifestFile
	if err := json.Unmarshal(text, &m); err != nil || len(text) > maxManifest {
		return nil, "", say(fmt.Sprintf("this is no manifest: want an object with a list \"resources\" of at most %d bytes: %v", maxManifest, err))
	}
	if len(m.Resources) == 0 {
		return nil, "", say("this manifest has no resources")
	}
	for _, r := range m.Resources {
		t := task{name: r.Name, crawl: r.CrawlID, manifest: id, wantHash: withAlgorithm(r.Hash), wantSize: max(r.Size, r.Bytes)}
		path := r.Path
		if path == "" {
			path = r.Name
		}
		if t.file = path; !filepath.IsAbs(path) {
			t.file = filepath.Join(filepath.Dir(file), filepath.FromSlash(path))
		}
		if t.name == "" {
			t.name = filepath.Base(t.file)
		}
		if t.crawl == "" {
			t.crawl = im.o.Crawl
		}
		if strings.Contains(path, "://") {
			t.file, t.missing = path, "this manifest names a file of the network; fetch it and name the local one"
		} else if _, err := os.Stat(t.file); err != nil {
			t.missing = "the manifest names this file: " + warc.Cause(err)
		} else {
			t.format = formatOf(t.file)
		}
		tasks = append(tasks, t)
	}
	return tasks, id, nil
}

// withAlgorithm is a hash as [hashOf] writes it.
func withAlgorithm(hash string) string {
	if hash == "" || strings.Contains(hash, ":") {
		return strings.ToLower(hash)
	}
	if _, err := hex.DecodeString(hash); err != nil || len(hash) != hex.EncodedLen(sha256.Size) {
		return hash // whatever it is, no file has it
	}
	return "sha256:" + strings.ToLower(hash)
}

// remove takes out what came of the manifests and is no longer in them. A file that a manifest names and that is not there
// stays: whether it is lost is for a person to say.
func (im *importing) remove(tasks []task, manifests []string) error {
	type place struct{ manifest, name string }
	named, newest := map[place]string{}, map[place]uint32{}
	for _, t := range tasks {
		named[place{t.manifest, t.name}] = t.wantHash
	}
	all := im.index.Collections()
	for _, c := range all {
		newest[place{c.Manifest, c.Name}] = c.Number
	}
	for _, c := range all {
		at := place{c.Manifest, c.Name}
		hash, listed := named[at]
		same := hash == c.Hash || hash == "" && newest[at] == c.Number
		if c.State == dedup.Removed || !slices.Contains(manifests, c.Manifest) || listed && same {
			continue
		}
		if err := im.index.Remove(c.Number, im.o.Now()); err != nil {
			return err
		}
		im.sum.Removed++
		if err := im.done(FileSummary{File: c.Name, Removed: true}); err != nil {
			return err
		}
	}
	return nil
}
