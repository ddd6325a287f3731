package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
	"github.com/arcrawl/arcrawl/frontier"
)

const (
	// defaultConfig is the name of the main configuration file, and its path if it is not found anywhere.
	defaultConfig = "arcrawl.toml"
	// systemConfig is where packages install the main configuration file.
	systemConfig = "/etc/arcrawl/arcrawl.toml"
	// configVariable is the environment variable that names the main configuration file.
	configVariable = "ARCRAWL_CONFIG"
)

// ConfigFlag lets a command take the flag that names the main configuration file.
func ConfigFlag(cmd *cobra.Command, path *string) {
	take(cmd, configName, func(f *pflag.Flag) { *path = f.Value.String() })
}

// configFinder finds the main configuration file for a command line that does not name it.
type configFinder struct {
	env    func(name string) (string, bool)
	exists func(path string) bool
	tried  string // what was tried without success; "" = it was found or not looked for
}

// newConfigFinder returns a finder that looks at the environment and the disk.
func newConfigFinder() *configFinder {
	return &configFinder{env: os.LookupEnv, exists: func(path string) bool { _, err := os.Stat(path); return err == nil }}
}

// setFlag sets the flag that names the main configuration file, if a command takes it and it is not set.
func (c *configFinder) setFlag(cmd *cobra.Command) {
	f := cmd.Flag(configName)
	if f == nil || f.Changed || !takes(cmd, f) {
		return
	}
	if path := c.find(); path != "" {
		_ = f.Value.Set(path) // a text can always be set
	}
}

// find returns the path of the main configuration file, or "" and fills tried.
func (c *configFinder) find() string {
	if named, ok := c.env(configVariable); ok && named != "" {
		if inside := filepath.Join(named, defaultConfig); c.exists(inside) {
			return inside // a folder
		}
		return named
	}
	for _, path := range []string{defaultConfig, systemConfig} {
		if c.exists(path) {
			return path
		}
	}
	c.tried = fmt.Sprintf("looked for a configuration: $%s is not set, there is no ./%s and no %s; name it with --config",
		configVariable, defaultConfig, systemConfig)
	return ""
}

// explain adds to the text of an error where a configuration was looked for, if the error is about its absence.
func (c *configFinder) explain(text string) string {
	if c.tried == "" || !strings.Contains(text, defaultConfig) {
		return text
	}
	return text + "\n" + c.tried
}

// ReadConfig reads the configuration for a command that only reads. A broken host file is named on errs, and does not
// stop the command.
func ReadConfig(errs io.Writer, path string) (*config.Config, error) {
	c, err := daemon.ReadConfig(path)
	if err != nil {
		return nil, err
	}
	for _, f := range c.Broken {
		fmt.Fprintf(errs, "warning: %s (the last good copy of this file is used, if the daemon has kept one)\n", f)
	}
	return c, nil
}

// FromStore opens the store of a stopped daemon, returns the answer of read, and closes the store.
func FromStore[A any](
	ctx context.Context, c *config.Config, read func(*frontier.Frontier) (A, error),
) (answer A, err error) {
	f, err := daemon.OpenStopped(ctx, c, time.Now())
	if err != nil {
		return answer, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return read(f)
}
