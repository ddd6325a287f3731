package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/arcrawl/arcrawl/cluster/shared"
)

// shardPrefix begins the names of the folders of shards. The number of the shard follows.
const shardPrefix = "shard-"

// shardFolder returns the folder in state with the store of a shard. A crawl that was never divided has its store in
// state itself.
func shardFolder(state string, shard, shards int) string {
	if shards < 2 {
		return state
	}
	return filepath.Join(state, shardPrefix+strconv.Itoa(shard))
}

// shardFolders returns the folders of the shards in state.
func shardFolders(state string) (list []string, err error) {
	there, err := os.ReadDir(state)
	if err != nil {
		return nil, err
	}
	for _, e := range there {
		number, is := strings.CutPrefix(e.Name(), shardPrefix)
		if n, err := strconv.Atoi(number); is && err == nil && n > 0 && n <= shared.MaxShards && e.IsDir() {
			list = append(list, filepath.Join(state, e.Name()))
		}
	}
	return list, nil
}

// eachMark calls do with the folder of each store of this node, and its mark.
func (n *thisNode) eachMark(do func(folder string, m mark, found bool) error) error {
	shards, err := shardFolders(n.o.State)
	if err != nil {
		return err
	}
	for _, folder := range append([]string{n.o.State}, shards...) {
		m, found, err := readMark(folder)
		if err == nil {
			err = do(folder, m, found)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkStores refuses a store that is not a copy of this crawl. It would be removed otherwise.
func (n *thisNode) checkStores() error {
	return n.eachMark(func(folder string, m mark, found bool) error {
		if found && m.Crawl != n.shared.Crawl() {
			return fmt.Errorf("the store in %s is of another crawl than the database: name another folder in storage.state, "+
				"or another database in cluster.database", folder)
		}
		return nil
	})
}

// refuse returns an error if a store of this node must be kept and is not the crawl of the database, whose state is st.
// It comes before a shard is taken: a node that cannot crawl must not keep the others from it.
func (n *thisNode) refuse(st shared.States) error {
	isWhole := func(s shared.State) bool { return s.Whole }
	return n.eachMark(func(folder string, m mark, found bool) error {
		if found && (m.Ahead || m.Beat > st.Own || m.shard() > len(st.Shards) || m.isAfter(st.Shards[m.shard()-1])) {
			m.Ahead = true // for the next start: the epochs of the database grow, and reach this one
			return errors.Join(errAhead(folder), m.write(folder))
		}
		if !found && slices.ContainsFunc(st.Shards, isWhole) && hasStore(folder) {
			return fmt.Errorf("%s has a store that is not a copy of the crawl in the database: move it away", folder)
		}
		return nil
	})
}

// isAfter reports whether the store is newer than what the database has of its shard.
func (m mark) isAfter(st shared.State) bool {
	return m.Epoch > st.Epoch || m.Epoch == st.Epoch && m.Clean && !st.Clean
}

// isNewest reports whether the store is the newest copy of its shard, of which the database has the state st.
func (m mark) isNewest(st shared.State) bool { return m.Clean && st.Clean && m.Epoch == st.Epoch }

// moveOldStore moves the store of a node to the folder of its shard, after the crawl was divided.
func (n *thisNode) moveOldStore(shards int) error {
	m, found, err := readMark(n.o.State)
	if err != nil || !found || shards < 2 {
		return err
	}
	to := shardFolder(n.o.State, m.shard(), shards)
	if hasStore(to) {
		return errors.Join(removeStore(n.o.State), forgetCopy(n.o.State)) // a crash came in between
	}
	if err := os.MkdirAll(to, 0o750); err != nil {
		return err
	}
	files, err := storeFiles(n.o.State)
	if err != nil {
		return err
	}
	// The file that says that there is a store comes last but one, and the mark last: what was moved in part is loaded
	// again.
	rank := map[string]int{"MANIFEST": 1, markFile: 2}
	files = append(files, filepath.Join(n.o.State, markFile))
	slices.SortStableFunc(files, func(a, b string) int { return rank[filepath.Base(a)] - rank[filepath.Base(b)] })
	for _, f := range files {
		if err := os.Rename(f, filepath.Join(to, filepath.Base(f))); err != nil {
			return fmt.Errorf("move the store to the folder of its shard: %w", err)
		}
	}
	return nil
}
