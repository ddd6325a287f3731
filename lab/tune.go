package lab

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/human"
	"github.com/arcrawl/arcrawl/lab/sim"
)

func newTune() *cobra.Command {
	var path string
	var cost float64
	cmd := &cobra.Command{
		Use:   "tune HOST [FILE…]",
		Short: "Recommend wait settings for a host, by its own history",
		Long: `tune reads the visits to HOST from the files given (crawl logs, CDX, CDXJ). Without files it reads the configuration's crawl
log and all logs next to it whose names begin with its name. It plays settings through that history with the host's politeness
and order. It prints the [[wait]] entry that captures most for --cost times the requests of the present settings, and its gain
and cost. It changes nothing: put the lines into the host's file if they convince you.

Changes that no visit saw are not in a log. So the shares are too high, and settings that visit more often than the crawl did
gain more in truth than is shown.`,
		Example: "  arcrawl tune www.news.example\n  arcrawl tune --cost 2 www.news.example crawl.log.2026-*.gz",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(cost > 0 && cost <= 1000) {
				return cli.Usage(fmt.Errorf("--cost: %v is not above 0 and up to 1000", cost))
			}
			c, err := cli.ReadConfig(cmd.ErrOrStderr(), path)
			if err != nil {
				return err
			}
			files := args[1:]
			if len(files) == 0 {
				if files, err = filepath.Glob(c.Storage.Log + "*"); err != nil || len(files) == 0 {
					return fmt.Errorf("no crawl log %s; name the files to read", c.Storage.Log)
				}
			}
			var seen sim.Sightings
			onHost := func(u string) bool {
				parsed, err := url.Parse(u)
				return err == nil && parsed.Host == args[0]
			}
			if _, _, err := seen.ReadFiles(files, onHost); err != nil {
				return err
			}
			t := tuning{host: args[0], config: c, Tuning: sim.Tuning{Histories: seen.Histories()}}
			if len(t.Histories) == 0 {
				return fmt.Errorf("tune %s: none of its URIs has two visits a day apart in %d files", args[0], len(files))
			}
			return t.run(cmd.OutOrStdout(), cost)
		},
	}
	cli.ConfigFlag(cmd, &path)
	cmd.Flags().Float64Var(&cost, "cost", 1, "requests that the recommended settings may make, as a multiple of the present requests")
	return cmd
}

// tuning prints what other settings would have captured of a host's history.
type tuning struct {
	host   string
	config *config.Config
	sim.Tuning
}

func (t tuning) run(out io.Writer, cost float64) error {
	from, to := sim.Span(t.Histories)
	t.Configuration = sim.Configuration{Name: t.host, Config: t.config, Epoch: from}
	days := to.Sub(from).Hours() / 24
	var list []sim.Setting
	err := inFolder(func(dir string) (err error) {
		t.Dir = dir
		list, err = t.Try()
		return err
	})
	if err != nil {
		return err
	}
	best := sim.Best(list, cost)
	if err := t.table(out, list, best, days); err != nil {
		return err
	}
	return t.recommend(out, list[0], list[best], days)
}

func (t tuning) table(out io.Writer, list []sim.Setting, best int, days float64) error {
	fmt.Fprintf(out, "%s: %s, %s seen in %.0f days; at most one request every %s\n\n",
		t.host, human.Count(len(t.Histories), "URI"), human.Count(list[0].Versions, "version"), days,
		t.Configuration.Rest(t.host))
	w := cli.NumberTable(out)
	fmt.Fprintln(w, "captured\trequests/day\tper version\tmean delay\tmean overdue\t\t setting")
	for i, s := range list {
		mark := ""
		if i == best {
			mark = "→"
		}
		fmt.Fprintf(w, "%.1f %%\t%.1f\t%.1f\t%s\t%s\t%s\t %s\n", 100*s.Share(), float64(s.Requests)/days,
			float64(s.Requests)/float64(max(s.Captured, 1)), s.MeanDelay(), s.MeanLate(), mark, s.Name)
	}
	return w.Flush()
}

func (t tuning) recommend(out io.Writer, now, best sim.Setting, days float64) error {
	if best.TOML == "" {
		_, err := fmt.Fprint(out, "\nNo other setting captures more for these requests. Keep the settings, or allow more requests with --cost.\n")
		return err
	}
	_, err := fmt.Fprintf(out, `
For %s:

[[wait]]
mime = '.*'
%s

It would have captured %.1f %% of the versions instead of %.1f %%, %+d in %.0f days, with %+.1f requests a day. Entries of
the host's file with patterns of their own keep precedence if they come first.
`, filepath.Join(hostsFolder(t.config), t.host+".toml"), best.TOML, 100*best.Share(), 100*now.Share(),
		best.Captured-now.Captured, days, float64(best.Requests-now.Requests)/days)
	return err
}

// hostsFolder returns the usual folder of host files.
func hostsFolder(c *config.Config) string {
	dir := filepath.Join(filepath.Dir(c.Path), "hosts.d")
	if _, err := os.Stat(dir); err != nil {
		return filepath.Dir(c.Path)
	}
	return dir
}
