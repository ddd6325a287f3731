package cluster

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/frontier"
)

// leaveOptions says how to leave a cluster.
type leaveOptions struct {
	Database string
	To       string                                          // new folder of the store
	Now      time.Time                                       // of this moment
	Open     func(folder string) (*frontier.Frontier, error) // opens a store as a process on its own does
}

// leftStore says what was written.
type leftStore struct {
	Rows    int // of the store, as the nodes had them
	Letters int // URIs that were on their way between nodes
	Damaged int // entries of the dedup index that cannot be read: their payloads are archived again
}

// leaveCluster writes the crawl of a cluster to a new folder, as one store for a process on its own. No node may run.
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
		u := union{leaveOptions: o, Copies: all}
		_, err := frontier.Load(frontier.Options{Dir: o.To, Now: o.Now, BulkLoad: true}, all.Clean,
			func(put func(k, v []byte) error) error {
				u.put = func(k, v []byte) error { left.Rows++; return put(k, v) }
				u.index = dedup.NewMerger(u.put)
				return u.load(ctx)
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

// union makes one store of the parts of a crawl.
type union struct {
	leaveOptions
	shared.Copies

	put   func(key, value []byte) error
	index *dedup.Merger
}

// load puts the rows of the new store.
func (u *union) load(ctx context.Context) error {
	for part := range int16(shared.Parts) {
		err := u.Each(ctx, part, func(k, v []byte) error {
			if _, ok := frontier.HostOf(k, v); !ok {
				return fmt.Errorf("the crawl has a row of an unknown kind, with the key %q: use the arcrawl that wrote it", k)
			}
			return u.put(k, v)
		})
		if err != nil {
			return err
		}
	}
	err := u.OwnRows(ctx, func(_ int, k, v []byte) error {
		if dedup.IsRow(k) {
			return u.index.Add(k, v)
		}
		return u.put(bytes.Clone(k), bytes.Clone(v)) // each node has counted probes; one of the counts is enough
	})
	if err != nil {
		return err
	}
	return u.Payloads(ctx, u.index.AddShared)
}

// finish adds the URIs that were on their way between nodes.
func (u *union) finish(ctx context.Context, left *leftStore) (err error) {
	var f *frontier.Frontier
	defer func() {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	var some [][]byte
	receive := func() error {
		if len(some) == 0 {
			return nil
		}
		if f == nil {
			if f, err = u.Open(u.To); err != nil {
				return err
			}
		}
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
	return receive()
}
