package survey

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/arcrawl/arcrawl/archive/parallel"
	"github.com/arcrawl/arcrawl/archive/warc"
)

// Survey knows the captures of a set of files and what they refer to. It needs some 80 bytes of memory for each capture, some 120 and the
// text for each URI, and while it reads some 400 for each capture of the files that are being read.
type Survey struct {
	holdings
	Files []warc.File

	// Numbers of captures, sorted by what they are looked for by.
	ids      []int32
	moments  []int32
	payloads []int32 // responses and resources with a payload digest
}

// New reads the files and folders. What is damaged is given to see and not surveyed.
func New(ctx context.Context, paths []string, watch *warc.Progress, see func(warc.Finding) error) (*Survey, error) {
	files, faults := warc.Files(paths)
	s := &Survey{Files: files}
	for _, f := range faults {
		if err := see(*f); err != nil {
			return nil, err
		}
	}
	watch.Expect(files)
	captures := make([][]namedCapture, len(files))
	found := make([][]warc.Finding, len(files))
	work := func(ctx context.Context, i int) error {
		notes := warc.NewFindings(files[i])
		err := warc.EachRecord(ctx, files[i], watch, notes, func(rec *warc.Record) error {
			if err := rec.Close(); err != nil {
				return err
			}
			if h, ok := holdingOf(rec, int32(i)); ok {
				captures[i] = append(captures[i], h)
			}
			return nil
		})
		found[i] = notes.All()
		return err
	}
	finish := func(i int) error {
		for _, c := range captures[i] {
			s.add(c)
		}
		captures[i] = nil
		for _, f := range found[i] {
			if err := see(f); err != nil {
				return err
			}
		}
		return nil
	}
	if err := parallel.Each(ctx, len(files), work, finish); err != nil {
		return s, err
	}
	s.sort()
	return s, nil
}

// sort makes the captures ready to be looked for. What comes first of those with the same id, or of the same moment, is what is found; of
// these, revisits come last.
func (s *Survey) sort() {
	s.number = nil
	s.ids, s.moments = make([]int32, s.rows.n), make([]int32, s.rows.n)
	for i := range s.rows.n {
		s.ids[i], s.moments[i] = i, i
		if r := s.rows.at(i); s.methods[r.method] != "" && r.kind == KindFull {
			s.payloads = append(s.payloads, i)
		}
	}
	slices.SortFunc(s.ids, func(a, b int32) int { return cmp.Or(s.compareID(a, s.rows.at(b).id), cmp.Compare(a, b)) })
	slices.SortFunc(s.moments, func(a, b int32) int {
		return cmp.Or(s.compareMoment(a, s.momentOf(b)), cmp.Compare(s.rows.at(a).kind, s.rows.at(b).kind), cmp.Compare(a, b))
	})
	slices.SortFunc(s.payloads, func(a, b int32) int { return cmp.Or(s.comparePayload(a, s.rows.at(b).payload), cmp.Compare(a, b)) })
}

func (s *Survey) compareID(i int32, id Key) int { return bytes.Compare(s.rows.at(i).id[:], id[:]) }

func (s *Survey) comparePayload(i int32, payload Key) int {
	return bytes.Compare(s.rows.at(i).payload[:], payload[:])
}

func (s *Survey) compareMoment(i int32, m Moment) int {
	n := s.momentOf(i)
	return cmp.Or(bytes.Compare(n.URI[:], m.URI[:]), cmp.Compare(n.Second, m.Second))
}

// byID gives the capture with a record id.
func (s *Survey) byID(id Key) (int32, bool) {
	at, found := slices.BinarySearchFunc(s.ids, id, s.compareID)
	if !found {
		return 0, false
	}
	return s.ids[at], true
}

// byMoment gives the capture of a URI and second.
func (s *Survey) byMoment(m Moment) (int32, bool) {
	at, found := slices.BinarySearchFunc(s.moments, m, s.compareMoment)
	if !found {
		return 0, false
	}
	return s.moments[at], true
}

// Original follows a revisit to the record with its payload; -1 when it is not there. Anything else is its own original.
func (s *Survey) Original(i int32) int32 {
	if s.rows.at(i).kind == KindRevisit {
		return s.FindOriginal(s.At(i))
	}
	return i
}

// FindOriginal finds the original of a revisit, which may be one of another survey.
func (s *Survey) FindOriginal(c Capture) int32 {
	const maxChain = 4 // arcrawl makes no chains; others did
	for range maxChain {
		next, ok := s.byID(c.toID)
		if !ok || c.toID == (Key{}) {
			next, ok = s.byMoment(c.to)
		}
		if !ok {
			return -1
		}
		if c = s.At(next); !c.IsRevisit {
			return next
		}
	}
	return -1
}

// find gives the numbers of the files that are named, by path or by name within the folder that was surveyed.
func (s *Survey) find(names []string) (map[int32]bool, error) {
	set := map[int32]bool{}
	for _, name := range names {
		i := slices.IndexFunc(s.Files, func(f warc.File) bool {
			return f.Name == name || same(f.Path, name)
		})
		if i < 0 {
			return nil, fmt.Errorf("%w: there is no file %s among the %d that were read", warc.ErrNotFound, name, len(s.Files))
		}
		set[int32(i)] = true
	}
	return set, nil
}

func same(a, b string) bool {
	x, err := filepath.Abs(a)
	y, err2 := filepath.Abs(b)
	return err == nil && err2 == nil && x == y
}
