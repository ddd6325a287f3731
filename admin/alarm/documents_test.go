package alarm

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestDocumentsAreATroubleForADay(t *testing.T) {
	t.Parallel()
	var d Documents
	for n := range 3 * maxDocumentHosts {
		d.Add(fmt.Sprintf("h%d.example", n), "http://h.example/"+strings.Repeat("é", 5000), "error", "why", noon)
	}
	d.Add("h1.example", "http://h1.example/b", "panic", "index out of range", noon.Add(time.Hour))
	list := d.Troubles(noon.Add(time.Hour))
	if len(list) != maxDocumentHosts {
		t.Errorf("%d troubles, want one for each of %d hosts", len(list), maxDocumentHosts)
	}
	for _, x := range list {
		if len(x.Text) > 1000 || !strings.Contains(x.Text, "could not be processed") {
			t.Errorf("%d bytes of text: %.100s", len(x.Text), x.Text)
		}
		if x.About == "h1.example" && !strings.Contains(x.Text, "2 visits of h1.example") {
			t.Errorf("the text is %q", x.Text)
		}
	}
	if d.Totals()["error"] != 3*maxDocumentHosts || d.Totals()["panic"] != 1 {
		t.Errorf("counted %d errors and %d panics", d.Totals()["error"], d.Totals()["panic"])
	}
	if list := d.Troubles(noon.Add(24*time.Hour + time.Minute)); len(list) != 1 {
		t.Errorf("%d troubles after a day, want the one that is younger", len(list))
	}
}
