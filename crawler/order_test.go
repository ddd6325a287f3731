package crawler

import (
	"os"
	"strings"
	"testing"
)

// namesOf returns the names of some steps, in their order.
func namesOf[F any](steps []step[F]) string {
	names := make([]string, 0, len(steps))
	for _, s := range steps {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

// TestTheDocumentsHaveTheOrder compares the table of precedence in docs/scheduling.md with the list of the crawler.
func TestTheDocumentsHaveTheOrder(t *testing.T) {
	t.Parallel()
	c := new(Crawler)
	c.aspects.rendered = notRendered{}
	o := c.listOrder()
	want := "| question | who is asked, in this order |\n|---|---|\n" +
		"| May the URI be visited now? The first who refuses ends the visit. | " + namesOf(o.gates) + " |\n" +
		"| What is sent? Each may change the request. | " + namesOf(o.askers) + " |\n" +
		"| What does the answer mean? Until one has decided. | " + namesOf(o.judges) + " |\n" +
		"| What does the content announce? All are asked. | " + namesOf(o.readers) + " |\n" +
		"| How long is the wait? The first who decides. | " + namesOf(o.waits) + " |\n" +
		"| Only after the stack: each may change its wait. | " + namesOf(o.shorten) + " |\n" +
		"| In every case: each may change the due time. | " + namesOf(o.overrule) + " |\n"
	page, err := os.ReadFile("../docs/scheduling.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), want) {
		t.Errorf("docs/scheduling.md does not have the order of crawler/order.go:\n%s", want)
	}
}
