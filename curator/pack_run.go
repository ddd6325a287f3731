package curator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/rewrite"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/internal/human"
)

const (
	workPrefix = ".work-" // begins the names of folders with unfinished packages
	maxNamed   = 10       // maximum number of missing files that a package names
)

// start makes the packages that wait, one after the other, unless that is being done. The lock is held.
// [packStore.Close] waits for it.
func (s *packStore) start() {
	if s.working || s.closed {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.working, s.stop = true, cancel
	s.running.Go(func() {
		defer cancel()
		for p := s.next(); p != nil; p = s.next() {
			s.finish(p, s.make(ctx, p))
		}
	})
}

// next returns the oldest package that waits, or nil.
func (s *packStore) next() *orderedPackage {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.list) - 1; i >= 0 && !s.closed; i-- {
		if s.list[i].State == waiting {
			s.list[i].State = choosing
			return s.list[i]
		}
	}
	s.working = false
	return nil
}

// Close ends the making of packages and waits for it.
func (s *packStore) Close() {
	s.mu.Lock()
	s.closed = true
	if s.stop != nil {
		s.stop()
	}
	s.mu.Unlock()
	s.running.Wait()
}

// finish records the result of a package.
func (s *packStore) finish(p *orderedPackage, err error) {
	s.change(p, func(p *api.Package) {
		p.State, p.Link = done, packageLink(p.Name)
		if err != nil {
			p.State, p.Link, p.Problem = failed, "", sentence(err)
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trim()
}

// sentence says for people why there is no package.
func sentence(err error) string {
	_, gone := captures.GoneFile(err)
	var large tooLarge
	var lacks lacksFiles
	switch {
	case errors.As(err, &large), errors.As(err, &lacks):
		return err.Error()
	case errors.Is(err, context.Canceled):
		return "The daemon was stopped."
	case errors.Is(err, warc.ErrNotFound):
		return "The archive has no capture of this choice that can be read."
	case gone, errors.Is(err, warc.ErrDamaged):
		return captures.Sentence(err)
	}
	return "The package could not be made: " + err.Error()
}

// lacksFiles says that no chosen capture can be read because WARC files are not there.
type lacksFiles struct{ files []string }

func (l lacksFiles) Error() string {
	return "The archive has no capture of this choice that can be read. " + missing(l.files)
}

// notWith returns the error of a package, which may be that files are gone.
func notWith(err error, gone []string) error {
	if len(gone) > 0 && errors.Is(err, warc.ErrNotFound) {
		return lacksFiles{gone}
	}
	return err
}

// missing asks for files that are not in the folder of the archive.
func missing(files []string) string {
	named := files[:min(len(files), maxNamed)]
	text := "Not in the folder of the archive: " + strings.Join(named, ", ")
	if more := len(files) - len(named); more > 0 {
		text += " and " + human.Count(more, "more file")
	}
	return text + ". Bring back what you need, and order the package again."
}

// make makes one package.
func (s *packStore) make(ctx context.Context, p *orderedPackage) (err error) {
	if err := os.MkdirAll(s.dir, 0o750); err != nil {
		return err
	}
	work, err := os.MkdirTemp(s.dir, workPrefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	now := s.o.Now()
	l, release, err := s.o.Archive.Open(now)
	if err != nil {
		return err
	}
	defer release()
	all := s.o.Hosts
	if s.o.Node != "" { // hosts that another node crawls now may be in this archive
		all = nil
	}
	g := gathering{l: l, choice: p.choice, hosts: s.o.Config().Chooses(p.choice.only), all: all, found: func(n int) {
		s.change(p, func(p *api.Package) { p.Captures = n })
	}}
	if err := g.run(ctx); err != nil {
		return err
	}
	s.change(p, func(p *api.Package) { p.State = copying })
	out := filepath.Join(s.dir, p.Name)
	sum, err := rewrite.Excerpt(ctx, l, g.entries, rewrite.ExcerptOptions{
		Out: out, Work: work, Title: p.What, Software: s.o.Software, Now: now, MaxBytes: 2 * maxPackBytes,
		Room: s.room, Copied: func(n int) { s.change(p, func(p *api.Package) { p.Copied = n }) },
	})
	if errors.Is(err, rewrite.ErrTooLarge) {
		return tooLarge{p.choice}
	}
	if err != nil {
		return notWith(err, sum.Gone)
	}
	info, err := os.Stat(out)
	if err != nil {
		return err
	}
	s.change(p, func(p *api.Package) {
		p.Size, p.Captures, p.Notes = info.Size(), sum.Captures, g.notes
		if g.others > 0 {
			p.Notes = append(p.Notes, human.Count(g.others, "capture")+" of other series left out.")
		}
		if sum.Lacking > 0 {
			p.Notes = append(p.Notes, human.Count(sum.Lacking, "capture")+" could not be read, and its payload is missing.")
		}
		if len(sum.Gone) > 0 {
			p.Notes = append(p.Notes, missing(sum.Gone))
		}
		if s.o.Node != "" {
			p.Notes = append(p.Notes, "It has what node "+s.o.Node+" has archived, without payloads that only another node has. "+
				"With the folders of all nodes, arcrawl wacz makes one package.")
		}
	})
	return nil
}

// room returns an error if the disk has no room for a package. Its records are written three times.
func (s *packStore) room(bytes int64) error {
	free, err := s.o.Free()
	if err != nil {
		return err
	}
	if keep := s.o.Config().Storage.MinFree; free-3*bytes < keep {
		return fmt.Errorf("it needs %s of disk space for a while, %s are free, and the crawl needs %s of them (storage.min_free)",
			human.Bytes(3*bytes), human.Bytes(free), human.Bytes(keep))
	}
	return nil
}
