// This file writes the main texts of archived pages, for research.

package archive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/rewrite"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// textLine is the main text of a version of an HTML page. What the page does not say is empty.
type textLine struct {
	URI        string     `json:"uri"`
	Time       time.Time  `json:"time"`
	Version    int        `json:"version"` // of the URI in this archive, from 1
	Digest     string     `json:"digest"`
	Title      string     `json:"title"`
	Headline   string     `json:"headline"`
	Standfirst string     `json:"standfirst"`
	Author     string     `json:"author"`
	Published  *time.Time `json:"published"` // null = the page does not say it
	Text       string     `json:"text"`      // paragraphs, with an empty line between them; empty on a page of teasers
	File       string     `json:"file"`
	Offset     int64      `json:"offset"`
}

// textsSuffix ends the names of the files of texts. The name of a WARC file comes before it.
const textsSuffix = ".jsonl.gz"

// choiceName is the name of the file that says what was chosen in a folder of texts.
const choiceName = "choice.txt"

// texts writes the texts of an archive to a folder: a file for each WARC file with versions of pages. A file that is
// there is not made again, so that an interrupted run resumes, and a nightly one only reads what is new.
type texts struct {
	rewrite.Options
	library *captures.Library
	chosen  map[string][]textPlace // by the name of the WARC file
	sum     textsSummary
	pages   atomic.Int64
	bytes   atomic.Int64
}

// textPlace is where a version of a page is.
type textPlace struct {
	offset int64
	number int32
}

// textsSummary counts what was written.
type textsSummary struct {
	Files    int   `json:"files"`
	Versions int64 `json:"versions"`
	Bytes    int64 `json:"bytes"`
	Known    int   `json:"known"` // files that were there before
	Open     int   `json:"open"`  // WARC files that are still written to
	Errors   int   `json:"errors"`
}

// writeTexts writes the texts of the chosen versions in files and folders.
func writeTexts(
	ctx context.Context, paths []string, o rewrite.Options, report func(warc.Finding) error,
) (sum textsSummary, err error) {
	t := texts{Options: o, chosen: map[string][]textPlace{}}
	report = warc.CountErrors(&t.sum.Errors, report)
	if err := t.begin(); err != nil {
		return sum, err
	}
	t.library, err = captures.OpenLibrary(ctx, paths[0], captures.Options{
		Progress: o.Progress, Outside: append(slices.Clone(paths[1:]), o.From...),
	}, report)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, t.library.Close()) }()
	if err := t.choose(ctx, paths); err != nil {
		return sum, err
	}
	err = t.write(ctx, report)
	t.sum.Versions, t.sum.Bytes = t.pages.Load(), t.bytes.Load()
	return t.sum, err
}

// begin makes the folder. A folder with the texts of another choice is refused: its files would not be made again.
func (t *texts) begin() error {
	if err := os.MkdirAll(t.Out, 0o755); err != nil {
		return err
	}
	name, choice := filepath.Join(t.Out, choiceName), t.Select.String()+"\n"
	before, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fileio.Write(name, []byte(choice), 0o644)
	case err != nil:
		return err
	case string(before) != choice:
		return fmt.Errorf("%s has the texts of another choice: %s; name another folder, or choose the same",
			t.Out, strings.TrimSpace(string(before)))
	}
	return nil
}

// choose lists the versions of pages: captures whose payload is not the one before.
func (t *texts) choose(ctx context.Context, paths []string) error {
	files, _ := warc.FilesAndPackages(paths) // opening the library has reported the faults
	inputs := map[string]bool{}
	for _, f := range warc.Without(files, t.Leave) {
		if strings.HasSuffix(f.Path, warc.OpenSuffix) {
			t.sum.Open++
			continue
		}
		inputs[f.Path] = true
	}
	type page struct {
		digest string
		number int32
	}
	pages, key := map[string]page{}, ""
	selects := t.Select.Matcher()
	err := t.library.InOrder(func(e captures.Entry) error {
		if e.Key != key {
			key = e.Key
			clear(pages)
		}
		p := pages[e.URL]
		if e.Digest == p.digest && p.number > 0 || !isPage(e) {
			return ctx.Err()
		}
		p = page{e.Digest, min(p.number, math.MaxInt32-1) + 1}
		pages[e.URL] = p
		if f, ok := t.library.FileOf(e.Filename); ok && inputs[f.Path] && selects(e.URL, e.Date()) {
			t.chosen[e.Filename] = append(t.chosen[e.Filename], textPlace{e.Offset, p.number})
		}
		return ctx.Err()
	})
	for _, list := range t.chosen {
		slices.SortFunc(list, func(a, b textPlace) int { return cmp.Compare(a.offset, b.offset) })
	}
	return err
}

// isPage reports whether a capture may be a version of an HTML page that was there.
func isPage(e captures.Entry) bool {
	return e.Status == "200" && (digest.IsHTML(e.MIME) || e.MIME == index.RevisitMIME)
}

// write writes the files that are not there, several at a time.
func (t *texts) write(ctx context.Context, report func(warc.Finding) error) error {
	var names []string
	for name := range t.chosen {
		switch _, err := os.Stat(t.outOf(name)); {
		case err == nil:
			t.sum.Known++
		case errors.Is(err, fs.ErrNotExist):
			names = append(names, name)
		default:
			return err
		}
	}
	slices.Sort(names)
	found := make([][]warc.Finding, len(names))
	return warc.ForEach(ctx, len(names), func(ctx context.Context, i int) (err error) {
		found[i], err = t.writeFile(ctx, names[i])
		return err
	}, func(i int) error {
		t.sum.Files++
		for _, f := range found[i] {
			if err := report(f); err != nil {
				return err
			}
		}
		found[i] = nil
		return nil
	})
}

// outOf returns the path of the texts of a WARC file.
func (t *texts) outOf(name string) string {
	return filepath.Join(t.Out, strings.ReplaceAll(strings.TrimSuffix(name, ".gz"), "/", "_")+textsSuffix)
}

// writeFile writes the texts of a WARC file. Versions that cannot be read are findings.
func (t *texts) writeFile(ctx context.Context, name string) (found []warc.Finding, err error) {
	out, err := fileio.Create(t.outOf(name), 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Discard()
	zipped := gzip.NewWriter(out)
	lines := json.NewEncoder(io.MultiWriter(zipped, counter{&t.bytes}))
	lines.SetEscapeHTML(false)
	for _, v := range t.chosen[name] {
		line, isText, err := t.read(ctx, name, v.offset)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			if f, _ := t.library.FileOf(name); len(found) < warc.MaxFindings {
				found = append(found, warc.Finding{
					File: f.Path, Offset: v.offset, Severity: warc.Error, Kind: warc.Unreadable, URI: line.URI,
					Text: "its text cannot be read: " + err.Error(),
				})
			}
			continue
		}
		if !isText {
			continue
		}
		line.Version = int(v.number)
		if err := lines.Encode(line); err != nil {
			return nil, err
		}
		t.pages.Add(1)
	}
	if err := zipped.Close(); err != nil {
		return nil, err
	}
	return found, out.Replace()
}

// counter adds up bytes.
type counter struct{ n *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}

// read reads the text of the version in a record. isText is false if it is no page: revisits say so only in their
// originals.
func (t *texts) read(ctx context.Context, file string, offset int64) (line textLine, isText bool, err error) {
	e, err := t.library.EntryAt(file, offset)
	if err != nil {
		return line, false, err
	}
	line = textLine{URI: e.URL, Time: e.Date(), Digest: e.Digest, File: file, Offset: offset}
	page, err := t.library.PageOf(ctx, e)
	if err != nil || page.Status != http.StatusOK || !digest.IsHTML(page.Header.Get("Content-Type")) {
		return line, false, err
	}
	a, title, err := captures.ArticleOf(page)
	line.Title, line.Headline, line.Standfirst, line.Author = title, a.Headline, a.Standfirst, a.Author
	if !a.Published.IsZero() {
		line.Published = &a.Published
	}
	line.Text = strings.Join(a.Paragraphs, "\n\n")
	return line, err == nil, err
}
