package main

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/config/reference"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/sim"
	"github.com/arcrawl/arcrawl/uri"
)

// maxCaptures is the maximum number of captures of a host that a CDX server is asked for. OutbackCDX returns only
// 10,000 unless a number is asked for.
const maxCaptures = 5_000_000

// earlierVisits says where prime finds earlier visits, and what it found there.
type earlierVisits struct {
	server string   // address of a collection of a CDX server; empty = none
	hosts  []string // only their URIs; empty = all

	seen            sim.Sightings
	visits, skipped int
	names           map[string]bool // the hosts in canonical form
}

// check refuses wrong flags, and reads the names of the hosts.
func (e *earlierVisits) check(files []string) error {
	e.names = map[string]bool{}
	for _, h := range e.hosts {
		u, err := uri.Parse("http://" + h + "/")
		if err != nil || u.Path() != "/" {
			return usageError{fmt.Errorf("--host %q: want the name of a host, such as www.news.example", h)}
		}
		e.names[u.Authority()] = true
	}
	switch {
	case e.server == "" && len(files) == 0:
		return usageError{fmt.Errorf("there is nothing to read; name files, or a CDX server with --from and --host")}
	case e.server == "":
		return nil
	case len(e.hosts) == 0:
		return usageError{fmt.Errorf("--from needs --host, because a server is asked for the captures of single hosts")}
	}
	u, err := url.Parse(e.server)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") == "" {
		return usageError{fmt.Errorf("--from: want the address of a CDX server, such as http://localhost:8901/arcrawl " +
			"(OutbackCDX) or http://localhost:8080/arcrawl/cdx (pywb)")}
	}
	return nil
}

// wanted reports whether the visits of a URI are read.
func (e *earlierVisits) wanted(address string) bool {
	if len(e.names) == 0 {
		return true
	}
	u, err := uri.Parse(address)
	return err == nil && e.names[u.Authority()]
}

// read adds the visits in files and on the server.
func (e *earlierVisits) read(cmd *cobra.Command, files []string) error {
	err := e.readFiles(cmd, files)
	if e.server == "" {
		return err
	}
	for i := 0; err == nil && i < len(e.hosts); i++ {
		err = e.ask(cmd, e.hosts[i])
	}
	return err
}

// readFiles adds the visits in crawl logs, indexes, WARC files, and folders of WARC files. It prints what is damaged in
// WARC files, and reads the rest.
func (e *earlierVisits) readFiles(cmd *cobra.Command, names []string) (err error) {
	var archives, texts []string
	for _, name := range names {
		info, err := os.Stat(name)
		if err == nil && info.IsDir() || warc.IsArchive(name) {
			archives = append(archives, name)
		} else {
			texts = append(texts, name)
		}
	}
	if len(texts) > 0 {
		e.visits, e.skipped, err = e.seen.ReadFiles(texts, e.wanted)
	}
	if err == nil && len(archives) > 0 {
		var captures int
		report := printFinding(cmd.ErrOrStderr(), false)
		captures, err = e.seen.ReadArchives(cmd.Context(), archives, e.wanted, report)
		e.visits += captures
	}
	return err
}

// ask adds the captures of a host that the CDX server has.
func (e *earlierVisits) ask(cmd *cobra.Command, host string) error {
	u, err := url.Parse(e.server)
	if err != nil {
		return usageError{fmt.Errorf("--from: %w", fetch.WithoutURL(err))}
	}
	q := u.Query()
	q.Set("url", "http://"+host+"/")
	q.Set("matchType", "host")
	q.Set("limit", strconv.Itoa(maxCaptures))
	u.RawQuery = q.Encode()
	var visits, skipped int
	err = fetch.GetLines(cmd.Context(), u.String(), "arcrawl/"+programVersion(), func(in io.Reader) (err error) {
		visits, skipped, err = e.seen.ReadLines(in, e.wanted)
		return err
	})
	if err != nil {
		return fmt.Errorf("read the captures of %s from the CDX server %s: %w; export them to a file and name it instead",
			host, u.Host, err)
	}
	e.visits += visits
	e.skipped += skipped
	if visits == 0 {
		_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%s: the CDX server has no capture that teaches anything; %s skipped\n",
			host, human.Count(skipped, "line"))
	}
	return err
}

// suggestPrime prints the command that teaches the crawl what earlier crawls saw of the hosts of seeds. It prints
// nothing for users who cannot read the main file, because prime needs it.
func suggestPrime(out io.Writer, path string, seeds []string) error {
	if !mayRead(path) {
		return nil
	}
	hosts, _, err := reference.SeedsByHost(seeds)
	if err != nil {
		return usageError{err}
	}
	c, err := config.Load(path)
	if err != nil {
		return err
	}
	source := "FILE…"
	if u, err := url.Parse(c.Index.OutbackCDX); err == nil && u.Host != "" {
		source = "--from " + u.Redacted()
	}
	flags := ""
	for _, h := range hosts {
		flags += " --host " + string(h)
	}
	_, err = fmt.Fprintf(out, "if crawled before: arcrawl prime -c %s --add%s %s\n", path, flags, source)
	return err
}
