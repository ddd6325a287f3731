// Package heal archives again what lost files of the archive held.
//
// A file is lost from the moment when the dedup index has its loss: no new record refers to it, and no request is
// conditional on a payload in it. That alone would not bring the payloads back soon. So [URIs] goes through the store
// and makes the URIs due whose payload was in a lost file, one after the other at the pace of their host.
package heal

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	// rounds is how often the store is gone through for URIs that were being visited.
	rounds = 3
	// minimumPace is the minimum time between two URIs of a host.
	minimumPace = 100 * time.Millisecond
	// share is which part of a host's requests, at most, archive lost payloads again: one in two.
	share = 2
)

// Store is the part of [frontier.Frontier] that healing needs.
type Store interface {
	Recapture(
		now time.Time, from frontier.Cursor, isLost func(digest.Origin) bool, due func(uri.Host) time.Time,
	) (frontier.Steered, frontier.Cursor, error)
}

// URIs makes every URI due whose payload is lost, at the pace of its host, and returns their number. pause is called
// between two steps and ends the work with its error. If it is interrupted, it can be repeated. The losses stay pending
// until it has finished.
func URIs(
	ctx context.Context, s Store, index *dedup.Index, c *config.Config, now func() time.Time, pause func() error,
) (due int64, err error) {
	losses := index.Losses()
	for round := 1; ; round++ {
		done, err := once(ctx, s, index, c, now, pause)
		due += done.Changed
		if err != nil {
			return due, fmt.Errorf("make URIs due whose payloads are in lost files: %w", err)
		}
		if done.InProgress == 0 || round == rounds {
			return due, index.Healed(losses)
		}
	}
}

// once goes through the store once.
func once(
	ctx context.Context, s Store, index *dedup.Index, c *config.Config, now func() time.Time, pause func() error,
) (all frontier.Steered, err error) {
	var host uri.Host
	var next time.Time
	var pace time.Duration
	for from := frontier.Cursor(""); ; {
		at := now()
		due := func(h uri.Host) time.Time {
			if h != host {
				host, next = h, at
				p := c.ForHost(h, at).Politeness
				pace = max(share*max(p.MinDelay, p.MaxDelay), minimumPace)
			}
			next = next.Add(pace)
			return next
		}
		part, following, err := s.Recapture(at, from, index.Lost, due)
		all = all.Plus(part)
		if err == nil {
			err = ctx.Err()
		}
		if from = following; err != nil || from == "" {
			return all, err
		}
		if err := pause(); err != nil {
			return all, err
		}
	}
}

// Comparison holds what the comparison of an archive with its journal found.
type Comparison struct {
	Lost   []dedup.Loss // new losses
	Back   []string     // absent files that are back
	Away   int          // files that are elsewhere on purpose
	Absent int          // files that were known to be lost and still are
}

// Compare records as lost what the writer of the archive misses. cut maps the names of files to the byte from which on
// they are lost, and absent lists the files that are gone. A file in a folder below dir is not lost, and neither is one
// for which elsewhere returns true. A file that was absent and is back counts again.
func Compare(
	index *dedup.Index, dir string, cut map[string]int64, absent []string,
	elsewhere func(file string) bool,
) (found Comparison, err error) {
	gone := map[string]bool{}
	for _, name := range absent {
		gone[name] = true
	}
	if len(gone) > 0 { // they may have been moved to a folder below
		files, _ := warc.Files([]string{dir})
		for _, f := range files {
			delete(gone, strings.TrimSuffix(filepath.Base(f.Path), warc.OpenSuffix))
		}
	}
	lose := func(file string, from int64, cause dedup.Cause) error {
		l := dedup.Loss{File: file, From: from, Cause: cause, Pending: true}
		added, err := index.Lose(l)
		if added {
			found.Lost = append(found.Lost, l)
		}
		return err
	}
	for file, from := range cut {
		if err := lose(file, from, dedup.CutOff); err != nil {
			return found, err
		}
	}
	known := map[string]dedup.Loss{}
	for _, l := range index.Losses() {
		known[l.File] = l
	}
	for _, file := range absent {
		switch l, lost := known[file]; {
		case !gone[file]:
		case lost && l.Cause == dedup.Moved, elsewhere(file):
			found.Away++
		case lost:
			found.Absent++
		default:
			if err := lose(file, 0, dedup.Absent); err != nil {
				return found, err
			}
		}
	}
	for file, l := range known {
		if _, short := cut[file]; l.Cause == dedup.Absent && !gone[file] && !short {
			found.Back = append(found.Back, file)
		}
	}
	return found, index.Recall(found.Back...)
}
