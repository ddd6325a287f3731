package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/arcrawl/arcrawl/internal/atomicfile"
)

// markFile is the file in the state folder that says which crawl the store is a copy of.
const markFile = "cluster.json"

// mark says which crawl the local store is a copy of, and how new it is.
type mark struct {
	Crawl   string `json:"crawl"`
	Epoch   int64  `json:"epoch"`   // in which this node owned the crawl the last time
	Clean   bool   `json:"clean"`   // the database has all of the store up to Version
	Version uint64 `json:"version"` // of the store
	Ahead   bool   `json:"ahead"`   // the database went back to an older state than the store
}

// errAhead returns the error of a store that is newer than the database. Nothing of it is removed.
func errAhead(state string) error {
	return fmt.Errorf("the database of the cluster has an older state than the store in %s, as after a backup was restored; "+
		"to ship this store again, see \"The database\" in docs/cluster.md", state)
}

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
		err = atomicfile.Write(filepath.Join(state, markFile), append(text, '\n'), 0o640)
	}
	if err != nil {
		return fmt.Errorf("note what the store is a copy of: %w", err)
	}
	return nil
}

// hasStore reports whether a state folder has a store.
func hasStore(state string) bool {
	_, err := os.Stat(filepath.Join(state, "MANIFEST"))
	return err == nil
}

// removeStore removes the store from a state folder, and leaves everything else there.
func removeStore(state string) error {
	for _, pattern := range []string{
		"*.sst", "*.mem", "*.vlog", "MANIFEST", "MANIFEST-REWRITE", "KEYREGISTRY", "DISCARD", "LOCK",
	} {
		files, err := filepath.Glob(filepath.Join(state, pattern))
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := os.Remove(f); err != nil {
				return fmt.Errorf("remove an outdated copy of the crawl: %w", err)
			}
		}
	}
	return nil
}
