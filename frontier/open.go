package frontier

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// version is the format of the store that this code reads and writes. A store of another version is refused.
const version = 1

// carryOver says how the histories of a store from before the first release reach a store of this version.
const carryOver = "with the arcrawl that wrote it, run 'arcrawl frontier export -o frontier.jsonl'; move the folder away; " +
	"then, with this one, run 'arcrawl backup restore --rebuild', 'arcrawl frontier import --replace frontier.jsonl' and " +
	"'arcrawl dedup import WARC-FOLDER'"

// Open opens the store in o.Dir, or creates one. It reads the hosts but no URIs, and verifies the newest tables; see
// the package comment about damage. It returns [ErrLocked], [ErrVersion] or [ErrCorrupt] if that is why it failed.
func Open(o Options) (*Frontier, error) {
	f, err := open(o)
	if err != nil {
		return nil, fmt.Errorf("open frontier %s: %w", o.Dir, err)
	}
	if err := errors.Join(f.checkLoaded(), f.load(f.o), f.Space()); err != nil {
		return nil, fmt.Errorf("open frontier %s: %w", o.Dir, errors.Join(err, f.closeStore()))
	}
	return f, nil
}

// open opens the store, and knows no hosts.
func open(o Options) (*Frontier, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	o = o.withReserve()
	db, err := openStore(o)
	if err != nil {
		return nil, err
	}
	return &Frontier{
		db: db, o: o, queue: hostQueue{maxClaims: int64(o.MaxDoubtful)}, quotaByKey: map[quotaKey]*quota{},
		hosts: map[uri.Host]*host{}, groups: map[string]*hostGroup{}, knownURIs: NewRecent(),
	}, nil
}

// checkLoaded refuses a store that was not loaded to the end.
func (f *Frontier) checkLoaded() error {
	return f.db.View(func(txn *badger.Txn) error {
		loading, err := readBytes(txn, metaLoading)
		if loading != nil {
			return errors.New("the store was not loaded to the end from another one; have it loaded again, as a node of a " +
				"cluster does when it starts, or remove the store")
		}
		return err
	})
}

// load reads what the frontier keeps in memory, and marks the store as open.
func (f *Frontier) load(o Options) error {
	var rest int64
	var long []*host // hosts that rest longer
	err := f.db.View(func(txn *badger.Txn) error {
		fresh, err := checkVersion(txn)
		if fresh || err != nil {
			return err
		}
		asked := false
		if rest, asked, err = startRest(txn, o); err != nil {
			return err
		}
		if latest := millis(o.Now.Add(o.RestAfterCrash)); rest > latest { // the clock was ahead at the last opening
			rest, f.clockWasAhead = latest, true
		}
		if err = f.loadHosts(txn, rest, o.Now); err == nil && asked {
			long = f.extendRests(o)
		}
		return err
	})
	if err != nil || o.Inspect {
		return err
	}
	if err := f.writeHosts(long); err != nil {
		return err
	}
	until := binary.BigEndian.AppendUint64(nil, uint64(rest))
	err = f.db.Update(func(txn *badger.Txn) error {
		return errors.Join(
			txn.Set([]byte(metaVersion), []byte{version}),
			txn.Set([]byte(metaRest), until),
			txn.Set([]byte(metaQuiet), nil),
			txn.Delete([]byte(metaClean)))
	})
	f.quiet = err == nil
	// Without Sync the mark of a proper close could come back after a power failure. The rests that hosts owe from their
	// last visits would then be lost. The store's own Sync would not be enough: the name of the new log would be missing
	// from the folder.
	return errors.Join(err, f.Sync())
}

// checkVersion makes sure that this code can read the store; fresh is true if there is nothing in it.
func checkVersion(txn *badger.Txn) (fresh bool, err error) {
	stored, err := readBytes(txn, metaVersion)
	switch {
	case err != nil:
		return false, err
	case stored == nil:
		return true, checkEmpty(txn)
	case len(stored) != 1 || stored[0] == 0:
		return false, damaged([]byte(metaVersion), fmt.Errorf("holds %x", stored))
	case stored[0] != version:
		return false, fmt.Errorf("the store has format %d, this arcrawl reads format %d: %w; "+
			"use the arcrawl that wrote it, or one of a later version", stored[0], version, ErrVersion)
	}
	return false, nil
}

// checkEmpty makes sure that a store without a version has none of our keys. It refuses the store of a program from
// before the first release.
func checkEmpty(txn *badger.Txn) error {
	before, err := readBytes(txn, metaUnreleased)
	if err != nil {
		return err
	}
	if len(before) == 1 {
		return fmt.Errorf("the store has format %d of before the first release, this arcrawl reads format %d: %w; "+
			carryOver, before[0], version, ErrVersion)
	}
	o := badger.DefaultIteratorOptions
	o.PrefetchValues = false
	it := txn.NewIterator(o)
	defer it.Close()
	for _, kind := range []byte("hmnqruxfp") {
		if it.Seek([]byte{kind}); it.ValidForPrefix([]byte{kind}) {
			return damaged([]byte(metaVersion), fmt.Errorf("missing, but there is a key %q", it.Item().Key()))
		}
	}
	return nil
}

// startRest returns the time in ms before which no known host is visited. asked says that requests may have been in
// flight when the store was last used, and the end of these is unknown: it was not closed properly, and something had
// been claimed. Every host then rests from now on.
//
// A process that was killed before it claimed anything has sent no request. The rest from before then continues, and
// does not begin again. Otherwise a daemon that is killed again and again before the rest is over would never crawl.
func startRest(txn *badger.Txn, o Options) (rest int64, asked bool, err error) {
	found, err := readBytes(txn, metaRest)
	switch {
	case err != nil:
		return 0, false, err
	case len(found) == 8:
		rest = int64(binary.BigEndian.Uint64(found))
	case found != nil:
		return 0, false, damaged([]byte(metaRest), fmt.Errorf("holds %x", found))
	}
	closed, err := readBytes(txn, metaClean)
	if err != nil || closed != nil {
		return rest, false, err
	}
	quiet, err := readBytes(txn, metaQuiet)
	if err != nil || quiet != nil {
		return rest, false, err
	}
	return max(rest, millis(o.Now.Add(o.RestAfterCrash))), true, nil
}

// endQuiet removes the mark that nothing was claimed, before the first claim of a run. It also makes sure that all
// hosts known by now are on disk: a power failure must not make them hosts that were never asked.
func (f *Frontier) endQuiet() error {
	err := f.db.Update(func(txn *badger.Txn) error { return txn.Delete([]byte(metaQuiet)) })
	if err = errors.Join(err, f.Sync()); err == nil {
		f.quiet = false
	}
	return err
}

// extendRests makes hosts rest longer after an unclean stop if their politeness delay is longer than the rest of all
// hosts, for example because of a Crawl-delay. It returns these hosts.
func (f *Frontier) extendRests(o Options) (long []*host) {
	latest := millis(o.Now.Add(maxRest))
	for _, h := range f.byID {
		delay := max(h.usual, o.LongestDelay(h.name).Milliseconds())
		if until := min(millis(o.Now)+delay, latest); delay > 0 && until > h.rest {
			s := h.clone()
			s.rest = until
			f.setState(h, s)
			long = append(long, h)
		}
	}
	return long
}

// writeHosts writes hosts as they are in memory.
func (f *Frontier) writeHosts(hosts []*host) error {
	return updateAll(f, hosts, hostBatch, func(c *change, some []*host) error {
		for _, h := range some {
			c.draft(h.name).dirty = true
		}
		return nil
	})
}

// readBytes returns the value of a key, or nil if there is no such key.
func readBytes(txn *badger.Txn, k string) ([]byte, error) {
	item, err := txn.Get([]byte(k))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read key %q: %w", k, err)
	}
	return item.ValueCopy([]byte{})
}

func (f *Frontier) loadHosts(txn *badger.Txn, rest int64, now time.Time) error {
	for k, err := range scan(txn, []byte{kindHost}, nil, prefetched) {
		if err != nil {
			return err
		}
		if want := uint32(len(f.byID) + 1); k.host != want {
			return damaged(hostKey(want), errors.New("is missing"))
		}
		var w hostRow
		if err := decodeRow(k.item, &w); err != nil {
			return err
		}
		h, err := f.newHost(k.host, w, rest, now)
		if err == nil && f.hosts[h.name] != nil {
			err = fmt.Errorf("host name %q is not unique", h.name)
		}
		if err != nil {
			return damaged(hostKey(k.host), err)
		}
		f.addHost(h)
	}
	return nil
}

// newHost makes a host from its row. No rest is longer than maxRest from now, or than its failures explain: if the
// clock was far ahead when the rest was written, the host would otherwise never be visited again.
func (f *Frontier) newHost(id uint32, w hostRow, rest int64, now time.Time) (*host, error) {
	latest := millis(now.Add(maxRest))
	latestRest := max(latest, millis(now.Add(RestWhenDown(w.Failures, hostMet(w.Met) == metAnswered))))
	h := &host{id: id, name: uri.Host(strings.Clone(string(w.Name)))} // the clone does not keep the row in memory
	switch {
	case w.Name == "":
		return nil, errors.New("the host name is empty")
	case len(w.Mark) != placeLen:
		return nil, fmt.Errorf("watermark of %d bytes, want %d", len(w.Mark), placeLen)
	case len(w.Wake) > maxValence:
		return nil, fmt.Errorf("%d slots, want at most %d", len(w.Wake), maxValence)
	case hostMet(w.Met) != metNever && hostMet(w.Met) != metAnswered:
		return nil, fmt.Errorf("met is %d", w.Met)
	case w.URIs < 0 || w.Queued < 0 || w.Forbidden < 0 || w.Held < 0 || w.Paused < 0 || w.Failures < 0:
		return nil, errors.New("a counter is negative")
	}
	h.rest, h.asked, h.failures = min(max(w.Rest, rest), latestRest), min(w.Asked, latest), w.Failures
	h.uris, h.queued, h.forbidden, h.held, h.paused = w.URIs, w.Queued, w.Forbidden, w.Held, w.Paused
	h.counted, h.usual, h.met = w.Counted, max(w.Usual, 0), hostMet(w.Met)
	h.reason = strings.Clone(string(w.Error))
	copy(h.asker[:], w.Asker)
	// No slot sleeps for longer than after the last visit. If one does, the clock was ahead at that visit.
	latest = min(latest, millis(now.Add(max(f.o.RestAfterCrash, clockTolerance)))+h.usual)
	for _, wake := range w.Wake {
		f.clockWasAhead = f.clockWasAhead || wake > latest
		h.slots = append(h.slots, slot{wake: min(wake, latest)})
	}
	h.answersNeeded = answersWhenNew
	h.resizeSlots(f.o.Valence(h.name))
	// Without claims in progress the watermark is the first place itself. If the queue disagrees, the next claim fails.
	if mark := place([]byte(w.Mark)); mark != lastPlace {
		h.head = mark
	}
	if h.head.isNone() != (h.queued == 0) {
		return nil, fmt.Errorf("%d URIs are queued, but the watermark disagrees", h.queued)
	}
	return h, nil
}
