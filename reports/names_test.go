package reports

import (
	"bytes"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/admin/api"
)

// Every table shows hosts in Unicode, and marks those whose file was removed.
func TestTablesShowHostsAsPeopleReadThem(t *testing.T) {
	t.Parallel()
	const ascii, label = "xn--bcher-kva.example", "bücher.example (xn--bcher-kva.example), removed"
	names := api.HostNames{Hosts: map[string]api.HostName{ascii: {Unicode: "bücher.example", Removed: true}}}
	r := &reportDays{shown: names, top: 20}
	for name, show := range map[string]func(out *bytes.Buffer) error{
		"report headers": func(out *bytes.Buffer) error {
			report := api.HeaderReport{Rows: []api.HeaderTrust{{Host: ascii}}, Dates: []api.DateTrust{{Host: ascii}}}
			return printHeaders(out, report, names)
		},
		"report days": func(out *bytes.Buffer) error {
			return r.print(out, api.DayReport{Hosts: []api.DayRow{{Host: ascii}}, Pace: []api.HostPace{{Host: ascii}}})
		},
	} {
		var out bytes.Buffer
		if err := show(&out); err != nil || strings.Count(out.String(), label) != 2 {
			t.Errorf("%s: %v, want %q twice:\n%s", name, err, label, &out)
		}
	}
}
