package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/api"
)

// Every table of a running crawl shows hosts in Unicode, and marks those whose file was removed.
func TestTablesShowHostsAsPeopleReadThem(t *testing.T) {
	t.Parallel()
	const ascii, label = "xn--bcher-kva.example", "bücher.example (xn--bcher-kva.example), removed"
	names := api.HostNames{Hosts: map[string]api.HostName{ascii: {Unicode: "bücher.example", Removed: true}}}
	var out bytes.Buffer
	err := showOverdue(&out, api.Overdue{By: "host", Rows: []api.Backlog{{Name: ascii, Promise: "is met"}}}, names)
	if err != nil || strings.Count(out.String(), label) != 2 {
		t.Errorf("overdue: %v, want %q twice:\n%s", err, label, &out)
	}
	out.Reset()
	showUnreachable(&out, api.Status{Down: []api.Unreachable{{Host: ascii, Failures: 3, Removed: true}}})
	if !strings.Contains(out.String(), label) {
		t.Errorf("status: want %q:\n%s", label, &out)
	}
}
