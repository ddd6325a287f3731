package archive

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

// importFormats returns the names of the formats that [importFiles] reads.
func importFormats() []string {
	return []string{"warc", "arc", "wacz", "cdxj", "cdx", "crawl.log", "manifest"}
}

// importOptions say how to import earlier archives.
type importOptions struct {
	As       string           // one of Formats; empty = detect the format of each file
	Crawl    string           // id of the crawl that made the files, unless a manifest has one
	Plain    bool             // the records of indexes and logs are stored without chunks and content codings
	Remove   bool             // remove files from the index that were imported from a manifest and are no longer in it
	Now      func() time.Time // returns the present time
	Progress *warc.Progress   // may be nil
	Added    func() error     // called after each batch of records; may be nil
	Done     func(importedFile) error
}

// importedFile is the result of importing one file.
type importedFile struct {
	File     string `json:"file"`
	Known    bool   `json:"known"`    // the index has had the file before; nothing changed
	Resumed  bool   `json:"resumed"`  // an earlier import was interrupted in the file
	Entries  int64  `json:"entries"`  // originals in the file
	Revisits int64  `json:"revisits"` // revisits in the file
	Skipped  int64  `json:"skipped"`  // records that are neither, or lack something
	Removed  bool   `json:"removed"`  // the file is no longer in its manifest
}

// importSummary counts the files and records of an import.
type importSummary struct {
	Files    int   `json:"files"`
	Known    int   `json:"known"`
	Removed  int   `json:"removed"`
	Entries  int64 `json:"entries"`
	Revisits int64 `json:"revisits"`
	Skipped  int64 `json:"skipped"`
	Errors   int   `json:"errors"`
}

// importTask is one file to import.
type importTask struct {
	file, name, format string
	crawl, manifest    string
	wantHash           string
	wantSize           int64
	missing            string // why it cannot be read
}

// importing is one import.
type importing struct {
	index  *dedup.Index
	o      importOptions
	sum    importSummary
	report func(warc.Finding) error
}

// importFiles imports earlier archives into a dedup index: WARC and ARC files, plain or gzip; WACZ packages; CDX and
// CDXJ indexes; crawl logs of Heritrix and arcrawl; and manifests, which list packages in the form of Browsertrix
// ("resources" with name, path, hash, size, crawlId). A folder stands for the WARC files and packages below it. A file
// that the index has already, under any name, changes nothing. An interrupted import of a file is resumed. The records
// of a file count when the whole file has been read.
//
// It reports damage and reads the rest. It skips records whose payload is unknown: the payload is cut or empty, the
// index has no SHA-1 of it, or its digest is not of the payload.
func importFiles(
	ctx context.Context, index *dedup.Index, paths []string, o importOptions, report func(warc.Finding) error,
) (importSummary, error) {
	im := &importing{index: index, o: o}
	im.report = warc.CountErrors(&im.sum.Errors, report)
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

func (im *importing) done(f importedFile) error {
	if im.o.Done == nil {
		return nil
	}
	return im.o.Done(f)
}

func unreadable(file string, err error) warc.Finding {
	return *warc.FileFinding(file, warc.Unreadable, warc.Cause(err))
}

// reader returns the function that reads a file of the format of t.
func (im *importing) reader(t importTask) (readFunc, error) {
	progress := im.o.Progress
	switch t.format {
	case "cdxj", "cdx", "crawl.log":
		if !im.o.Plain {
			return nil, warc.FileFinding(t.file, warc.BadIndex, "an index or a log does not say which bodies are in chunks or have "+
				"a content coding, so a revisit may not fit; import the WARC files, or use --plain if no body has")
		}
	}
	switch t.format {
	case "warc":
		return readWARC(t.file, progress), nil
	case "arc":
		return readARC(t.file, progress), nil
	case "wacz":
		return readWACZ(t.file, progress), nil
	case "cdxj":
		return readLines(t.file, progress, parseCDXJLine), nil
	case "cdx":
		return readLines(t.file, progress, parseCDXLine()), nil
	case "crawl.log":
		return readLines(t.file, progress, parseLogLine), nil
	}
	return nil, warc.FileFinding(t.file, warc.NotWARC,
		fmt.Sprintf("this is not one of %s; name the format with --as if it is", strings.Join(importFormats(), ", ")))
}

// formatOf detects the format of a file by its name, or else by its beginning. It is empty if the format is unknown.
func formatOf(file string) string {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(file)), ".gz")
	for suffix, format := range map[string]string{
		".warc": "warc", ".arc": "arc", ".wacz": "wacz", ".cdxj": "cdxj", ".cdx": "cdx",
		".json": "manifest", ".log": "crawl.log",
	} {
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
	_, _, notLog := parseLogLine(line)
	_, _, notCDX := parseCDXLine()(line)
	switch {
	case strings.HasPrefix(text, "WARC/"):
		return "warc"
	case strings.HasPrefix(text, "filedesc:"):
		return "arc"
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

// tasks returns the files to read, and the ids of the named manifests.
func (im *importing) tasks(paths []string) (tasks []importTask, manifests []string, err error) {
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			if err := im.report(unreadable(p, err)); err != nil {
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
		t := importTask{file: p, name: filepath.Base(p), format: im.o.As, crawl: im.o.Crawl}
		if t.format == "" {
			t.format = formatOf(p)
		}
		if t.format != "manifest" {
			tasks = append(tasks, t)
			continue
		}
		more, id, err := im.manifest(p)
		if err != nil {
			if err := warc.ReportFinding(err, im.report); err != nil {
				return nil, nil, err
			}
			continue
		}
		tasks, manifests = append(tasks, more...), append(manifests, id)
	}
	return tasks, manifests, nil
}

// folder returns the WARC files and packages below a folder, sorted. It leaves out files that are still open.
func (im *importing) folder(dir string) ([]importTask, error) {
	var tasks []importTask
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		name := ""
		if err == nil {
			name = strings.ToLower(d.Name())
		}
		switch {
		case err != nil:
			return im.report(unreadable(path, err))
		case d.IsDir() || strings.HasPrefix(name, "."):
		case strings.HasSuffix(name, warc.OpenSuffix) && warc.IsArchive(name):
			return im.report(warc.LeftOut(path))
		case warc.IsArchive(name):
			tasks = append(tasks, importTask{file: path, name: d.Name(), format: formatOf(path), crawl: im.o.Crawl})
		case strings.HasSuffix(name, ".wacz"):
			tasks = append(tasks, importTask{file: path, name: d.Name(), format: "wacz", crawl: im.o.Crawl})
		}
		return nil
	})
	if err == nil && len(tasks) == 0 {
		err = im.report(*warc.FileFinding(dir, warc.Empty, "there is no WARC file and no package in this folder"))
	}
	return tasks, err
}

// manifestFile is a list of packages. The field names are those that Browsertrix uses.
type manifestFile struct {
	Resources []struct {
		Name    string `json:"name"`
		Path    string `json:"path"`
		Hash    string `json:"hash"`
		Size    int64  `json:"size"`
		Bytes   int64  `json:"bytes"` // the size in data packages
		CrawlID string `json:"crawlId"`
	} `json:"resources"`
}

// maxManifest is the maximum size of a manifest, in bytes. It is enough for some 100,000 packages.
const maxManifest = 64 << 20

// manifest returns the files that a manifest names, and the id of the manifest. Paths are relative to its folder.
func (im *importing) manifest(file string) (tasks []importTask, id string, err error) {
	fault := func(text string) error { return warc.FileFinding(file, warc.BadHeader, text) }
	if id, err = filepath.Abs(file); err != nil {
		return nil, "", fault(err.Error())
	}
	text, err := warc.ReadFile(file, maxManifest+1)
	if err != nil {
		return nil, "", fault(warc.Cause(err))
	}
	var m manifestFile
	if err := json.Unmarshal(text, &m); err != nil || len(text) > maxManifest {
		return nil, "", fault(fmt.Sprintf("this is not a manifest: "+
			"want an object with a list \"resources\" of at most %d bytes: %v", maxManifest, err))
	}
	if len(m.Resources) == 0 {
		return nil, "", fault("this manifest has no resources")
	}
	for _, r := range m.Resources {
		t := importTask{
			crawl: cmp.Or(r.CrawlID, im.o.Crawl), manifest: id,
			wantHash: withAlgorithm(r.Hash), wantSize: max(r.Size, r.Bytes),
		}
		path := cmp.Or(r.Path, r.Name)
		if t.file = path; !filepath.IsAbs(path) {
			t.file = filepath.Join(filepath.Dir(file), filepath.FromSlash(path))
		}
		t.name = cmp.Or(r.Name, filepath.Base(t.file))
		if strings.Contains(path, "://") {
			t.file, t.missing = path, "this manifest names a file on the network; download it and name the local file"
		} else if _, err := os.Stat(t.file); err != nil {
			t.missing = "the manifest names this file: " + warc.Cause(err)
		} else {
			t.format = formatOf(t.file)
		}
		tasks = append(tasks, t)
	}
	return tasks, id, nil
}

// withAlgorithm returns a hash in the form of [warc.HashFile].
func withAlgorithm(hash string) string {
	if hash == "" || strings.Contains(hash, ":") {
		return strings.ToLower(hash)
	}
	if _, err := hex.DecodeString(hash); err != nil || len(hash) != hex.EncodedLen(sha256.Size) {
		return hash // no file has this hash
	}
	return "sha256:" + strings.ToLower(hash)
}

// remove removes from the index what was imported from the manifests and is no longer in them. A file that a manifest
// names stays in the index even if it is missing on disk: only a person knows whether it is lost.
func (im *importing) remove(tasks []importTask, manifests []string) error {
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
		if err := removeCollection(im.index, c, im.o.Now()); err != nil {
			return err
		}
		im.sum.Removed++
		if err := im.done(importedFile{File: c.Name, Removed: true}); err != nil {
			return err
		}
	}
	return nil
}
