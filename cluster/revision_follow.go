package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

const (
	// lookEvery is the time between two looks for a revision.
	lookEvery = 2 * time.Second
	// askRevisionTime is the maximum duration of one exchange with the database.
	askRevisionTime = 20 * time.Second
	// retryEvery is the time between two attempts to put a revision in force.
	retryEvery = 30 * time.Second
	// maxFaults is the number of faults of a revision that a node reports.
	maxFaults = 20
)

// revisionFile is the file in the state folder that says which revision the files of this node are.
const revisionFile = "revision.json"

// follower keeps the files of a node at the revision of its cluster. It is safe for concurrent use.
type follower struct {
	db    *shared.Revisions
	path  string // of the main file
	state string // folder
	log   zerolog.Logger

	mu       sync.Mutex // guards the fields below, and the files
	has      int64      // revision of the files
	caught   int64      // revision of the files that the crawl began with
	answered int64      // newest revision that was examined
	trouble  string     // why the newest revision is not in force here
	crawls   []*crawl
	again    time.Time // when a revision that could not be put in force is tried again

	inForce atomic.Pointer[map[string][sha256.Size]byte] // digests of the files of the revision; nil = there is none
}

// openFollower returns a follower for the node of a configuration. The caller closes it.
func openFollower(ctx context.Context, c *config.Config, log zerolog.Logger) (*follower, error) {
	db, err := shared.OpenRevisions(ctx, c.Cluster.Database, c.Cluster.Node)
	if err != nil {
		return nil, err
	}
	f := &follower{db: db, path: c.Path, state: c.Storage.State, log: log}
	text, err := os.ReadFile(filepath.Join(f.state, revisionFile))
	if err == nil {
		err = json.Unmarshal(text, &f.has)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		db.Close()
		return nil, fmt.Errorf("read which configuration of the cluster this node has: %w", err)
	}
	return f, nil
}

// Close closes the connection.
func (f *follower) Close() { f.db.Close() }

// crawl is a crawl that uses the files.
type crawl struct {
	accept func(*config.Config) error
	reload func() error
}

// Crawl notes that a crawl uses the files until stop is called. accept returns why a configuration must not be put in
// force; reload puts the files in force.
func (f *follower) Crawl(accept func(*config.Config) error, reload func() error) (stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := &crawl{accept, reload}
	f.crawls = append(f.crawls, c)
	if f.has != f.caught {
		if err := reload(); err != nil {
			f.trouble = listed(err) // the next look tries again
		}
	}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.crawls = slices.DeleteFunc(f.crawls, func(one *crawl) bool { return one == c })
	}
}

// Run examines what is proposed and takes what is in force, until ctx ends.
func (f *follower) Run(ctx context.Context) {
	ill := false
	for wait := time.Duration(0); cli.Wait(ctx, wait) == nil; wait = lookEvery {
		err := f.look(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !ill {
			f.log.Warn().Err(err).Msg("could not look for a new configuration of the cluster: keeping the one in force, and trying again")
		}
		ill = err != nil
	}
}

// CatchUp takes the revision in force, if this node does not have it. The caller reads the files afterwards.
func (f *follower) CatchUp(ctx context.Context) error {
	err := f.look(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.caught = f.has
	return err
}

// look looks once.
func (f *follower) look(ctx context.Context) error {
	ask, cancel := context.WithTimeout(ctx, askRevisionTime)
	defer cancel()
	force, offered, err := f.db.Latest(ask)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if offered > f.answered {
		if err := f.answer(ask, offered); err != nil {
			return err
		}
	}
	switch {
	case force == 0, force == f.has && f.trouble == "" && f.inForce.Load() != nil:
		return nil
	case f.trouble != "" && f.answered >= force && time.Now().Before(f.again):
		return nil
	}
	return f.follow(ask, force)
}

// answer examines a proposed revision, and says what is wrong with it.
func (f *follower) answer(ctx context.Context, number int64) error {
	files, err := f.db.Files(ctx, number)
	if err != nil {
		return err
	}
	faults := ""
	if _, _, err := f.examine(files); err != nil {
		faults = listed(err)
		f.log.Warn().Int64("revision", number).Err(err).Msg("refusing a configuration of the cluster: it is in force nowhere")
	}
	if err := f.db.Answer(ctx, number, faults); err != nil {
		return err
	}
	f.answered = number
	return nil
}

// listed returns the first faults of an error, each on a line.
func listed(err error) string {
	var faults config.Faults
	if !errors.As(err, &faults) {
		return err.Error()
	}
	var lines []string
	for _, fault := range faults[:min(len(faults), maxFaults)] {
		lines = append(lines, fault.String())
	}
	if more := len(faults) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("%d faults more", more))
	}
	return strings.Join(lines, "\n")
}

// examine returns the texts of a revision with the keys of this node, and the configuration of the files that are here;
// or why it cannot be put in force on this node.
func (f *follower) examine(files map[string][]byte) (texts map[string][]byte, now *config.Config, err error) {
	if texts, now, err = f.texts(files); err != nil {
		return nil, nil, err
	}
	next, err := config.LoadTextsToRun(f.path, texts)
	if err == nil {
		err = f.permit(next, now)
	}
	for _, c := range f.crawls {
		if err == nil {
			err = c.accept(next)
		}
	}
	return texts, now, err
}

// texts returns the texts of a revision with the keys of this node, and the configuration of the files that are here.
func (f *follower) texts(files map[string][]byte) (texts map[string][]byte, now *config.Config, err error) {
	main, err := os.ReadFile(f.path)
	if err != nil {
		return nil, nil, fmt.Errorf("read this node's main file: %w", err)
	}
	_, own, err := splitMain(main)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", f.path, err)
	}
	texts = map[string][]byte{}
	for name, data := range files {
		if name != "" && !config.IsHostFile(name) {
			return nil, nil, fmt.Errorf("%q is not the name of a host file", name)
		}
		texts[name] = data
	}
	texts[""] = []byte(joinMain(string(files[""]), own))
	now, err = config.LoadTexts(f.path, map[string][]byte{"": main})
	if err != nil { // the file was changed since the start; the revision replaces it
		now, err = config.LoadTexts(f.path, map[string][]byte{"": texts[""]})
	}
	return texts, now, err
}

// permit returns why a configuration must not come from another machine, or cannot be written here. Whoever can write
// to the database must not choose programs that this machine runs.
func (f *follower) permit(next, now *config.Config) error {
	if err := now.CheckPrograms(next); err != nil {
		return err
	}
	for _, dir := range []string{filepath.Dir(f.path), now.HostsDir} {
		probe, err := fileio.Create(filepath.Join(dir, "arcrawl-may-write"), 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is made
		}
		if err != nil {
			return fmt.Errorf("write files of the configuration: %w; allow the daemon to write %s, with ReadWritePaths= in a "+
				"drop-in of its systemd unit", err, dir)
		}
		probe.Discard()
	}
	return nil
}

// follow takes a revision in force, and says so.
func (f *follower) follow(ctx context.Context, number int64) error {
	files, err := f.db.Files(ctx, number)
	if err != nil {
		return err
	}
	trouble := ""
	if err := f.take(number, files); err != nil {
		trouble = listed(err)
		if trouble != f.trouble {
			f.log.Error().Int64("revision", number).Err(err).
				Msg("could not put the configuration of the cluster in force: this node lags behind, and tries again")
		}
	}
	f.trouble = trouble
	if err := f.db.Note(ctx, f.has, trouble); err != nil {
		return err
	}
	f.answered, f.again = max(f.answered, number), time.Now().Add(retryEvery)
	return nil
}

// take writes the files of a revision, and puts them in force.
func (f *follower) take(number int64, files map[string][]byte) error {
	texts, now, err := f.examine(files)
	if err != nil {
		return err
	}
	replaced, err := f.write(number, texts, now.HostsDir)
	if err != nil {
		return err
	}
	sums := digests(files)
	f.inForce.Store(&sums)
	for _, c := range f.crawls {
		if err := c.reload(); err != nil {
			return err
		}
	}
	if number != f.has {
		f.has = number
		if err := fileio.Write(filepath.Join(f.state, revisionFile), fmt.Appendln(nil, number), 0o640); err != nil {
			return err
		}
		f.log.Info().Int64("revision", number).Int("files", replaced).
			Msg("the configuration of the cluster is in force on this node")
	}
	return nil
}

// write writes the files of a revision, and returns how many differed. What is replaced is kept in the state folder.
func (f *follower) write(number int64, texts map[string][]byte, hosts string) (replaced int, err error) {
	if err := os.MkdirAll(hosts, 0o750); err != nil {
		return 0, err
	}
	there, err := os.ReadDir(hosts)
	if err != nil {
		return 0, err
	}
	keep := filepath.Join(f.state, "replaced", fmt.Sprint("before-", number))
	place := func(name string) string {
		if name == "" {
			return f.path
		}
		return filepath.Join(hosts, name)
	}
	names := slices.Collect(maps.Keys(texts))
	for _, e := range there {
		if name := e.Name(); strings.HasSuffix(name, ".toml") && name[0] != '.' && texts[name] == nil {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(b, a) }) // the main file is the last one
	for _, name := range names {
		text, wanted := texts[name]
		before, err := os.ReadFile(place(name))
		if err == nil && wanted && bytes.Equal(before, text) {
			continue
		}
		if err == nil {
			err = keepCopy(keep, filepath.Base(place(name)), before)
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		switch {
		case err != nil:
		case wanted:
			err = fileio.Edit(place(name), text)
		default:
			err = os.Remove(place(name))
		}
		if err != nil {
			return replaced, err
		}
		replaced++
	}
	return replaced, nil
}

// keepCopy keeps the text of a file that is going to be replaced.
func keepCopy(dir, name string, text []byte) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	return fileio.Write(filepath.Join(dir, name), text, 0o640)
}

// digests returns what stands for the files of a revision.
func digests(files map[string][]byte) map[string][sha256.Size]byte {
	sums := map[string][sha256.Size]byte{}
	for name, data := range files {
		sums[name] = sha256.Sum256(data)
	}
	return sums
}

// Accept returns an error if the files of this node differ from the revision in force: somebody has edited them on this
// node alone.
func (f *follower) Accept(c *config.Config) error {
	inForce := f.inForce.Load()
	if inForce == nil {
		return nil
	}
	files, err := sharedFiles(c)
	if err != nil {
		return err
	}
	if maps.Equal(digests(files), *inForce) {
		return nil
	}
	return config.Faults{{
		File: c.Path, Problem: "differs from the configuration of the cluster, or a host file does",
		Remedy: "put your files in force on all nodes with: arcrawl reload --cluster",
	}}
}

// sharedFiles returns the texts of a configuration without what belongs to one node.
func sharedFiles(c *config.Config) (map[string][]byte, error) {
	files := c.Texts()
	main, _, err := splitMain(files[""])
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", c.Path, err)
	}
	files[""] = []byte(main)
	return files, nil
}
