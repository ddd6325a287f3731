package lab

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/human"
)

func newPrime() *cobra.Command {
	var path string
	var from primeSource
	var add, dry bool
	cmd := &cobra.Command{
		Use:   "prime [FILE|DIR…]",
		Short: "Learn wait intervals from earlier visits",
		Long: `prime reads crawl logs of arcrawl or Heritrix, indexes in CDX (with or without a header) or CDXJ, gzipped or not, and WARC files
and folders of them. It plays the visits in them, in the order of time, through the wait evaluators of the configuration.
It stores what they learn with the URIs that the frontier knows: the wait interval, the rate of change, and the memory of the
rule "learned". The due time changes only if the URI was never visited, or if its learned interval ends earlier.
With --add, unknown URIs are added, to a new store if there is none; they are due when their interval ends. If a daemon
runs, the command stores through it, and the crawl continues.

With --from, prime asks the CDX server at an address for the captures of each --host: a collection of OutbackCDX, or the path /cdx
of a collection of pywb. An answer may have 1 GiB and take 30 minutes.

A URI stays unchanged if the frontier knows a later visit than the files do.`,
		Example: `  arcrawl prime --config arcrawl.toml old/*.cdxj
  arcrawl prime --dry-run crawl.log crawl.log.1.gz
  arcrawl prime --add /srv/old/warcs/
  arcrawl prime --add --from http://localhost:8901/arcrawl --host www.news.example`,
		RunE: func(cmd *cobra.Command, args []string) error {
			from.Files = args
			if err := from.Check(); err != nil {
				return cli.Usage(err)
			}
			c, err := cli.ReadConfig(cmd.ErrOrStderr(), path)
			if err != nil {
				return err
			}
			if err := readEarlier(cmd, &from); err != nil {
				return err
			}
			open := cli.OpenStore
			if add && !dry {
				open = cli.MakeStore
			}
			store, err := open(cmd.Context(), path, time.Now)
			if err != nil {
				return err
			}
			o := primeOptions{Config: c, Now: time.Now(), Add: add, DryRun: dry}
			r, err := primeFrontier(cmd.Context(), store, from.Seen.All(), o)
			if err = errors.Join(err, store.Close()); err != nil {
				return err
			}
			return printPrimed(cmd.OutOrStdout(), &from, r, dry)
		},
	}
	cli.ConfigFlag(cmd, &path)
	cmd.Flags().BoolVar(&add, "add", false, "add URIs that the frontier does not know")
	cmd.Flags().StringVar(&from.Server, "from", "", "ask the CDX server (OutbackCDX or pywb) at this address; needs --host")
	cmd.Flags().StringArrayVar(&from.Hosts, "host", nil, "read the visits of this host only; repeatable (default all)")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would be done, store nothing")
	return cmd
}

// readEarlier reads earlier visits, and prints what is damaged and of which hosts there is nothing.
func readEarlier(cmd *cobra.Command, from *primeSource) error {
	from.UserAgent, from.Damage = "arcrawl/"+cli.Version(), cmd.ErrOrStderr()
	if err := from.Read(cmd.Context()); err != nil {
		return err
	}
	for _, host := range from.Empty {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: the CDX server has no capture that teaches anything\n", host)
	}
	return nil
}

// printPrimed prints what was read, and what happened to the URIs, or what would happen.
func printPrimed(out io.Writer, from *primeSource, r primeResult, dry bool) error {
	fmt.Fprintf(out, "%s of %s read, %s skipped\n",
		human.Count(from.Visits, "visit"), human.Count(r.URIs, "URI"), human.Count(from.Skipped, "line"))
	would := ""
	if dry {
		would = " would be"
	}
	s := fmt.Sprintf("%s%s primed, %d unchanged because of a later visit, %d unknown", human.Count(r.Primed, "URI"), would, r.Later, r.Unknown)
	if r.Added+r.Refused > 0 {
		s += fmt.Sprintf(", %d%s added, %d refused because their host is full", r.Added, would, r.Refused)
	}
	if r.Busy > 0 {
		s += fmt.Sprintf(", %d being visited: repeat the command for them", r.Busy)
	}
	_, err := fmt.Fprintln(out, s)
	return err
}
