package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/fetch"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/uri"
)

// fetchFlags hold the flags of arcrawl fetch.
type fetchFlags struct {
	config, try  string
	headers, do  []string
	json, render bool
}

func newFetch() *cobra.Command {
	var f fetchFlags
	cmd := &cobra.Command{
		Use:   "fetch --try HOST|URI",
		Short: "Show what a request gets, with other cookies or headers too",
		Long: `fetch --try requests a page as the crawl would, and shows the answer: its status, size and type, whether it is a consent wall
or a challenge instead of the page, and which setting usually helps. With --header it makes a second request that sends this too, so that
both answers can be compared before a setting is written. If the host has a [login], it logs in first, and shows why if that fails.

With --render it loads the last answer in a browser (see docs/rendering.md), and shows which requests its scripts make and how many links
the page has then. It makes the first 30 requests that go to the host of the page, each after a rest. It does the steps of render.do, or
of --do, and writes a picture of the page before and after each step into a new folder for temporary files.

It obeys robots.txt, rests between the requests, follows no redirect, and changes nothing: no store, no archive. Secrets of the
configuration are sent and not shown. A running crawl does not know of these requests.`,
		Example: `  arcrawl fetch --try www.news.example
  arcrawl fetch --try https://www.news.example/ --header 'Cookie: consent=yes'
  arcrawl fetch --try www.news.example --header 'Accept-Language: da'
  arcrawl fetch --try www.news.example --render
  arcrawl fetch --try https://www.news.example/live --render --do consent --do 'click = "button.more", times = 20'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	cli.ConfigFlag(cmd, &f.config)
	cmd.Flags().StringVar(&f.try, "try", "", "request this `HOST|URI`")
	cmd.Flags().StringArrayVar(&f.headers, "header", nil, "also request it with this `FIELD`, for example 'Cookie: consent=yes; age=18'; may be repeated")
	cmd.Flags().BoolVar(&f.render, "render", false, "also load the page in a browser, and show what its scripts request")
	cmd.Flags().StringArrayVar(&f.do, "do", nil, "with --render, do this `STEP` on the page: a preset, or as in render.do; may be repeated")
	cli.JSONFlag(cmd, &f.json)
	return cmd
}

func (f *fetchFlags) run(cmd *cobra.Command) (err error) {
	other, err := f.other()
	do, wrong := config.ReadSteps(f.do)
	if err = errors.Join(err, wrong); err == nil && do != nil && !f.render {
		err = errors.New("--do is for a rendered page; add --render")
	}
	if err == nil && f.try == "" {
		err = errors.New("--try is missing; name a host or a URI")
	}
	address := f.try
	if !strings.Contains(address, "://") {
		address = "https://" + strings.TrimSuffix(address, "/") + "/"
	}
	u, bad := uri.Parse(address)
	if err = errors.Join(err, bad); err != nil {
		return cli.Usage(err)
	}
	c, err := cli.ReadConfig(cmd.ErrOrStderr(), f.config)
	if err != nil {
		return err
	}
	client := fetch.New(fetch.Options{Dial: fetch.Guard(c.AllowNetworks, c.AllowHosts...)})
	defer func() { err = errors.Join(err, client.Close()) }()
	t := whatif.Trial{Config: c, Version: cli.Version(), Other: other, Wait: cli.Wait}
	if f.render {
		browser, end, err := openBrowser(c)
		if err != nil {
			return fmt.Errorf("try %s: %w", u, err)
		}
		defer end()
		t.Browser, t.Do = browser, do
	}
	album := album{}
	t.Pictured = album.add
	all, err := t.Run(cmd.Context(), client, u, time.Now())
	if err = errors.Join(err, album.err); err != nil {
		return err
	}
	d := cli.Daemon{JSON: f.json}
	if album.folder != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "the pictures before and after each step are in "+album.folder)
	}
	return cli.Print(&d, cmd.OutOrStdout(), all, nil, showResults)
}

// album is a folder with a picture of a page before and after each step.
type album struct {
	folder string // "" = there is no picture yet
	err    error
}

// add writes the picture after a step, of which the first has number 1.
func (a *album) add(step int, png []byte) {
	if a.folder == "" && a.err == nil {
		a.folder, a.err = os.MkdirTemp("", "arcrawl-pictures-")
	}
	if a.err == nil {
		a.err = os.WriteFile(filepath.Join(a.folder, fmt.Sprintf("%02d.png", step)), png, 0o600)
	}
}

// other returns the header fields of the flags; nil if there are none.
func (f *fetchFlags) other() (fields []fetch.Field, err error) {
	for _, text := range f.headers {
		name, value, ok := strings.Cut(text, ":")
		if problem, remedy := fetch.CheckHeaderName(name); !ok || problem != "" {
			err = errors.Join(err, fmt.Errorf("--header %q %s; %s", name, problem, remedy))
		}
		fields = append(fields, fetch.Field{Name: name, Value: strings.TrimSpace(value)})
	}
	return fields, err
}

// showResults prints what the requests got.
func showResults(out io.Writer, all []whatif.Result) error {
	for i, r := range all {
		if i > 0 {
			fmt.Fprintln(out)
		}
		row := func(name, text string) {
			if text != "" {
				fmt.Fprintf(out, "%-10s %s\n", name, text)
			}
		}
		row("request", r.Name)
		for _, s := range r.Sent {
			row("  sent", s)
		}
		row("status", fmt.Sprint(r.Status))
		row("error", r.Error)
		row("location", r.Location)
		row("type", r.ContentType)
		if r.Name != whatif.Rendered {
			row("size", fmt.Sprintf("%d bytes", r.Size))
		}
		row("digest", r.Digest)
		row("cookies", strings.Join(r.Cookies, ", "))
		row("instead", r.InsteadOf)
		row("hint", r.Hint)
		showRendering(r.Rendering, row)
	}
	if n := len(all); n > 0 && all[n-1].Name == whatif.Rendered {
		all = all[:n-1]
	}
	if n := len(all); n >= 2 && all[n-1].Name == whatif.Given {
		same := "different"
		if all[n-2].Digest == all[n-1].Digest && all[n-1].Digest != "" {
			same = "the same"
		}
		fmt.Fprintf(out, "\nboth answers have %s content\n", same)
	}
	return nil
}

// showRendering prints what a browser made of a page.
func showRendering(r *whatif.Rendering, row func(name, text string)) {
	if r == nil {
		return
	}
	row("title", r.Title)
	row("text", human.Count(r.Text, "character"))
	row("links", fmt.Sprintf("%d (the source has %d)", r.Links, r.SourceLinks))
	if r.Late {
		row("late", "the page was not quiet within render.limit")
	}
	for i, s := range r.Steps {
		row(fmt.Sprintf("step %d", i+1), fmt.Sprintf("%s: %s, %s, %s; ended: %s", s.Step, human.Count(s.Times, "time"),
			human.Count(s.Requests, "request"), time.Duration(s.Took)*time.Millisecond, s.Ended))
	}
	row("requests", human.Count(len(r.Requests), "URI"))
	for _, q := range r.Requests {
		got := q.Why
		if q.Status != 0 {
			got = fmt.Sprint("status ", q.Status)
		}
		row("  asked", q.URI+"  "+got)
	}
}
