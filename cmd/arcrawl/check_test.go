package main

import (
	"encoding/json"
	"path/filepath"
	"testing"
)

// A script, or a check before a commit, reads the faults as JSON.
func TestCheckTellsItsFaultsAsJSON(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "arcrawl.toml")
	read := func(want int) (c checked) {
		t.Helper()
		out, _ := ending(t, want, "check", "--json", "--config", path)
		if err := json.Unmarshal([]byte(out), &c); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		return c
	}
	head := "[operator]\nname = \"Library\"\ncontact = \"https://library.example/\"\n"
	writeFile(t, path, head+"[politeness]\nmin_delai = \"2s\"\nvalence = 99\n")
	if c := read(exitConfig); c.Usable || len(c.Faults) != 2 || c.Faults[0].Line != 5 || c.Faults[0].Key != "politeness.min_delai" || c.Faults[0].Remedy == "" {
		t.Errorf("two faults became %+v", c)
	}
	writeFile(t, path, head+"[politeness]\nmin_delay = \"10ms\"\n[change]\nscrub_css = [\"#x\"]\n[seeds]\nuris = [\"http://a.example/\"]\n")
	if c := read(exitOK); !c.Usable || c.Seeds != 1 || c.Digest == "" || len(c.Warnings) == 0 {
		t.Errorf("a usable configuration with a hasty delay became %+v", c)
	}
}
