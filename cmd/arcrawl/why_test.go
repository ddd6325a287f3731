package main

import (
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
)

// TestWhyOfAnotherScheme asks for URIs of other schemes, and for texts that are not URIs, which are usage errors.
func TestWhyOfAnotherScheme(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		code int
		want string
	}{
		{"ftp://files.example/list.txt", cli.ExitOK, "ftp://files.example/list.txt: kept out by scheme: ftp is neither http nor https"},
		{"FTP://files.example:21/", cli.ExitOK, "scheme: ftp is"},
		{"mailto:editor@news.example", cli.ExitOK, "scheme: mailto is"},
		{"tel:+49301234", cli.ExitOK, "scheme: tel is"},
		{"javascript:void(0)", cli.ExitOK, "scheme: javascript is"},
		{"localhost:8080/x", cli.ExitUsage, "scheme is not http or https"},
		{"news.example:8080", cli.ExitUsage, "scheme is not http or https"},
		{"www.news.example/x", cli.ExitUsage, "missing a scheme"},
	} {
		code, out, errs := command("why", c.text)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("why %s: exit code %d, %q; want %d and %q", c.text, code, out+errs, c.code, c.want)
		}
	}
	if code, out, errs := command("why", "--json", "ftp://files.example/"); code != cli.ExitOK || !strings.Contains(out, `"rule": "scheme"`) {
		t.Errorf("as JSON: exit code %d, %s%s", code, out, errs)
	}
}
