package cluster

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// leaveOptions says how to leave a cluster.
type leaveOptions struct {
	Database string
	To       string                                          // new folder of the store
	Now      time.Time                                       // of this moment
	Group    func(uri.Host) string                           // returns the politeness group of a host
	Open     func(folder string) (*frontier.Frontier, error) // opens a store as a process on its own does
}

// leftStore says what was written.
type leftStore struct {
	Rows    int // of the store, as the shards had them
	Letters int // URIs that were on their way between shards
	Moved   int // URIs of hosts whose group has changed since the crawl was divided
	Refused int // were left out because their host or folder is full
	Damaged int // entries of the dedup index that cannot be read: their payloads are archived again
}

// leaveCluster writes the crawl of a cluster to a new folder, as one store for a process on its own. No node may own a
// shard.
func leaveCluster(ctx context.Context, o leaveOptions) (left leftStore, err error) {
	if hasStore(o.To) {
		return left, fmt.Errorf("%s has a store already: name an empty folder", o.To)
	}
	if err := os.MkdirAll(o.To, 0o750); err != nil {
		return left, err
	}
	if there, err := os.ReadDir(o.To); err != nil || len(there) > 0 { // half a store is removed by the names of its files
		return left, cmp.Or(err, fmt.Errorf("%s is not empty: name a new folder", o.To))
	}
	err = shared.Export(ctx, o.Database, func(all shared.Copies) error {
		u := union{leaveOptions: o, Copies: all, moved: map[int]bool{}, meta: map[string][]byte{}, count: map[string]int{}}
		_, err := frontier.Load(frontier.Options{Dir: o.To, Now: o.Now, BulkLoad: true}, true,
			func(put func(k, v []byte) error) error {
				u.put = func(k, v []byte) error { left.Rows++; return put(k, v) }
				u.index = dedup.NewMerger(u.put)
				return errors.Join(u.load(ctx), u.Payloads(ctx, u.index.AddShared))
			})
		if err != nil {
			return err
		}
		left.Damaged = u.index.Damaged
		return u.finish(ctx, &left)
	})
	if err != nil {
		return left, errors.Join(err, removeStore(o.To)) // half a store
	}
	return left, nil
}

// union makes one store of the stores of all shards. Hosts get new numbers. Of each host it takes the rows from the
// shard that the host belongs to: other shards may have older ones, from before the crawl was divided.
type union struct {
	leaveOptions
	shared.Copies

	put     func(key, value []byte) error
	numbers []map[uint32]uint32 // new numbers of the hosts of each shard, by their old ones
	hosts   uint32
	index   *dedup.Merger
	meta    map[string][]byte // properties of the stores, with the largest value
	count   map[string]int    // how many stores have each of them
	behind  []map[uint32]bool // numbers of hosts of each shard that belong to other shards since their group has changed
	moved   map[int]bool      // shards with URIs of such hosts
}

// The beginnings of keys that package frontier documents.
const (
	hostNames  = "n"
	properties = 'm'
	version    = "mformat"
)

// load puts the rows of the new store.
func (u *union) load(ctx context.Context) error {
	if len(u.Before) == 1 {
		return u.Each(ctx, nil, func(_ int, k, v []byte) error { return u.put(k, v) })
	}
	for range u.Before {
		u.numbers, u.behind = append(u.numbers, map[uint32]uint32{}), append(u.behind, map[uint32]bool{})
	}
	if err := u.Each(ctx, []byte(hostNames), u.addHost); err != nil {
		return err
	}
	if err := u.Each(ctx, nil, u.addRow); err != nil {
		return err
	}
	for k, v := range u.meta {
		if u.count[k] == len(u.Before) {
			if err := u.put([]byte(k), v); err != nil {
				return err
			}
		}
	}
	return nil
}

// shardOf returns the shard that a host belongs to.
func (u *union) shardOf(h uri.Host) int { return shardOf(h, u.Group(h), len(u.Before)) }

// addHost puts the new number of a host.
func (u *union) addHost(shard int, k, v []byte) error {
	if len(v) != 4 {
		return fmt.Errorf("shard %d: the number of host %s has %d bytes: %w", shard, k[1:], len(v), frontier.ErrCorrupt)
	}
	number := binary.BigEndian.Uint32(v)
	if of := u.shardOf(uri.Host(k[len(hostNames):])); of != shard {
		if shared.Stays(u.Before[shard-1], shard, of) {
			u.behind[shard-1][number] = true
		}
		return nil
	}
	u.hosts++
	u.numbers[shard-1][number] = u.hosts
	return u.put(k, binary.BigEndian.AppendUint32(nil, u.hosts))
}

// addRow puts a row of a shard, if it is about a host of the shard.
func (u *union) addRow(shard int, k, v []byte) error {
	if dedup.IsRow(k) {
		return u.index.Add(k, v)
	}
	if at := frontier.NumberAt(k); at > 0 {
		was := binary.BigEndian.Uint32(k[at:])
		number, ours := u.numbers[shard-1][was]
		if !ours {
			u.moved[shard] = u.moved[shard] || k[0] == 'u' && u.behind[shard-1][was]
			return nil
		}
		k = bytes.Clone(k)
		binary.BigEndian.PutUint32(k[at:], number)
		return u.put(k, v)
	}
	host := uri.Host("")
	switch kind := string(k[:min(len(k), 2)]); {
	case k[0] == properties:
		return u.addProperty(shard, k, v)
	case k[0] == hostNames[0], kind == letterPrefix:
		return nil
	case kind == "pP": // each shard has counted probes of the same crawl; one of the counts is enough
		return u.put(k, v)
	case kind == "pn": // canonical names
		host = uri.FromCanonical(string(v)).Host()
	case kind == "pt", kind == "pC", kind == "pF", kind == "pI", k[0] == 'k' && len(k) > 2:
		host = uri.Host(k[2:])
	case k[0] == 't':
		host = uri.Host(k[1:])
	case k[0] == 'a' && len(k) > 6: // before the day
		host = uri.Host(k[1 : len(k)-5])
	default:
		return fmt.Errorf("shard %d has a row of an unknown kind, with the key %q: use the arcrawl that wrote it", shard, k)
	}
	if u.shardOf(host) != shard {
		return nil
	}
	return u.put(k, v)
}

// addProperty notes a property of a store. The new store has those that all have.
func (u *union) addProperty(shard int, k, v []byte) error {
	name := string(k)
	was, known := u.meta[name]
	if known && name == version && !bytes.Equal(was, v) {
		return fmt.Errorf("the store of shard %d has format %d, and others have format %d: crawl with one version of arcrawl "+
			"on all nodes, and stop them properly", shard, v, was)
	}
	u.count[name]++
	if !known || bytes.Compare(v, was) > 0 {
		u.meta[name] = v
	}
	return nil
}

// finish adds the URIs that were on their way between shards, and the URIs of hosts whose group has changed.
func (u *union) finish(ctx context.Context, left *leftStore) (err error) {
	if len(u.Before) == 1 {
		return nil
	}
	f, err := u.Open(u.To)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for shard := range u.moved {
		if u.moved[shard] {
			if err := u.addMoved(ctx, f, shard, left); err != nil {
				return err
			}
		}
	}
	var some [][]byte
	receive := func() error {
		_, damaged, err := receive(f, u.Now, some)
		left.Letters += len(some) - len(damaged)
		some = nil
		return err
	}
	add := func(v []byte) error {
		if some = append(some, v); len(some) < maxLetters {
			return nil
		}
		return receive()
	}
	if err := u.Letters(ctx, add); err != nil {
		return err
	}
	if err := u.Each(ctx, []byte(letterPrefix), func(_ int, _, v []byte) error { return add(v) }); err != nil {
		return err
	}
	return receive()
}

// addMoved imports the URIs of hosts that a shard has, although they belong to other shards. If both know a URI,
// the history in the other shard counts.
func (u *union) addMoved(ctx context.Context, to *frontier.Frontier, shard int, left *leftStore) (err error) {
	folder := filepath.Join(u.To, "moved")
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	_, err = frontier.Load(frontier.Options{Dir: folder, Now: u.Now, BulkLoad: true}, true,
		func(put func(k, v []byte) error) error {
			return u.Of(shard).Each(ctx, nil, func(_ int, k, v []byte) error { return put(k, v) })
		})
	if err != nil {
		return err
	}
	from, err := frontier.Open(frontier.Options{Dir: folder, Now: u.Now})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	for cursor, more := frontier.Cursor(""), true; more; more = cursor != "" {
		var list []frontier.Entry
		if list, cursor, err = from.List(u.Now, frontier.Selection{}, cursor, maxLetters); err != nil {
			return err
		}
		for _, e := range list {
			if of := u.shardOf(e.URI.Host()); !shared.Stays(u.Before[shard-1], shard, of) {
				continue
			}
			done, err := to.Import(u.Now, false, e)
			if err != nil {
				return err
			}
			left.Moved, left.Refused = left.Moved+done.New, left.Refused+done.Refused
		}
	}
	return nil
}
