package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/internal/human"
)

// Daemon holds the flags of commands that talk to a running daemon.
type Daemon struct {
	Config, Socket string
	JSON           bool // print the answer as JSON
	sent           http.Header
	note           func(string) // prints what an answer leaves out
}

// Add adds the flags to a command.
func (d *Daemon) Add(cmd *cobra.Command) {
	ConfigFlag(cmd, &d.Config)
	JSONFlag(cmd, &d.JSON)
	take(cmd, socketName, func(f *pflag.Flag) { d.Socket, d.sent = f.Value.String(), sentFlags(cmd) })
	d.note = func(what string) { fmt.Fprintln(cmd.ErrOrStderr(), "note: "+what) }
}

// IsNamed reports whether a flag names the daemon or a node.
func (d *Daemon) IsNamed() bool { return d.Socket != "" || len(d.sent) > 0 }

// Client returns a client of the daemon's socket.
func (d *Daemon) Client() (*api.Client, error) {
	if d.Socket != "" {
		return api.NewClient(d.Socket).With(d.sent).Missing(d.note), nil
	}
	at, err := config.Where(d.Config)
	if err != nil {
		return nil, fmt.Errorf("%w\nThe configuration names the socket of the daemon; name another file with --config, or the socket with --socket", err)
	}
	if at.Socket == "" {
		return nil, fmt.Errorf("%w: %s has admin.socket = \"off\"", api.ErrNoDaemon, d.Config)
	}
	return api.NewClient(at.Socket).With(d.sent).Missing(d.note), nil
}

// Advise adds advice to an error of the client.
func (d *Daemon) Advise(err error) error {
	if errors.Is(err, api.ErrNoDaemon) {
		return fmt.Errorf("%w; start it with: arcrawl run --config %s (or: systemctl start arcrawl), or name another one with --config or --socket", err, d.Config)
	}
	return err
}

// Ask sends a request to the daemon and prints the answer.
func Ask[A any](
	cmd *cobra.Command, d *Daemon, show func(io.Writer, A) error, request func(*api.Client) (A, error),
) error {
	c, err := d.Client()
	if err != nil {
		return err
	}
	answer, err := request(c)
	return Print(d, cmd.OutOrStdout(), answer, err, show)
}

// Names asks the daemon how hosts are shown. If it does not answer, internationalized names are shown in Unicode, and
// no host is marked.
func (d *Daemon) Names(ctx context.Context) api.HostNames {
	client, err := d.Client()
	if err != nil {
		return api.HostNames{}
	}
	names, _ := client.Missing(nil).HostNames(ctx) // without an answer there are none
	return names
}

// AskOr sends a request to the daemon. If no daemon answers, and no socket was named, it calls instead with the
// configuration.
func AskOr[A any](
	d *Daemon, request func(*api.Client) (A, error), instead func(*config.Config) (A, error),
) (answer A, err error) {
	client, err := d.Client()
	if err == nil {
		answer, err = request(client)
	}
	if d.Socket != "" || !errors.Is(err, api.ErrNoDaemon) {
		return answer, err
	}
	c, err := daemon.ReadConfig(d.Config)
	if err != nil {
		return answer, err
	}
	return instead(c)
}

// Print prints an answer, as JSON or as people read it.
func Print[A any](d *Daemon, out io.Writer, answer A, err error, show func(io.Writer, A) error) error {
	if err != nil {
		return d.Advise(err)
	}
	if d.JSON {
		return WriteJSON(out, answer)
	}
	return show(out, answer)
}

// Span returns a duration for people.
func Span(s api.Seconds) string { return human.About(time.Duration(s)) }
