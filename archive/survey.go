package archive

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Survey knows the captures of a set of files and what they refer to. It needs some 1.5 kB of memory for each capture, at its peak.
type Survey struct {
	files    []File
	captures []holding // in the order of the files, and of each file
	ids      map[key]int32
	at       map[moment]int32
	payloads map[key][]int32 // responses and resources by payload digest
}

// holding is a capture and what its record says about its original.
type holding struct {
	fact
	target  string
	id      string
	toID    key // of a revisit; zero for none
	to      moment
	revisit bool
}

// NewSurvey reads the files and folders. What is damaged is given to see and not surveyed.
func NewSurvey(ctx context.Context, paths []string, watch *Progress, see func(Finding) error) (*Survey, error) {
	files, faults := Files(paths)
	s := &Survey{files: files, ids: map[key]int32{}, at: map[moment]int32{}, payloads: map[key][]int32{}}
	for _, f := range faults {
		if err := see(*f); err != nil {
			return nil, err
		}
	}
	if watch == nil {
		watch = new(Progress)
	}
	watch.expect(files)
	captures := make([][]holding, len(files))
	found := make([][]Finding, len(files))
	work := func(ctx context.Context, i int) (err error) {
		found[i], err = eachRecord(ctx, files[i], watch, func(rec *Record) error {
			if err := rec.Close(); err != nil {
				return err
			}
			if h, ok := holdingOf(rec, int32(i)); ok {
				captures[i] = append(captures[i], h)
			}
			return nil
		})
		return err
	}
	finish := func(i int) error {
		s.add(captures[i])
		captures[i] = nil
		for _, f := range found[i] {
			if err := see(f); err != nil {
				return err
			}
		}
		return nil
	}
	return s, inParallel(ctx, len(files), work, finish)
}

func holdingOf(rec *Record, file int32) (holding, bool) {
	h := rec.Header
	c := holding{
		fact:   fact{id: keyOf(rec.ID()), uri: keyOf(h.Target()), file: file, offset: rec.Offset, date: h.Date().UnixNano()},
		target: strings.Clone(h.Target()), id: strings.Clone(rec.ID()), // not parts of a whole head
	}
	switch h.Type() {
	case "response", "resource":
		c.kind = fullRecord
	case "revisit":
		c.kind, c.revisit = revisitRecord, true
	default:
		return holding{}, false
	}
	if d, err := parseSum(h.Get("WARC-Payload-Digest")); err == nil && !d.isZero() {
		c.method, c.payload = d.algorithm, keyOf(d.algorithm+string(d.value))
	}
	if id := h.ID("WARC-Refers-To"); id != "" {
		c.toID = keyOf(id)
	}
	if date, err := parseDate(h.Get("WARC-Refers-To-Date")); err == nil {
		c.to = moment{keyOf(trimID(h.Get("WARC-Refers-To-Target-URI"))), date.Unix()}
	}
	return c, true
}

func (s *Survey) add(captures []holding) {
	for _, c := range captures {
		i := int32(len(s.captures))
		s.captures = append(s.captures, c)
		if _, twice := s.ids[c.fact.id]; !twice {
			s.ids[c.fact.id] = i
		}
		m := moment{c.uri, c.date / int64(time.Second)}
		if before, taken := s.at[m]; !taken || s.captures[before].revisit && !c.revisit {
			s.at[m] = i
		}
		if c.method != "" && !c.revisit {
			s.payloads[c.payload] = append(s.payloads[c.payload], i)
		}
	}
}

// original follows a revisit to the record with its payload; -1 when it is not there. Anything else is its own original.
func (s *Survey) original(i int32) int32 {
	if c := s.captures[i]; c.revisit {
		return s.sought(c)
	}
	return i
}

// sought finds the original of a revisit, which may be one of another survey.
func (s *Survey) sought(c holding) int32 {
	const maxChain = 4 // arcrawl makes no chains; others did
	for range maxChain {
		next, ok := s.ids[c.toID]
		if !ok || c.toID == (key{}) {
			next, ok = s.at[c.to]
		}
		if !ok {
			return -1
		}
		if c = s.captures[next]; !c.revisit {
			return next
		}
	}
	return -1
}

// find gives the numbers of the files that are named, by path or by name within the folder that was surveyed.
func (s *Survey) find(names []string) (map[int32]bool, error) {
	set := map[int32]bool{}
	for _, name := range names {
		i := slices.IndexFunc(s.files, func(f File) bool {
			return f.Name == name || same(f.Path, name)
		})
		if i < 0 {
			return nil, fmt.Errorf("%w: there is no file %s among the %d that were read", ErrNotFound, name, len(s.files))
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

func (c holding) time() time.Time { return time.Unix(0, c.date).UTC() }

// host is the host of a capture, with its port when the URI has one.
func (c holding) host() string { return hostOf(c.target) }

func hostOf(uri string) string {
	_, rest, ok := strings.Cut(uri, "://")
	if !ok {
		return ""
	}
	authority, _ := cutBefore(rest, "/?#")
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		authority = authority[i+1:]
	}
	return strings.ToLower(authority)
}
