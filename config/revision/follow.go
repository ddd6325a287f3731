// Package revision keeps the files of a configuration at the revision that several machines share. Each machine
// examines a revision with its own folders and secrets before it is in force. What belongs to one machine stays in its
// main file: its folders, its place in the cluster and its addresses. Whoever can write revisions can choose no program
// that the machine runs.
//
//	Open     read which revision the files are
//	CatchUp  take what is in force now; before a crawl begins
//	Look     examine what is proposed, and take what is in force
//	Crawl    from now on a crawl uses the files
package revision

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

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

const (
	// retryEvery is the time between two attempts to put a revision in force.
	retryEvery = 30 * time.Second
	// maxFaults is the number of faults of a revision that are reported.
	maxFaults = 20
)

// revisionFile is the file in the state folder that says which revision the files of this node are.
const revisionFile = "revision.json"

// Source has the revisions.
type Source interface {
	// Latest returns the number of the revision in force, and of the one that is proposed; 0 = there is none.
	Latest(ctx context.Context) (force, offered int64, err error)
	// Files returns the files of a revision by name; the main file is "".
	Files(ctx context.Context, number int64) (map[string][]byte, error)
	// Answer says what is wrong with a proposed revision; "" = nothing.
	Answer(ctx context.Context, number int64, faults string) error
	// Note says which revision is in force on this machine, and why a newer one is not.
	Note(ctx context.Context, number int64, trouble string) error
}

// Follower keeps the files of a machine at the revision in force. It is safe for concurrent use.
type Follower struct {
	from  Source
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

// Open returns a follower of some revisions for the files of a configuration.
func Open(from Source, c *config.Config, log zerolog.Logger) (*Follower, error) {
	f := &Follower{from: from, path: c.Path, state: c.Storage.State, log: log}
	text, err := os.ReadFile(filepath.Join(f.state, revisionFile))
	if err == nil {
		err = json.Unmarshal(text, &f.has)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read which configuration of the cluster this node has: %w", err)
	}
	return f, nil
}

// crawl is a crawl that uses the files.
type crawl struct {
	accept func(*config.Config) error
	reload func() error
}

// Crawl notes that a crawl uses the files until stop is called. accept returns why a configuration must not be put in
// force; reload puts the files in force.
func (f *Follower) Crawl(accept func(*config.Config) error, reload func() error) (stop func()) {
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

// CatchUp takes the revision in force, if this node does not have it. The caller reads the files afterwards.
func (f *Follower) CatchUp(ctx context.Context, now time.Time) error {
	err := f.Look(ctx, now)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.caught = f.has
	return err
}

// Look examines what is proposed, and takes what is in force.
func (f *Follower) Look(ctx context.Context, now time.Time) error {
	force, offered, err := f.from.Latest(ctx)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if offered > f.answered {
		if err := f.answer(ctx, offered); err != nil {
			return err
		}
	}
	switch {
	case force == 0, force == f.has && f.trouble == "" && f.inForce.Load() != nil:
		return nil
	case f.trouble != "" && f.answered >= force && now.Before(f.again):
		return nil
	}
	return f.follow(ctx, now, force)
}

// answer examines a proposed revision, and says what is wrong with it.
func (f *Follower) answer(ctx context.Context, number int64) error {
	files, err := f.from.Files(ctx, number)
	if err != nil {
		return err
	}
	faults := ""
	if _, _, err := f.examine(files); err != nil {
		faults = listed(err)
		f.log.Warn().Int64("revision", number).Err(err).Msg("refusing a configuration of the cluster: it is in force nowhere")
	}
	if err := f.from.Answer(ctx, number, faults); err != nil {
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
func (f *Follower) examine(files map[string][]byte) (texts map[string][]byte, now *config.Config, err error) {
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
func (f *Follower) texts(files map[string][]byte) (texts map[string][]byte, now *config.Config, err error) {
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
func (f *Follower) permit(next, now *config.Config) error {
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
func (f *Follower) follow(ctx context.Context, now time.Time, number int64) error {
	files, err := f.from.Files(ctx, number)
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
	if err := f.from.Note(ctx, f.has, trouble); err != nil {
		return err
	}
	f.answered, f.again = max(f.answered, number), now.Add(retryEvery)
	return nil
}

// take writes the files of a revision, and puts them in force.
func (f *Follower) take(number int64, files map[string][]byte) error {
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
func (f *Follower) write(number int64, texts map[string][]byte, hosts string) (replaced int, err error) {
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
func (f *Follower) Accept(c *config.Config) error {
	inForce := f.inForce.Load()
	if inForce == nil {
		return nil
	}
	files, err := SharedFiles(c)
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

// SharedFiles returns the texts of a configuration without what belongs to one machine.
func SharedFiles(c *config.Config) (map[string][]byte, error) {
	files := c.Texts()
	main, _, err := splitMain(files[""])
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", c.Path, err)
	}
	files[""] = []byte(main)
	return files, nil
}
