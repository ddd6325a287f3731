package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// A flag that names one host must not silently use the last of several.
func TestARepeatedHostIsHonouredOrRefused(t *testing.T) {
	t.Parallel()
	var walk func(c *cobra.Command)
	n := 0
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		f := c.Flags().Lookup("host")
		if f == nil {
			return
		}
		n++
		_, first := f.Value.Set("a.example"), f.Value.String()
		err := f.Value.Set("b.example")
		if err == nil && !strings.Contains(f.Value.String(), "a.example") {
			t.Errorf("%s --host a.example --host b.example takes %q, after %q", c.CommandPath(), f.Value.String(), first)
		}
	}
	walk(newRoot())
	if n < 5 {
		t.Errorf("only %d commands with --host: this test looks for the wrong flag", n)
	}
}
