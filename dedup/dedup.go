// Package dedup remembers which record of the archive first held a payload, across URIs and files. The next capture of
// the same payload can then be stored as a short revisit record that points at it.
//
// An entry says that a record is in the archive. So it is put only after its record is on disk: a revisit record that
// points to nothing would be a loss that shows only at replay. The other order costs little: after a crash between
// record and entry, the payload is stored once more. The first record of a payload stays its origin, so that revisits
// never form a chain. It is replaced only if it turns out to be missing or damaged.
//
// Two captures are the same only if payload, status, media type and framing are the same. So a "not found" page is not
// a revisit of an empty page, and a style sheet is not a revisit of a text, even if their bytes are equal. [Query] says
// which of several records represents a capture, and whether its URI matters.
//
// If part of a file turns out to be lost, [Index.Forget] removes all records in that part from the index.
//
// The index keeps its keys in a store of another package. All of them begin with the letter 'd'. Entries are durable
// when the owner's commits are.
package dedup

import (
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/digest"
)

// Key identifies equal captures. MIME is a Content-Type as the server sent it; parameters and letter case are ignored.
// Status is the HTTP status of the response, 0 to 999, since some servers send unusual ones.
//
// Cut is for a payload that was cut at the size limit: Payload is then the digest of its beginning, and Cut holds what
// the response says about the whole payload. Captures with different texts are not equal. It is empty for a whole
// payload.
type Key struct {
	Payload digest.Digest
	Status  int
	MIME    string
	Cut     string
	Strong  digest.Half // of the payload. Captures with different ones are not equal; zero = unknown

	// Prerequisite says that the capture is a robots.txt, or what else is fetched only for the sake of others. It is
	// equal to others of this kind alone: a page must not depend on one.
	Prerequisite bool

	Series  string // as of a [Policy]
	Framing string // of the body, see [digest.Framing]
}

// By says whether the URI of an earlier record matters.
type By uint8

// The choices. They are not stored.
const (
	Digest   By = iota // any record; the first one represents all
	URIFirst           // a record of the same URI, otherwise any
	URI                // only a record of the same URI
	Off                // no record: every payload is archived in full
)

// String returns the name of the choice in the configuration.
func (b By) String() string { return [...]string{"digest", "uri-first", "uri", "off"}[b] }

// Query asks for the record that can represent a capture.
type Query struct {
	Key
	URI        string // of the capture
	By         By
	Equivalent bool // a record of an equivalent URI counts as one of the same URI, with lower precedence
}

// Hit says how the URI of a record relates to the URI of the capture.
type Hit uint8

// The kinds of hits.
const (
	Miss       Hit = iota // there is no record
	Exact                 // the same URI
	Equivalent            // an equivalent URI
	Other                 // another URI
)

// String returns the hit in one word, as in the crawl log.
func (h Hit) String() string { return [...]string{"none", "exact", "equivalent", "other"}[h] }

// Match is the result of a query; the zero value is a miss.
type Match struct {
	Origin digest.Origin
	Hit    Hit
}

// Options say how to keep the index.
type Options struct {
	// Name returns the name that equivalent URIs have in common. If nil, no two URIs are equivalent.
	Name func(uri string) string

	// View runs a lookup on a view of the store. The view may lack recent writes of others than the store's owner; a
	// payload is then archived once more. If nil, each lookup has a transaction of its own.
	View func(lookup func(txn *badger.Txn) error) error

	// Series returns the series of a WARC file by its name. If nil, no file is in a series.
	Series func(file string) string

	// Shared is the index of all stores of the crawl. If nil, there is no other store.
	Shared Shared
}

// Index is the index in an open store. Its methods may be called concurrently. It needs no closing, and must not be
// used after the store is closed.
type Index struct {
	db *badger.DB
	o  Options

	losses   losses
	pending  pending
	files    fileNames
	imported collections
}

// Open opens the index in a store.
func Open(db *badger.DB, o Options) (*Index, error) {
	if db == nil {
		return nil, errors.New("open dedup index: no store")
	}
	if o.View == nil {
		o.View = db.View
	}
	i := &Index{db: db, o: o, losses: losses{from: map[string]Loss{}}}
	if err := errors.Join(i.readLosses(), i.readCollections(), i.readNames()); err != nil {
		return nil, fmt.Errorf("open dedup index: %w", err)
	}
	return i, nil
}

// Hit returns how the URI of a record, origin, relates to another.
func (i *Index) Hit(uri, origin string, equivalent bool) Hit {
	switch {
	case uri == origin:
		return Exact
	case equivalent && i.o.Name != nil && i.o.Name(uri) == i.o.Name(origin):
		return Equivalent
	}
	return Other
}

// Find returns the record that can represent a capture. It prefers records of which the SHA-256 is known to be equal.
// The others were imported: only their SHA-1 can be compared.
func (i *Index) Find(q Query) (m Match, err error) {
	key, err := q.bytes()
	if err == nil {
		err = i.o.View(func(txn *badger.Txn) error {
			m, err = i.findBoth(stored{txn}, key, q)
			return err
		})
	}
	if err != nil {
		return Match{}, fmt.Errorf("look up the origin of %s: %w", q.Payload, err)
	}
	if i.o.Shared != nil && (m.Hit == Miss || m.Hit != Exact && q.By != Digest) {
		m = i.findShared(key, q, m)
	}
	if m.Hit != Miss {
		m.Origin.Framing = q.Framing
	}
	return m, nil
}

// findBoth looks for a record of which the SHA-256 is known, and then for others if these can be better.
func (i *Index) findBoth(from reader, key []byte, q Query) (Match, error) {
	m, err := i.find(from, key, q)
	if err != nil || q.Strong.IsZero() {
		return m, err
	}
	if m.Hit != Miss {
		m.Origin.Strong = q.Strong
		if q.By == Digest || m.Hit == Exact {
			return m, nil
		}
	}
	other, err := i.find(from, q.weak(key), q)
	if other.Hit != Miss && (m.Hit == Miss || other.Hit < m.Hit) {
		m = other
	}
	return m, err
}

// find reads the first record of the payload, which is usually the only one, and the records of the URI if they matter.
func (i *Index) find(from reader, key []byte, q Query) (Match, error) {
	first, known, err := i.get(from, key, q.Payload, 0)
	if err != nil {
		return Match{}, err
	}
	best := Match{}
	if known {
		best = Match{first, i.Hit(q.URI, first.URI, q.Equivalent)}
	}
	if q.By == Digest || best.Hit == Exact {
		return best, nil
	}
	for _, c := range i.underURI(key, q) {
		o, known, err := i.get(from, c, q.Payload, 0)
		if err != nil {
			return Match{}, err
		}
		if hit := i.Hit(q.URI, o.URI, q.Equivalent); known && (best.Hit == Miss || hit < best.Hit) {
			best = Match{o, hit}
		}
	}
	if q.By == URI && best.Hit == Other {
		return Match{}, nil
	}
	return best, nil
}

// underURI returns the keys of the records of the URI and of equivalent URIs, as far as they matter.
func (i *Index) underURI(key []byte, q Query) (keys [][]byte) {
	if q.By == Digest {
		return nil
	}
	keys = append(keys, under(key, sameURI, q.URI))
	if q.Equivalent && i.o.Name != nil {
		keys = append(keys, under(key, alikeURI, i.o.Name(q.URI)))
	}
	return keys
}

// Put records that o holds the payload of k. It must be called only after the record is on disk. An existing entry
// stays; a record of another URI gets an entry of its own.
func (i *Index) Put(k Key, o digest.Origin) error { return i.update(i.Putting(k, o, Digest)) }

// Replace is [Index.Put] for a payload whose entry points to a missing or damaged record. It replaces the entry of the
// payload, and the entries of the URI.
func (i *Index) Replace(k Key, o digest.Origin) error { return i.update(i.Replacing(k, o, Digest)) }

// Change is a change of the index as part of a transaction of the store's owner. It may be called again if the
// transaction is retried after a conflict.
type Change func(txn *badger.Txn) error

// Putting returns [Index.Put] as a change, for a capture that was looked up by some choice.
func (i *Index) Putting(k Key, o digest.Origin, by By) Change { return i.change(k, o, by, i.put) }

// Replacing returns [Index.Replace] as a change, for a capture that was looked up by some choice.
func (i *Index) Replacing(k Key, o digest.Origin, by By) Change { return i.change(k, o, by, i.replace) }

// update makes a change in a transaction of its own. It retries after conflicts; each round lets one goroutine succeed.
func (i *Index) update(c Change) error {
	for {
		switch err := i.db.Update(c); {
		case err == nil:
			return nil
		case !errors.Is(err, badger.ErrConflict):
			return fmt.Errorf("change the dedup index: %w", err)
		}
	}
}

func (i *Index) change(
	k Key, o digest.Origin, by By, how func(txn *badger.Txn, key []byte, o entry, byURI bool) error,
) Change {
	// If URIs matter, the rows of the URI may be in the shared index alone.
	byURI := i.o.Shared != nil && by != Digest
	key, err := k.bytes()
	switch {
	case err != nil:
	case o.IsZero():
		err = errors.New("no record")
	case k.Strong.Differs(o.Strong):
		err = fmt.Errorf("record %s holds another payload of the digest %s", o.RecordID, o.Payload)
	case o.Payload != k.Payload:
		err = fmt.Errorf("record %s holds another payload, %s", o.RecordID, o.Payload)
	}
	return func(txn *badger.Txn) error {
		err := err
		if err == nil {
			err = how(txn, key, entry{Origin: o}, byURI)
		}
		if err != nil {
			return fmt.Errorf("remember the origin of %s: %w", k.Payload, err)
		}
		return nil
	}
}

// put puts an entry. byURI says that it gets rows of its URI although there is no row of the payload.
func (i *Index) put(txn *badger.Txn, key []byte, o entry, byURI bool) error {
	first, known, err := i.get(stored{txn}, key, o.Payload, o.source)
	if err != nil {
		return err
	}
	if !known {
		if err := i.set(txn, key, o); err != nil || !byURI {
			return err
		}
	} else if first.URI == o.URI {
		return nil
	}
	if err := i.setOnce(txn, under(key, sameURI, o.URI), o); err != nil {
		return err
	}
	if i.o.Name == nil || known && i.o.Name(first.URI) == i.o.Name(o.URI) {
		return nil
	}
	return i.setOnce(txn, under(key, alikeURI, i.o.Name(o.URI)), o)
}

// replace replaces entries. byURI says that it makes the rows of the URI if they are not there.
func (i *Index) replace(txn *badger.Txn, key []byte, o entry, byURI bool) error {
	keys := [][]byte{key, under(key, sameURI, o.URI)}
	if i.o.Name != nil {
		keys = append(keys, under(key, alikeURI, i.o.Name(o.URI)))
	}
	for n, k := range keys {
		_, err := txn.Get(k)
		if errors.Is(err, badger.ErrKeyNotFound) && n > 0 && !byURI {
			continue
		}
		if err == nil || errors.Is(err, badger.ErrKeyNotFound) {
			err = i.set(txn, k, o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (i *Index) setOnce(txn *badger.Txn, key []byte, o entry) error {
	_, known, err := i.get(stored{txn}, key, o.Payload, o.source)
	if known || err != nil {
		return err
	}
	return i.set(txn, key, o)
}

func (i *Index) set(txn *badger.Txn, key []byte, o entry) error {
	v, err := i.encode(o)
	if err != nil {
		return err
	}
	return txn.Set(key, v)
}

// reader reads rows of an index.
type reader interface {
	row(key []byte) (rowValue, error) // nil = the row is not there
}

// rowValue calls its argument with the value of a row.
type rowValue interface {
	Value(use func([]byte) error) error
}

// stored reads the rows of a store.
type stored struct{ *badger.Txn }

func (s stored) row(key []byte) (rowValue, error) {
	item, err := s.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	return item, err
}

// get returns the record of one key. known is also false if the record is lost, or if its collection does not count
// and is not own.
func (i *Index) get(
	from reader, key []byte, payload digest.Digest, own uint32,
) (o digest.Origin, known bool, err error) {
	row, err := from.row(key)
	if row == nil || err != nil {
		return o, false, err
	}
	var e entry
	err = row.Value(func(v []byte) (err error) {
		e, err = i.decode(payload, v)
		return err
	})
	o = e.Origin
	if err != nil || i.Lost(o) || own != e.source && !i.imported.counts(e.source) {
		return digest.Origin{}, false, err
	}
	return o, true, nil
}
