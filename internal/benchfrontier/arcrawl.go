package main

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// day is the beginning of the crawl. Its clock runs as fast as the visits need.
var day = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// arcrawl is the frontier of this program.
type arcrawl struct {
	*frontier.Frontier
	o      frontier.Options
	s      size
	now    atomic.Int64 // ms after day
	serial atomic.Int64
}

func openArcrawl(dir string, s size) (engine, error) {
	a := &arcrawl{s: s, o: frontier.Options{Dir: dir, Now: day, RestAfterCrash: time.Millisecond}}
	return a, a.reopen()
}

func (a *arcrawl) reopen() (err error) {
	a.o.Now = a.clock()
	a.Frontier, err = frontier.Open(a.o)
	return err
}

func (a *arcrawl) clock() time.Time { return day.Add(time.Duration(a.now.Load()) * time.Millisecond) }
func (a *arcrawl) sync() error      { return a.Sync() }
func (a *arcrawl) close() error     { return a.Close() }

// address returns URI number i. Each hundred consecutive URIs share a host, as most links of a page do.
func address(i int, s size) string {
	host := (i / 100) % s.hosts
	return fmt.Sprintf("https://www.host-%d.example/section/%d/an-article-with-a-name-%d.html", host, i%10, i)
}

func (a *arcrawl) load(i, j int) error {
	var cs []frontier.Candidate
	for ; i < j; i++ {
		u := uri.FromCanonical(address(i, a.s))
		cs = append(cs, frontier.Candidate{
			URI: u, Hops: "LL", Via: "https://" + string(u.Host()) + "/section/", Seed: "https://" + string(u.Host()) + "/",
			Due: day.Add(time.Duration(i) * time.Millisecond),
		})
	}
	_, err := a.Add(day, cs...)
	return err
}

func (a *arcrawl) visit(_, links int) error {
	var c frontier.Claim
	for ok := false; !ok; {
		var err error
		if c, ok, err = a.Claim(a.clock()); err != nil {
			return err
		}
		if ok {
			break
		}
		if next, waits := a.NextReady(); waits {
			for ms := next.Sub(day).Milliseconds(); ; {
				if now := a.now.Load(); now >= ms || a.now.CompareAndSwap(now, ms) {
					break
				}
			}
		}
	}
	now := a.clock()
	o := frontier.Settlement{Record: learned(c.Record, now), Finished: now, Took: time.Second}
	first := int(a.serial.Add(1)) * 7919 % a.s.uris
	for i := range links {
		text := address((first-first%100+i)%a.s.uris, a.s)
		o.Found = append(o.Found, frontier.Candidate{URI: uri.FromCanonical(text), Hops: "LLL", Via: "https://www.host-1.example/"})
	}
	_, err := a.Settle(c, o)
	return err
}

// learned returns the record after a visit, with the fields that an ordinary record has.
func learned(r frontier.Record, now time.Time) frontier.Record {
	r.Visits++
	r.LastVisit, r.LastCapture, r.LastRead, r.LastChange = now, now, now, now
	r.Wait = 24 * time.Hour
	r.Due = now.Add(r.Wait + time.Duration(r.URI.String()[len(r.URI.String())-6])*time.Minute)
	r.Versions++
	r.LastStatus, r.Status = 200, 200
	r.ContentType = "text/html; charset=utf-8"
	r.Validators = evaluators.Validators{ETag: `"5e1f-6174b8c2d3f40"`, LastModified: "Sun, 01 Mar 2026 12:00:00 GMT"}
	copy(r.Payload[:], strings.Repeat(r.URI.String(), 2))
	copy(r.Comparison.Sum[:], strings.Repeat(r.URI.String(), 2))
	r.Size = 15_000
	r.Origin = digest.Origin{
		RecordID: "<urn:uuid:0f9619ff-8b86-4d01-b42d-00cf4fc964ff>", URI: r.URI.String(), Date: now, Payload: r.Payload,
		File: "arcrawl-20260301120000-00017-crawler.warc.gz", Offset: 123_456_789, Length: 4_321, Size: 15_000,
	}
	return r
}

func (a *arcrawl) live() (int64, error) { return liveBadger(a.DB()) }

func liveBadger(db *badger.DB) (n int64, err error) {
	err = db.View(func(txn *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.PrefetchValues = false
		it := txn.NewIterator(o)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			n += it.Item().KeySize() + it.Item().ValueSize()
		}
		return nil
	})
	return n, err
}
