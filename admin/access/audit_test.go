package access

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// TestAuditLogIsReadNewestFirst appends entries over several files, with a damaged line, and reads selections.
func TestAuditLogIsReadNewestFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := NewAuditLog(dir)
	l.maxSize = 400
	for i := range 40 {
		e := api.AuditEntry{
			Time: noon.Add(time.Duration(i) * time.Hour), Who: []string{"maria", "jan"}[i%2], Way: "socket", What: "pause",
			Order: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i)), Result: OrderDone,
		}
		archivetest.Must(t, l.Add(e))
	}
	files, err := filepath.Glob(filepath.Join(dir, "audit*.jsonl"))
	if err != nil || len(files) != maxAudits {
		t.Errorf("%d files, %v; want %d", len(files), err, maxAudits)
	}
	f, err := os.OpenFile(filepath.Join(dir, auditName), os.O_APPEND|os.O_WRONLY, 0)
	archivetest.Must(t, err)
	if _, err := f.WriteString("{\"time\":\"2026"); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	all, err := ReadAudit(dir, api.AuditFilter{})
	if err != nil || len(all) < 20 || !all[0].Time.Equal(noon.Add(39*time.Hour)) || string(all[0].Order) != `{"n":39}` {
		t.Fatalf("read %d entries, %v", len(all), err)
	}
	for i := range all[1:] {
		if !all[i].Time.After(all[i+1].Time) {
			t.Fatalf("entry %d of %s comes before one of %s", i, all[i].Time, all[i+1].Time)
		}
	}
	some, err := ReadAudit(dir, api.AuditFilter{Who: "jan", Since: noon.Add(30 * time.Hour), Limit: 3})
	if err != nil || len(some) != 3 || some[0].Who != "jan" || some[2].Time.Before(noon.Add(30*time.Hour)) {
		t.Errorf("the selection is %+v, %v", some, err)
	}
}

// TestLongOrdersAreCut records an order of a megabyte and one that is not JSON.
func TestLongOrdersAreCut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := NewAuditLog(dir)
	for _, order := range []string{`{"uris":["` + strings.Repeat("ä", 1<<19) + `"]}`, "\xff{", "{}"} {
		archivetest.Must(t, l.Add(api.AuditEntry{Time: noon, What: "seeds", Order: json.RawMessage(order), Result: OrderDone}))
	}
	all, err := ReadAudit(dir, api.AuditFilter{})
	if err != nil || len(all) != 3 || len(all[2].Order) > 2*maxPart || !strings.HasPrefix(string(all[2].Order), `"{\"uris\"`) ||
		string(all[1].Order) != `"{"` || all[0].Order != nil {
		t.Errorf("read %d entries, %v", len(all), err)
	}
}
