package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// markFile is the file in the state folder that says which crawl the store is a copy of.
const markFile = "cluster.json"

// mark says which crawl the local store is a copy of, and how new it is.
type mark struct {
	Crawl   string `json:"crawl"`
	Shard   int    `json:"shard"`   // 0 as 1
	Shards  int    `json:"shards"`  // of the crawl then; 0 as 1
	Epoch   int64  `json:"epoch"`   // in which this node owned the crawl the last time
	Clean   bool   `json:"clean"`   // the database has all of the store up to Version
	Version uint64 `json:"version"` // of the store
	Beat    int64  `json:"beat"`    // of this node, some seconds ago or less; the database cannot have an earlier one
	Ahead   bool   `json:"ahead"`   // the database went back to an older state than the store
	Damage  string `json:"damage"`  // because of which the store was loaded again the last time
}

// errAhead returns the error of a store that is newer than the database. Nothing of it is removed.
func errAhead(state string) error {
	return fmt.Errorf("the database of the cluster has an older state than the store in %s, as after a backup was restored; "+
		"to ship this store again, see \"The database\" in docs/cluster.md", state)
}

// shard returns the number of the shard.
func (m mark) shard() int { return max(m.Shard, 1) }

// readMark reads the mark; found is false if there is none.
func readMark(state string) (m mark, found bool, err error) {
	text, err := os.ReadFile(filepath.Join(state, markFile))
	if errors.Is(err, fs.ErrNotExist) {
		return m, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		return m, false, fmt.Errorf("read what the store is a copy of: %w", err)
	}
	return m, true, nil
}

func (m mark) write(state string) error {
	text, err := json.Marshal(m)
	if err == nil {
		err = fileio.Write(filepath.Join(state, markFile), append(text, '\n'), 0o640)
	}
	if err != nil {
		return fmt.Errorf("note what the store is a copy of: %w", err)
	}
	return nil
}

// checkStopped returns an error unless the store of a stopped node is the newest copy of the crawl. Otherwise a command
// would show what is outdated, and what it changes would be lost when the node loads the store again. The returned node
// knows only which hosts belong to other shards; nil means that none do.
func checkStopped(ctx context.Context, o nodeOptions) (*ownedShard, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*askTime)
	defer cancel()
	r, err := shared.Look(ctx, o.Database, func() error { return nil })
	if errors.Is(err, shared.ErrVersion) && !r.Used {
		return nil, nil // this store is going to be the first
	}
	if err != nil {
		return nil, fmt.Errorf("find out whether %s has the newest copy of the crawl: %w", o.State, err)
	}
	m, found, err := readMark(o.State)
	if err != nil {
		return nil, err
	}
	owner, whole, current := "", false, false
	for i, s := range r.Shards {
		if s.Owner == o.Node || s.Owner != "" && i+1 == m.shard() {
			owner = s.Owner
		}
		whole = whole || s.Whole
		current = current || i+1 == m.shard() && m.Epoch == s.Epoch
	}
	switch {
	case owner != "" && owner != o.Node:
		return nil, fmt.Errorf("node %s crawls, and the store in %s is outdated or incomplete: run this command on that node",
			owner, o.State)
	case owner == o.Node:
		return nil, fmt.Errorf("node %s crawls, or was not stopped properly: run this command while its daemon runs, with "+
			"admin.socket, or stop the daemon properly first", owner)
	case !whole && !found, found && m.Ahead, found && m.Clean && current:
		return &ownedShard{thisNode: &thisNode{o: o}, shard: m.shard(), shards: len(r.Shards)}, nil
	}
	return nil, fmt.Errorf("the store in %s is not the newest copy of the crawl: run this command on the node that crawled last, "+
		"or start this node and run it then", o.State)
}

// hasStore reports whether a state folder has a store.
func hasStore(state string) bool {
	_, err := os.Stat(filepath.Join(state, "MANIFEST"))
	return err == nil
}

// storeFiles returns the files of the store in a state folder.
func storeFiles(state string) (files []string, err error) {
	for _, pattern := range []string{
		"*.sst", "*.mem", "*.vlog", "MANIFEST", "MANIFEST-REWRITE", "KEYREGISTRY", "DISCARD", "LOCK",
	} {
		some, err := filepath.Glob(filepath.Join(state, pattern))
		if err != nil {
			return nil, err
		}
		files = append(files, some...)
	}
	return files, nil
}

// removeStore removes the store from a state folder, and leaves everything else there.
func removeStore(state string) error {
	files, err := storeFiles(state)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			return fmt.Errorf("remove an outdated copy of the crawl: %w", err)
		}
	}
	return nil
}
