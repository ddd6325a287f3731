package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/human"
)

// daemonFlags are the flags of commands that talk to a running daemon.
type daemonFlags struct {
	config, socket string
	shard          int
	json           bool
	note           func(string) // prints what an answer leaves out
}

func (d *daemonFlags) add(cmd *cobra.Command) {
	configFlagFor(cmd, &d.config, "the main configuration file of the daemon, which names its socket")
	cmd.Flags().StringVar(&d.socket, "socket", "", "use this socket (default: the one in the configuration)")
	cmd.Flags().IntVar(&d.shard, "shard", 0, "ask this shard of a divided crawl (default: the one that it is about, all, or the lowest here)")
	d.note = func(what string) { fmt.Fprintln(cmd.ErrOrStderr(), "note: "+what) }
	cmd.Flags().BoolVar(&d.json, "json", false, "print the daemon's answer as JSON")
}

// client returns a client of the daemon's socket.
func (d *daemonFlags) client() (*api.Client, error) {
	if d.socket != "" {
		return api.NewClient(d.socket).Shard(d.shard).Missing(d.note), nil
	}
	at, err := config.Where(d.config)
	if err != nil {
		return nil, fmt.Errorf("%w\nThe configuration names the socket of the daemon; name another file with --config, or the socket with --socket", err)
	}
	if at.Socket == "" {
		return nil, fmt.Errorf("%w: %s has admin.socket = \"off\"", api.ErrNoDaemon, d.config)
	}
	return api.NewClient(at.Socket).Shard(d.shard).Missing(d.note), nil
}

// advise adds advice to an error of the client.
func (d *daemonFlags) advise(err error) error {
	if errors.Is(err, api.ErrNoDaemon) {
		return fmt.Errorf("%w; start it with: arcrawl run --config %s (or: systemctl start arcrawl), or name another one with --config or --socket", err, d.config)
	}
	return err
}

// ask sends a request to the daemon and prints the answer.
func ask[A any](
	cmd *cobra.Command, d *daemonFlags, show func(io.Writer, A) error, request func(*api.Client) (A, error),
) error {
	c, err := d.client()
	if err != nil {
		return err
	}
	answer, err := request(c)
	return printAnswer(d, cmd.OutOrStdout(), answer, err, show)
}

// names asks the daemon how hosts are shown. If it does not answer, internationalized names are shown in Unicode, and
// no host is marked.
func (d *daemonFlags) names(ctx context.Context) api.HostNames {
	client, err := d.client()
	if err != nil {
		return api.HostNames{}
	}
	names, _ := client.Missing(nil).HostNames(ctx) // without an answer there are none
	return names
}

// askOr sends a request to the daemon. If no daemon answers, and no socket was named, it calls instead with the
// configuration.
func askOr[A any](
	d *daemonFlags, request func(*api.Client) (A, error), instead func(*config.Config) (A, error),
) (answer A, err error) {
	client, err := d.client()
	if err == nil {
		answer, err = request(client)
	}
	if d.socket != "" || !errors.Is(err, api.ErrNoDaemon) {
		return answer, err
	}
	c, err := daemon.ReadConfig(d.config)
	if err != nil {
		return answer, err
	}
	return instead(c)
}

// printAnswer prints an answer, as JSON or as people read it.
func printAnswer[A any](d *daemonFlags, out io.Writer, answer A, err error, show func(io.Writer, A) error) error {
	if err != nil {
		return d.advise(err)
	}
	if d.json {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(answer)
	}
	return show(out, answer)
}

// span returns a duration for people.
func span(s api.Seconds) string { return human.About(time.Duration(s)) }
