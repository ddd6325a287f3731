package frontier

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/uri"
)

// named begin the keys of other packages that have the name of a host: between it and the prefix are some bytes, and
// some behind it.
var named = []struct {
	prefix         string
	between, after int
}{{"t", 0, 0}, {"a", 0, 5}, {"k", 1, 0}, {"pC", 0, 0}, {"pF", 0, 0}, {"pI", 0, 0}, {"pt", 0, 0}}

// IsWhole reports whether a row of another package is about the crawl as a whole.
func IsWhole(key []byte) bool { return string(key) == "pP" }

// Portable returns the host that a row is about, and a key for it that is the same in all stores: it has the name of
// the host where the key of this store has a number. name returns the name of a host by its number, "" if there is
// none. ok is false for rows that a store makes itself, for the properties of a store, and for rows that are about no
// host. The value of a deleted row is nil; ok is then false for the name of a URI, which means nothing without it.
func Portable(key, value []byte, name func(uint32) uri.Host) (h uri.Host, portable []byte, ok bool) {
	if IsDerived(key) {
		return "", nil, false
	}
	if at := NumberAt(key); at > 0 {
		if h = name(binary.BigEndian.Uint32(key[at:])); h == "" {
			return "", nil, false
		}
		portable = append(append(append(make([]byte, 0, len(key)+len(h)), key[:at]...), h...), 0)
		return h, append(portable, key[at+4:]...), true
	}
	if len(key) > 2 && key[0] == kindAside && key[1] == asideName {
		h = uri.FromCanonical(string(value)).Host()
		return h, key, h != ""
	}
	for _, n := range named {
		from, to := len(n.prefix)+n.between, len(key)-n.after
		if from < to && string(key[:len(n.prefix)]) == n.prefix {
			return uri.Host(key[from:to]), key, true
		}
	}
	return "", nil, false
}

// IsKnown reports whether a key is one of the kinds that [Portable] knows, or one that no other store needs.
func IsKnown(key []byte) bool {
	some := func(uint32) uri.Host { return "some" }
	_, _, portable := Portable(key, []byte("http://some/"), some)
	return portable || IsDerived(key) || len(key) > 0 && (key[0] == kindMeta || key[0] == kindName)
}

// HostOf returns the host that a row is about, by its portable key; ok is false if it is about none.
func HostOf(portable, value []byte) (h uri.Host, ok bool) {
	if _, h, _, ok = cutPortable(portable); !ok {
		h, _, ok = Portable(portable, value, func(uint32) uri.Host { return "" })
	}
	return h, ok
}

// PortableRows returns the beginnings of the portable keys of all rows that a host has because it has a number.
func PortableRows(h uri.Host) (prefixes [][]byte) {
	for _, kind := range numbered {
		prefixes = append(prefixes, append(append([]byte(kind), h...), 0))
	}
	return prefixes
}

// NamedHost returns the host whose number is in the row with a key; ok is false for all other rows.
func NamedHost(key []byte) (h uri.Host, ok bool) {
	if len(key) < 2 || key[0] != kindName {
		return "", false
	}
	return uri.Host(key[1:]), true
}

// HostAt returns the name of a host by its number, "" if there is none.
func HostAt(txn *badger.Txn, number uint32) (uri.Host, error) {
	var w hostRow
	_, err := readRow(txn, hostKey(number), &w)
	return uri.Host(w.Name), err
}

// cutPortable splits the key of a row that has a number in each store: into its kind, the host and the rest. ok is
// false for keys that are the same in all stores.
func cutPortable(portable []byte) (kind string, h uri.Host, rest []byte, ok bool) {
	before, rest, ok := bytes.Cut(portable, []byte{0})
	if !ok {
		return "", "", nil, false
	}
	for _, kind := range numbered {
		if len(before) > len(kind) && string(before[:len(kind)]) == kind {
			return kind, uri.Host(before[len(kind):]), rest, true
		}
	}
	return "", "", nil, false
}

// PartWith prepares hosts for [Frontier.Adopt] in another store: all that belong elsewhere now, as [Elsewhere] says.
// Nothing is claimed from them any more. It returns the hosts with claims that have not ended; the rows of the others
// are all that another store needs.
func (f *Frontier) PartWith() (busy []uri.Host, err error) {
	if err := f.RefreshHosts(nil); err != nil {
		return nil, err
	}
	f.mu.Lock()
	var leave []*host
	for _, h := range f.byID {
		switch {
		case !h.stray || h.uris == 0:
		case h.claims() > 0:
			busy = append(busy, h.name)
		default:
			leave = append(leave, h)
		}
	}
	f.mu.Unlock()
	return busy, f.writeHosts(leave)
}

// Adopt makes hosts known that another store of the crawl had, with their histories. each calls its argument with the
// rows of the hosts under their [Portable] keys, the rows of a host in any order. asked is when somebody who did not
// stop properly may have asked the hosts for the last time: they rest from then on, as after a crash. The zero time
// says that nothing of the hosts was claimed when these rows were written.
//
// The hosts must belong elsewhere, as [Elsewhere] says, until Adopt has returned; then call [Frontier.RefreshHosts]. If
// one has URIs here, remove these before, with [Frontier.DropStrays]. If Adopt fails or the process ends, a part of the
// rows is here, and Adopt can be called again with all.
//
// For a damaged row of a URI put returns [ErrCorrupt]; each may skip the row. On a full disk it returns [ErrFull]; each
// may wait and put the row again.
func (f *Frontier) Adopt(
	now, asked time.Time, each func(put func(portable, value []byte) error) error,
) (hosts int, err error) {
	a := adoption{f: f, batch: f.db.NewWriteBatch(), hosts: map[uri.Host]*adopted{}}
	defer func() { a.batch.Cancel() }()
	err = each(a.put)
	if err == nil {
		err = a.batch.Flush()
	}
	if err == nil {
		err = a.finish(now, asked)
	}
	f.robotsCopies.clear()
	if err != nil {
		return 0, fmt.Errorf("adopt hosts of another store: %w", err)
	}
	return len(a.hosts), nil
}

// adoption is a call of [Frontier.Adopt].
type adoption struct {
	f     *Frontier
	batch *badger.WriteBatch
	bytes int // in the batch
	hosts map[uri.Host]*adopted
}

// adopted is a host that is being adopted. Its URIs are counted while they come, because damaged ones may be missing.
// Until the end the store has it as a host without URIs.
type adopted struct {
	id   uint32
	row  hostRow
	head place // the first place of its queue
}

// put adds a row.
func (a *adoption) put(portable, value []byte) error {
	if err := a.makeRoom(len(portable) + len(value)); err != nil {
		return err
	}
	kind, name, rest, numbered := cutPortable(portable)
	if !numbered {
		return a.set(bytes.Clone(portable), value)
	}
	h := a.hosts[name]
	if h == nil {
		id, err := a.f.number(name)
		if err != nil {
			return err
		}
		h = &adopted{id: id, row: hostRow{Name: cbor.ByteString(name)}}
		a.hosts[name.Clone()] = h
	}
	k := append(binary.BigEndian.AppendUint32([]byte(kind), h.id), rest...)
	if kind[0] == kindHost {
		return h.read(k, value)
	}
	if kind[0] == kindURI {
		if len(rest) != fingerprintLen {
			return damaged(k, fmt.Errorf("length %d", len(k)))
		}
		w, err := readURI(k, value)
		if err != nil {
			return err
		}
		if at := h.count(w, fingerprint(rest)); !at.isNone() {
			if err := a.batch.Set(queueKey(h.id, at), w.hint()); err != nil {
				return err
			}
		}
	}
	return a.set(k, value)
}

// metaAdopted is the user metadata of rows that another store had in the same form.
const metaAdopted = 1

// set writes a row as the other store has it.
func (a *adoption) set(k, value []byte) error {
	return a.batch.SetEntry(badger.NewEntry(k, bytes.Clone(value)).WithMeta(metaAdopted))
}

// IsAdopted reports whether a row was written by [Frontier.Adopt] and never since, by the user metadata that Badger
// has of it: a copy of the crawl elsewhere has the row.
func IsAdopted(meta byte) bool { return meta == metaAdopted }

// makeRoom commits the rows so far if the next one is too much.
func (a *adoption) makeRoom(next int) error {
	if a.bytes += next; a.bytes >= loadBytes {
		if err := a.batch.Flush(); err != nil {
			return err
		}
		a.batch, a.bytes = a.f.db.NewWriteBatch(), next
	}
	return a.f.Space()
}

// read reads the record of the host.
func (h *adopted) read(k, value []byte) error {
	count := h.row
	var w hostRow
	if !w.read(value) {
		if err := cbor.Unmarshal(value, &w); err != nil {
			return damaged(k, err)
		}
	}
	if string(w.Name) != string(count.Name) {
		return damaged(k, fmt.Errorf("is the record of %q", w.Name))
	}
	w.URIs, w.Queued, w.Forbidden, w.Held = count.URIs, count.Queued, count.Forbidden, count.Held
	h.row = w
	return nil
}

// count counts a URI of the host, and returns its place in the queue.
func (h *adopted) count(w uriRow, fp fingerprint) place {
	at := w.place(fp)
	h.row.URIs++
	h.row.Queued += countIf(!at.isNone())
	h.row.Forbidden += countIf(w.Forbidden)
	h.row.Held += countIf(w.Held)
	h.head = earlierPlace(h.head, at)
	return at
}

// number returns the number that a host will have. The host is known from now on, as one without URIs that stays.
func (f *Frontier) number(name uri.Host) (uint32, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.hosts[name]
	switch {
	case f.closed:
		return 0, ErrClosed
	case h != nil && (h.uris > 0 || h.claims() > 0):
		return 0, fmt.Errorf("host %s has URIs here", name)
	case h != nil:
		return h.id, f.clear(h)
	}
	err := f.update(func(c *change) error {
		c.draft(name.Clone()).dirty = true
		return nil
	})
	if err != nil {
		return 0, err
	}
	h = f.hosts[name]
	h.mustStay = true
	return h.id, nil
}

// clear makes a host without URIs stay, and removes the rows that an earlier call of [Frontier.Adopt] has left.
func (f *Frontier) clear(h *host) error {
	h.mustStay, h.leaving, h.vacant = true, false, false
	f.vacant = slices.DeleteFunc(f.vacant, func(other *host) bool { return other == h })
	for more := true; more; {
		err := f.update(func(c *change) (err error) {
			more, err = c.removeRows(h.id, numbered[1:])
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// finish makes the adopted hosts known as they are.
func (a *adoption) finish(now, asked time.Time) error {
	f := a.f
	names := slices.Sorted(maps.Keys(a.hosts))
	return updateAll(f, names, hostBatch, func(c *change, some []uri.Host) error {
		for _, name := range some {
			d := c.draft(name)
			s, err := a.state(name, now, asked)
			if err != nil {
				return damaged(hostKey(d.h.id), err)
			}
			d.state, d.dirty = s, true
			c.after(func() { d.h.mustStay = false })
		}
		return nil
	})
}

// state returns the state of an adopted host.
func (a *adoption) state(name uri.Host, now, asked time.Time) (state, error) {
	h, rest := a.hosts[name], int64(0)
	mark := lastPlace
	if !h.head.isNone() {
		mark = h.head
	}
	h.row.Mark = cbor.ByteString(mark[:])
	if !asked.IsZero() {
		delay := max(a.f.o.RestAfterCrash, time.Duration(h.row.Usual)*time.Millisecond, a.f.o.LongestDelay(name))
		rest = millis(asked.Add(min(delay, maxRest)))
	}
	is, err := a.f.newHost(h.id, h.row, rest, now)
	if err != nil {
		return state{}, err
	}
	return is.state, nil
}
