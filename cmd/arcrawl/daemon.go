package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/config"
)

// daemonFlags are those of the commands that speak with a running daemon.
type daemonFlags struct {
	config, socket string
	json           bool
}

func (d *daemonFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&d.config, "config", "c", defaultConfig, "the daemon's main configuration file, which names its socket")
	cmd.Flags().StringVar(&d.socket, "socket", "", "the daemon's socket, in the place of the one that the configuration names")
	cmd.Flags().BoolVar(&d.json, "json", false, "write the daemon's answer as JSON")
}

// client finds the daemon.
func (d *daemonFlags) client() (*admin.Client, error) {
	if d.socket != "" {
		return admin.NewClient(d.socket), nil
	}
	at, err := config.Where(d.config)
	if err != nil {
		return nil, fmt.Errorf("%w\nThe configuration names the socket of the daemon; name another file with --config, or the socket with --socket", err)
	}
	if at.Socket == "" {
		return nil, fmt.Errorf("%w: %s has admin.socket = \"off\"", admin.ErrNoDaemon, d.config)
	}
	return admin.NewClient(at.Socket), nil
}

// advise adds to an error of the client what can be done about it.
func (d *daemonFlags) advise(err error) error {
	if errors.Is(err, admin.ErrNoDaemon) {
		return fmt.Errorf("%w; start it with: arcrawl run --config %s (or: systemctl start arcrawl), or name another one with --config or --socket", err, d.config)
	}
	return err
}

// tell prints an answer, as JSON or as people read it.
func tell[A any](d *daemonFlags, out io.Writer, answer A, err error, show func(io.Writer, A) error) error {
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

// span is a duration for people, to two units: "3d 4h", "12m 5s", "0.4s".
func span(s admin.Seconds) string {
	d := time.Duration(s)
	switch day := 24 * time.Hour; {
	case d < 0:
		return "-" + span(-s)
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm %ds", d/time.Minute, d%time.Minute/time.Second)
	case d < day:
		return fmt.Sprintf("%dh %dm", d/time.Hour, d%time.Hour/time.Minute)
	default:
		return fmt.Sprintf("%dd %dh", d/day, d%day/time.Hour)
	}
}

// sizeText is a number of bytes for people.
func sizeText(n int64) string {
	const units = "kMGTPE"
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	f := float64(n)
	i := -1
	for f >= 999.5 && i < len(units)-1 {
		f /= 1000
		i++
	}
	if f < 9.95 {
		return fmt.Sprintf("%.1f %cB", f, units[i])
	}
	return fmt.Sprintf("%.0f %cB", f, units[i])
}
