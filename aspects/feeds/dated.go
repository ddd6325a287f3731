package feeds

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/arcrawl/arcrawl/uri"
)

// datedPages is a bounded memory of the pages that indexes list with a date. After a restart it fills as indexes are
// read; until then pages have their own waits. Its methods may be called by several goroutines at once.
type datedPages struct {
	mu    sync.Mutex // guards the fields below
	of    map[uri.Host]map[string]*dated
	pages int // in of
}

// dated holds the pages of one index.
type dated struct {
	pages   []uint64           // hashes of their URIs, ascending
	leftOut map[uint64]bool    // pages whose last change the index left out
	links   map[uint64]uri.URI // of pages that it may leave out later, because it lists the newest
	read    time.Time
}

func pageHash(u uri.URI) uint64 { return xxhash.Sum64String(u.String()) }

// set replaces the pages of an index, and returns those that a list of the newest does not have any more. If there are
// too many, the indexes that were read first are forgotten.
func (d *datedPages) set(index uri.URI, r *indexReading, now time.Time) (ended []uri.URI) {
	host, pages := index.Host().Clone(), slices.Sorted(maps.Keys(r.dates))
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.of == nil {
		d.of = map[uri.Host]map[string]*dated{}
	}
	if d.of[host] == nil {
		d.of[host] = map[string]*dated{}
	}
	known := d.of[host][index.String()]
	if known == nil {
		known = &dated{leftOut: map[uint64]bool{}}
		d.of[host][index.String()] = known
	}
	d.pages += len(pages) - len(known.pages)
	for page, link := range known.links {
		if _, listed := r.dates[page]; !listed {
			ended = append(ended, link)
		}
	}
	known.pages, known.links, known.read = pages, r.links, now
	maps.DeleteFunc(known.leftOut, func(page uint64, _ bool) bool {
		_, listed := slices.BinarySearch(pages, page)
		return !listed
	})
	for d.pages > maxDatedPages {
		d.forgetOldest()
	}
	return ended
}

func (d *datedPages) forgetOldest() {
	var host uri.Host
	var index string
	var oldest *dated
	for h, all := range d.of {
		for name, known := range all {
			if oldest == nil || known.read.Before(oldest.read) {
				host, index, oldest = h, name, known
			}
		}
	}
	d.pages -= len(oldest.pages)
	if delete(d.of[host], index); len(d.of[host]) == 0 {
		delete(d.of, host)
	}
}

// listedBy says that an index lists a page.
type listedBy struct {
	index   uri.URI
	leftOut bool // it left out the last change of the page
}

// find returns the indexes that list a page.
func (d *datedPages) find(host uri.Host, page func() uint64) (all []listedBy) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.of[host]) == 0 {
		return nil
	}
	hash := page()
	for _, name := range slices.Sorted(maps.Keys(d.of[host])) {
		known := d.of[host][name]
		if _, ok := slices.BinarySearch(known.pages, hash); ok {
			all = append(all, listedBy{uri.FromCanonical(name), known.leftOut[hash]})
		}
	}
	return all
}

// pagesOf returns the pages of an index; nil if they are not known.
func (d *datedPages) pagesOf(index uri.URI) []uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.of[index.Host()][index.String()]; known != nil {
		return known.pages
	}
	return nil
}

// mark remembers whether an index left out the last change of a page.
func (d *datedPages) mark(index uri.URI, page uint64, leftOut bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch known := d.of[index.Host()][index.String()]; {
	case known == nil:
	case leftOut:
		known.leftOut[page] = true
	default:
		delete(known.leftOut, page)
	}
}
