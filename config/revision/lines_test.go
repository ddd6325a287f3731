package revision

import (
	"strings"
	"testing"
)

const sharedLines = `[operator]
name = "A library" # its name

# The dashboard can be seen from elsewhere.
[admin]
remote = "operator"

[fetch]
agent = """
[storage]
"""
`

// TestWhatAMachineOwnsIsToldFromTheRest divides main files, and puts the shared part together with keys of another
// machine.
func TestWhatAMachineOwnsIsToldFromTheRest(t *testing.T) {
	t.Parallel()
	const node = "\n# Where all is kept.\n[storage]\nstate = \"/a\"\nelsewhere = [\n  \"/b\", # of the other\n]\n\n[cluster]\nnode = \"a\"\n"
	const listen = "# The address.\nlisten = \"127.0.0.1:1\"\n"
	with := strings.Replace(sharedLines, "remote =", listen+"remote =", 1)
	const dotted = "storage.state = \"/a\"\nstorage.elsewhere = [\"/b\"]\ncluster.node = \"a\"\nadmin.listen = \"127.0.0.1:1\"\n"
	for name, main := range map[string]struct{ text, shared string }{
		"tables at the end":   {with + node, sharedLines},
		"tables at the start": {strings.TrimPrefix(node, "\n") + "\n" + with, sharedLines},
		"dotted keys":         {dotted + "[operator]\nname = \"A\"\n", "[operator]\nname = \"A\"\n"},
		"only addresses":      {"[admin]\n" + listen + "\n[operator]\nname = \"A\"\n" + node, "[operator]\nname = \"A\"\n"},
	} {
		got, own, err := splitMain([]byte(main.text))
		if err != nil || got != main.shared {
			t.Errorf("%s: %v; shared is\n%s\nwant\n%s", name, err, got, main.shared)
		}
		again, same, err := splitMain([]byte(joinMain(got, own)))
		if err != nil || again != got || joinMain(again, same) != joinMain(got, own) {
			t.Errorf("%s: a second time it is divided into\n%s\n%q, %v", name, again, same, err)
		}
		if !strings.Contains(joinMain(got, own), "/b\"") {
			t.Errorf("%s: the folders are lost:\n%s", name, joinMain(got, own))
		}
	}
}

// TestMainFilesThatCannotBeDividedAreRefused has keys of a machine in places where lines do not show them.
func TestMainFilesThatCannotBeDividedAreRefused(t *testing.T) {
	t.Parallel()
	for _, main := range []string{
		"\"storage\".state = \"/a\"\n",
		"[\"storage\"]\nstate = \"/a\"\n",
		"[admin]\nnames = [\n\"a\",\n]\n",
		"admin = { listen = \"127.0.0.1:1\" }\n",
	} {
		if shared, own, err := splitMain([]byte(main)); err == nil {
			t.Errorf("%q is divided into %q and %q", main, shared, own)
		}
	}
}
