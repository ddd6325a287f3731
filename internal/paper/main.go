// Paper makes the figures of docs/completeness.md from histories of change:
//
//	go run ./internal/paper -histories DIR -page docs/completeness.md
//
// It reads all files in the folder whose names end in .jsonl or .jsonl.gz, plays the rules through them, and rewrites
// the blocks of the page between the lines "<!-- paper: NAME -->" and "<!-- end -->". Without -page it prints the
// blocks. The same histories and options give the same figures.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/lab/sim"
)

func main() {
	o := options{progress: os.Stderr}
	histories := flag.String("histories", "", "folder of histories of change (.jsonl, .jsonl.gz)")
	page := flag.String("page", "", "rewrite the blocks of this page (default: print them)")
	flag.IntVar(&o.draws, "draws", 2000, "draws of each bootstrap")
	flag.IntVar(&o.noises, "noises", 4, "sets of noisy pages")
	flag.Float64Var(&o.noise, "noise", 0.1, "share of noisy pages among all")
	flag.IntVar(&o.pages, "pages", 10, "minimum number of pages of a host whose index is played")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the draws and of the first set of noisy pages")
	flag.Parse()
	if *histories == "" || flag.NArg() > 0 || o.noises < 1 || o.draws < 1 {
		flag.Usage()
		os.Exit(64)
	}
	if err := run(o, *histories, *page); err != nil {
		fmt.Fprintln(os.Stderr, "paper:", err)
		os.Exit(1)
	}
}

func run(o options, dir, page string) error {
	all, err := read(dir)
	if err != nil {
		return err
	}
	blocks := o.blocks(all)
	if page == "" {
		for _, b := range blocks {
			fmt.Printf("%s\n%s%s\n\n", begins(b.name), b.text, ends)
		}
		return nil
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	rewritten, err := rewrite(string(text), blocks)
	if err != nil {
		return fmt.Errorf("rewrite %s: %w", page, err)
	}
	return os.WriteFile(page, []byte(rewritten), 0o644)
}

// read reads all files of histories in a folder, in the order of their names.
func read(dir string) (all []sim.History, err error) {
	for _, pattern := range []string{"*.jsonl", "*.jsonl.gz"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		slices.Sort(files)
		for _, name := range files {
			more, err := sim.ReadFile(name)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no histories: name a folder with .jsonl or .jsonl.gz files", dir)
	}
	return all, nil
}

// block is a part of the page that this program writes.
type block struct{ name, text string }

// blocks plays the rules and returns all blocks.
func (o options) blocks(all []sim.History) (blocks []block) {
	tables := play(o, all).tables()
	estimates := o.estimates(tables)
	for _, t := range tables {
		blocks = append(blocks, block{t.name, t.rendered(estimates, o.draws)})
	}
	return blocks
}

func begins(name string) string { return "<!-- paper: " + name + " -->" }

const ends = "<!-- end -->"

// cut returns what is before a block of a page, its text, and what is behind it.
func cut(page, name string) (before, text, after string, ok bool) {
	start := begins(name) + "\n"
	before, rest, ok := strings.Cut(page, start)
	if !ok {
		return "", "", "", false
	}
	text, after, ok = strings.Cut(rest, ends)
	return before + start, text, ends + after, ok
}

// rewrite returns a page with other blocks. It is an error if the page lacks one of them.
func rewrite(page string, blocks []block) (string, error) {
	for _, b := range blocks {
		before, _, after, ok := cut(page, b.name)
		if !ok {
			return "", errors.New("no block " + begins(b.name) + " … " + ends)
		}
		page = before + b.text + after
	}
	return page, nil
}
