package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/archive"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/hosts/daily"
	"github.com/arcrawl/arcrawl/hosts/reputation"
	"github.com/arcrawl/arcrawl/hosts/similar"
	"github.com/arcrawl/arcrawl/scope/traps"
	"github.com/arcrawl/arcrawl/uri"
	"github.com/arcrawl/arcrawl/warcout"
)

// openRooms opens everything that a crawl needs, from the store up. The returned function shuts it in reverse order.
func openRooms(live *config.Live, log zerolog.Logger) (crawler.Rooms, func() error, error) {
	now, c := time.Now(), live.Current()
	rooms := crawler.Rooms{Config: live, Version: programVersion(), Log: log, FreeSpace: freeSpace(c)}
	var shut []func() error
	closeAll := func() error {
		var errs []error
		for i := len(shut) - 1; i >= 0; i-- {
			errs = append(errs, shut[i]())
		}
		return errors.Join(errs...)
	}
	fail := func(err error) (crawler.Rooms, func() error, error) {
		return crawler.Rooms{}, nil, errors.Join(err, closeAll())
	}

	if err := prepareFolders(c); err != nil {
		return fail(err)
	}
	if err := enoughSpace(c, rooms.FreeSpace); err != nil {
		return fail(err)
	}
	var err error
	if rooms.Frontier, rooms.Traps, err = openFrontier(live, now, false); err != nil {
		return fail(err)
	}
	shut = append(shut, rooms.Frontier.Close)
	if rooms.Dedup, err = dedup.Open(rooms.Frontier.DB(), dedup.Options{Name: archive.Key, View: rooms.Frontier.View}); err != nil {
		return fail(err)
	}
	if rooms.Trust, err = reputation.Open(rooms.Frontier.DB()); err != nil {
		return fail(err)
	}
	if rooms.Kin, err = similar.Open(rooms.Frontier.DB()); err != nil {
		return fail(err)
	}
	if rooms.Accounts, err = daily.Open(rooms.Frontier.DB()); err != nil {
		return fail(err)
	}
	if rooms.CrawlLog, err = crawllog.Open(c.Storage.Log, c.Log.ExtraInfo); err != nil {
		return fail(err)
	}
	shut = append(shut, rooms.CrawlLog.Close)
	var repairs []warcout.Repair
	if rooms.Archive, repairs, err = openArchive(c, now); err != nil {
		return fail(err)
	}
	hear, shutIndex, err := openLiveIndex(c, log)
	if err != nil {
		return fail(errors.Join(err, rooms.Archive.Close(now)))
	}
	rooms.Index = hear
	shut = append(shut, shutIndex, func() error { return rooms.Archive.Close(time.Now()) })
	if err = forgetLost(rooms.Dedup, repairs, log); err != nil {
		return fail(err)
	}
	rooms.Stored = archive.Stored(c.Storage.WARC)
	rooms.Fetch = fetch.New(fetch.Options{Dial: fetch.Guard(c.AllowNetworks), SpoolDir: spoolFolder(c)})
	shut = append(shut, rooms.Fetch.Close)
	return rooms, closeAll, nil
}

// forgetLost tells the index of payloads what repaired files have lost.
func forgetLost(index *dedup.Index, repairs []warcout.Repair, log zerolog.Logger) error {
	for _, r := range repairs {
		log.Warn().Str("file", r.File).Msg(r.String())
		if from, lost := r.LostFrom(); lost {
			if err := index.Forget(r.Name(), from); err != nil {
				return err
			}
		}
	}
	return nil
}

// openFrontier opens the store, and in it the book of traps, which has a say in the names of URIs. Filling tells that a command is going to
// write a great deal.
func openFrontier(live *config.Live, now time.Time, filling bool) (*frontier.Frontier, *traps.Book, error) {
	c := live.Current()
	var learned atomic.Pointer[traps.Book]
	f, err := frontier.Open(frontier.Options{
		Dir: c.Storage.State, MaxURIsPerHost: c.Crawl.MaxURIsPerHost, Now: now, BulkLoad: filling,
		// No host is asked again sooner after a crash than after the longest ordinary rest; zero would mean 30 s.
		RestAfterCrash: max(c.ForHost("", now).Politeness.MaxDelay, time.Nanosecond),
		Valence:        func(h uri.Host) int { return live.Current().ForHost(h, time.Now()).Politeness.Valence },
		Group:          func(h uri.Host) string { return live.Current().ForHost(h, time.Now()).Politeness.Group },
		Order:          c.Crawl.Order,
		Names: func(h uri.Host) *uri.Naming {
			n := live.Current().ForHost(h, time.Now()).Names
			if book := learned.Load(); book != nil {
				return book.Naming(h, &n)
			}
			return &n
		},
		Limits: func(h uri.Host) frontier.Limits { return live.Current().ForHost(h, time.Now()).Limits },
	})
	if err != nil {
		return nil, nil, err
	}
	book, err := traps.Open(f.DB())
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	learned.Store(book)
	return f, book, nil
}

func openArchive(c *config.Config, now time.Time) (*warcout.Writer, []warcout.Repair, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	o := c.WARC
	o.Host, o.Info = host, warcinfo(c, host)
	o.TempDir, o.Journal = spoolFolder(c), filepath.Join(c.Storage.State, "warc.journal")
	return warcout.Open(o, now)
}

// warcinfo says in each WARC file who made it, with what, and by which rules.
func warcinfo(c *config.Config, host string) []warcout.Field {
	names := nameRules(c.NamesNotation())
	return []warcout.Field{
		{Name: "software", Value: "arcrawl/" + programVersion() + " (https://github.com/arcrawl/arcrawl)"},
		{Name: "format", Value: "WARC File Format 1.1"},
		{Name: "conformsTo", Value: "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
		{Name: "operator", Value: c.Operator.Name + " <" + c.Operator.Contact + ">"},
		{Name: "hostname", Value: host},
		{Name: "http-header-user-agent", Value: c.UserAgent(programVersion())},
		{Name: "robots", Value: "obey (RFC 9309)"},
		{Name: "canonicalization", Value: "whatwg; without fragment and user information"},
		{Name: "nameRules", Value: names},
		{Name: "nameRulesDigest", Value: fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(strings.Join(c.NamesNotation(), "\n"))))},
		{Name: "configDigest", Value: c.Digest},
		{Name: "description", Value: "WARC-Payload-Digest is of the payload with transfer encoding removed and content encoding kept"},
	}
}

// maxNameRules is how many bytes of the rules of names stand in each WARC file. The digest is over all of them.
const maxNameRules = 8 << 10

// nameRules are the rules by which URIs are one, in a line: those for all hosts, then those of each host that has others.
func nameRules(lines []string) string {
	all := strings.Join(lines, "; ")
	if len(all) <= maxNameRules {
		return all
	}
	kept := len(lines[0])
	n := 1
	for ; kept+2+len(lines[n]) <= maxNameRules; n++ {
		kept += 2 + len(lines[n])
	}
	return fmt.Sprintf("%s; and those of %d more hosts", strings.Join(lines[:n], "; "), len(lines)-n)
}

func spoolFolder(c *config.Config) string { return filepath.Join(c.Storage.State, "spool") }

// prepareFolders makes the folders of the crawl and proves that they can be written.
func prepareFolders(c *config.Config) error {
	folders := []struct{ key, path string }{
		{"storage.state", c.Storage.State},
		{"storage.state", spoolFolder(c)},
		{"storage.warc", c.Storage.WARC},
		{"storage.log", filepath.Dir(c.Storage.Log)},
	}
	for _, f := range folders {
		if err := writable(f.path); err != nil {
			return folderError{fmt.Errorf("%s: the folder %s cannot be used: %w; give it to the user that runs arcrawl (chown), or name another one in %s",
				f.key, f.path, err, c.Path)}
		}
	}
	return nil
}

func writable(folder string) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	probe, err := os.CreateTemp(folder, ".writable-*")
	if err != nil {
		return err
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// freeSpace tells the bytes left for the store, the archive and the log, whichever has least.
func freeSpace(c *config.Config) func() (int64, error) {
	folders := []string{c.Storage.State, c.Storage.WARC, filepath.Dir(c.Storage.Log)}
	return func() (int64, error) {
		least := int64(-1)
		for _, folder := range folders {
			var s syscall.Statfs_t
			if err := syscall.Statfs(folder, &s); err != nil {
				return 0, fmt.Errorf("look at the free space of %s: %w", folder, err)
			}
			if free := int64(s.Bavail) * s.Bsize; least < 0 || free < least {
				least = free
			}
		}
		return least, nil
	}
}

func enoughSpace(c *config.Config, free func() (int64, error)) error {
	left, err := free()
	if err != nil {
		return diskError{err}
	}
	if left < c.Storage.MinFree {
		return diskError{fmt.Errorf("%d MB are free where the crawl writes, and storage.min_free in %s asks for %d MB: free some space, or lower it",
			left>>20, c.Path, c.Storage.MinFree>>20)}
	}
	return nil
}

// exitCode says what kind of trouble err is.
func exitCode(err error) int {
	switch {
	case as[usageError](err):
		return exitUsage
	case isFaults(err):
		return exitConfig
	case errors.Is(err, frontier.ErrLocked), errors.Is(err, admin.ErrNoDaemon):
		return exitBusy
	case errors.Is(err, frontier.ErrCorrupt), errors.Is(err, frontier.ErrVersion), errors.Is(err, archive.ErrDamaged):
		return exitDamaged
	case as[folderError](err):
		return exitFolder
	case as[diskError](err), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EIO), errors.Is(err, syscall.EDQUOT):
		return exitDisk
	}
	return exitFailure
}
