package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// markFile is the file in the state folder that says which crawl the store is a copy of.
const markFile = "cluster.json"

// mark says which crawl the local store is a copy of, and how new it is.
type mark struct {
	Crawl   string          `json:"crawl"`
	Clean   bool            `json:"clean"`   // the database has all of the store up to Version
	Version uint64          `json:"version"` // of the store
	Parts   map[int16]int64 `json:"parts"`   // that the store has: in which epoch each was released, or outdated
	Beat    int64           `json:"beat"`    // of this node, some seconds ago; the database cannot have an earlier one
	Ahead   bool            `json:"ahead"`   // the database went back to an older state than the store
	Damage  string          `json:"damage"`  // because of which the store was made again the last time
}

// outdated stands for the epoch of a part whose rows were to be removed from the store.
const outdated = -1

// errAhead returns the error of a store that is newer than the database. Nothing of it is removed.
func errAhead(state string) error {
	return fmt.Errorf("the database of the cluster has an older state than the store in %s, as after a backup was restored; "+
		"to continue with the database as it is, see \"The database\" in docs/cluster.md", state)
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
		err = fileio.Write(filepath.Join(state, markFile), append(text, '\n'), 0o640)
	}
	if err != nil {
		return fmt.Errorf("note what the store is a copy of: %w", err)
	}
	return nil
}

// isAhead reports whether the store is newer than a database with a state.
func (m mark) isAhead(st shared.States) bool {
	if m.Ahead || m.Beat > st.Own {
		return true
	}
	for part, epoch := range m.Parts {
		is := st.Parts[part]
		if epoch > is.Epoch || epoch == is.Epoch && m.Clean && is.Owner == "" && !is.Clean {
			return true
		}
	}
	return false
}

// noteBeat writes the beat to the mark, at most once in noteEvery. So the next process of this node notices when the
// database was restored to an earlier state.
func (n *thisNode) noteBeat(now time.Time, beat int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.beatNow = beat
	if n.closing || n.noted.IsZero() || now.Sub(n.noted) < noteEvery {
		return
	}
	n.noted = now
	if err := n.mark().write(n.o.State); err != nil {
		n.o.Log.Warn().Err(err).Msg("could not note the state of the database: a restored backup of it may go unnoticed")
	}
}

// mark returns the mark of the store while this node crawls. The caller holds the lock, or is alone.
func (n *thisNode) mark() mark {
	return mark{Crawl: n.shared.Crawl(), Beat: n.beatNow, Damage: n.known}
}

// noteAhead notes that the store of this node is newer than the database.
func (n *thisNode) noteAhead() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closing = true
	m := n.mark()
	m.Beat, m.Ahead = n.lastBeat, true
	return m.write(n.o.State)
}

// checkStopped returns an error unless the store of a stopped node is the newest copy of the whole crawl. Otherwise a
// command would show what is outdated, and what it changes would be lost when the node loads the rows again.
func checkStopped(ctx context.Context, c *config.Config) error {
	ctx, cancel := context.WithTimeout(ctx, 2*askTime)
	defer cancel()
	state := c.Storage.State
	m, found, err := readMark(state)
	if err != nil {
		return err
	}
	is, err := shared.Owners(ctx, c.Cluster.Database)
	switch {
	case errors.Is(err, shared.ErrUnused):
		return nil // this store is going to be the first
	case err != nil:
		return fmt.Errorf("find out whether %s has the newest copy of the crawl: %w", state, err)
	case !is.Whole && !found, found && m.Ahead:
		return nil
	}
	current := found && m.Clean
	for part, p := range is.Parts {
		if p.Owner != "" {
			return fmt.Errorf("node %s crawls, or was not stopped properly: run this command while its daemon runs, with "+
				"admin.socket, or stop all nodes properly first", p.Owner)
		}
		epoch, has := m.Parts[int16(part)]
		current = current && has && isAs(p, epoch)
	}
	if !current {
		return fmt.Errorf("the store in %s has not the newest copy of the whole crawl: run this command while a daemon runs",
			state)
	}
	return nil
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
