package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
)

// unreadMain stands for a main file that a curator may not read.
const unreadMain = `[operator]
name = "unknown"
contact = "https://unknown.example/"
`

// mayRead reports whether this user may read a file. A file that does not exist counts as readable.
func mayRead(path string) bool {
	f, err := os.Open(path)
	if err == nil {
		_ = f.Close()
	}
	return !errors.Is(err, fs.ErrPermission)
}

// configuredSeeds returns the seeds of the configuration. A curator who may not read the main file sees only the seeds
// of the host files, and whole is false. A broken file is named on errs.
func configuredSeeds(errs io.Writer, path string) (seeds []config.Seed, whole bool, err error) {
	if mayRead(path) {
		c, err := cli.ReadConfig(errs, path)
		if err != nil {
			return nil, true, err
		}
		return c.Seeds, true, nil
	}
	s, err := openHostFiles(path)
	if err != nil {
		return nil, false, err
	}
	for _, name := range slices.Sorted(maps.Keys(s.texts)) {
		if name == "" {
			continue
		}
		c, err := config.LoadTexts(path, map[string][]byte{"": s.texts[""], name: s.texts[name]})
		if err != nil {
			fmt.Fprintf(errs, "warning: the seeds of this file are not known: %v\n", err)
			continue
		}
		for _, seed := range c.Seeds {
			seed.File = filepath.Join(s.dir, name)
			seeds = append(seeds, seed)
		}
	}
	return seeds, false, nil
}

// checkHostFiles checks the host files for a curator who may not read the main file. It returns their folder.
func checkHostFiles(path string) (result checkResult, dir string, err error) {
	s, err := openHostFiles(path)
	if err != nil {
		return result, "", err
	}
	c, err := config.LoadTexts(path, s.texts)
	result, err = resultOf(c, err, func(string) bool { return true })
	return result, s.dir, err
}
