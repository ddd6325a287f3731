package curator

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/foreign"
)

// withToken returns an address with a token as the password of a user.
func withToken(address string) string {
	return strings.Replace(address, "http://", "http://any:"+remoteSecret+"@", 1)
}

// pywb has no index of its own: it asks the CDX server, and shows each version from the WARC files.
func TestPywbAsksTheCDXServer(t *testing.T) {
	t.Parallel()
	w, s := remoteArchive(t)
	w.Seal()
	pywb := foreign.Pywb(t, w.Dir, "cdx+"+withToken(s.URL)+"/cdx")
	for at, want := range map[string]string{
		"20261121090000": "<p>one", "20261121104000": "<p>three", "20261121100000": "<p>two",
	} {
		r, err := http.Get(pywb + at + "id_/" + front)
		archivetest.Must(t, err)
		body, err := io.ReadAll(r.Body)
		if r.Body.Close(); err != nil || string(body) != want {
			t.Errorf("pywb shows %q for %s, want %q, %v", body, at, want, err)
		}
	}
}

// cdx_toolkit lists what a CDX server has, page by page.
func TestAToolkitAsksTheCDXServer(t *testing.T) {
	t.Parallel()
	_, s := remoteArchive(t)
	out, errs, err := foreign.Program(t, "cdxt", "--source", withToken(s.URL)+"/cdx", "--filter", "=status:200", "iter",
		"--jsonl", "--fields", "url,timestamp,mime", "*.news.example")
	if n := strings.Count(out, "text/html"); err != nil || n != 5 {
		t.Errorf("it lists %d captures, want 5: %v\n%s%s", n, err, out, errs)
	}
}

// The client of the authors of Memento finds the version of a time, and those around it.
func TestAMementoClientFindsVersions(t *testing.T) {
	t.Parallel()
	_, s := remoteArchive(t)
	out, errs, err := foreign.Program(t, "memento-info", withToken(s.URL)+"/timegate/", front, "Sat, 21 Nov 2026 10:10:00 GMT")
	if err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	type memento struct {
		Datetime string
		URI      []string
		Status   int `json:"http_status_code"`
	}
	var got struct {
		Mementos struct{ Closest, First, Last, Prev, Next memento }
	}
	archivetest.Must(t, json.Unmarshal([]byte(out), &got))
	m := got.Mementos
	for _, c := range []struct{ what, got, want string }{
		{"closest", m.Closest.Datetime, "10:00:00"},
		{"first", m.First.Datetime, "09:00:00"},
		{"last", m.Last.Datetime, "11:00:00"},
		{"previous", m.Prev.Datetime, "09:00:00"},
		{"next", m.Next.Datetime, "11:00:00"},
	} {
		if !strings.HasSuffix(c.got, c.want) {
			t.Errorf("the %s version is of %q, want %s; %s", c.what, c.got, c.want, out)
		}
	}
	if m.Closest.Status != http.StatusOK {
		t.Errorf("the client got %d; %s", m.Closest.Status, out)
	}
}

// The engine of ReplayWeb.page gets each version by its time, and follows what was redirected.
func TestWabacGetsVersions(t *testing.T) {
	t.Parallel()
	_, s := remoteArchive(t)
	got := foreign.Wabac(t, s.URL+"/memento/", remoteSecret,
		"20261121090000/"+front, "20261121104000/"+front, "2026/"+front+"moved", "2026/"+front+"nowhere")
	for i, want := range []foreign.WabacAnswer{
		{Status: http.StatusOK, Text: "<p>one"},
		{Status: http.StatusOK, Text: "<p>three"},
		{Status: http.StatusFound, To: front + "article?a=b"},
		{Status: http.StatusNotFound},
	} {
		a := got[i]
		if a.Status != want.Status || a.To != want.To || want.Text != "" && a.Text != want.Text {
			t.Errorf("wabac gets %+v, want %+v", a, want)
		}
	}
}
