package shared

import (
	"errors"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/internal/postgres"
)

// TestAReportDoesNotGuessWhetherReplicasAreSynchronous prints what a user sees who may not read all statistics.
func TestAReportDoesNotGuessWhetherReplicasAreSynchronous(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]Report{
		"replicas  1 of the database; this user may not see": {Replicas: 1, Hidden: 1},
		"replicas  1 of the database, 1 of them synchronous": {Replicas: 1, Synced: 1},
		"without a synchronous one":                          {Replicas: 1},
	} {
		var out strings.Builder
		must(t, r.Write(&out))
		if !strings.Contains(out.String(), want) || r.Hidden > 0 && strings.Contains(out.String(), "without a synchronous") {
			t.Errorf("%+v: %s", r, &out)
		}
	}
}

// aReportInWords looks at nodes that crawl, are drained, stand still and are fenced.
func aReportInWords(t *testing.T, db *postgres.Server) {
	ctx, url := t.Context(), db.URL(db.Address())
	a := owner(t, db, "a")
	look := func(alive ...*Store) (Report, string) {
		t.Helper()
		r, err := Look(ctx, url, func() (err error) {
			for _, s := range alive {
				_, e := s.Beat(ctx)
				err = errors.Join(err, e)
			}
			return err
		})
		must(t, err)
		var text strings.Builder
		must(t, r.Write(&text))
		return r, text.String()
	}
	want := func(text string, lines ...string) {
		t.Helper()
		for _, line := range lines {
			lacks, not := strings.CutPrefix(line, "not ")
			if strings.Contains("\n"+text, "\n"+lacks) == not {
				t.Errorf("the report should have %q:\n%s", line, text)
			}
		}
	}
	r, text := look(a)
	want(text, "node  state\n", "a     crawls all hosts\n", "          not whole: ", "not orphans", "not letters", "not damaged")
	if !r.Used || r.Whole || r.Orphans != 0 || len(r.Nodes) != 1 || r.Nodes[0].Parts != Parts || r.Bytes == 0 {
		t.Errorf("the report is %+v", r)
	}

	must(t, a.Complete(ctx))
	must(t, a.Leave(ctx, between(500, Parts), true))
	b, c, d, e := open(t, db, "b"), open(t, db, "c"), open(t, db, "d"), open(t, db, "e")
	take(t, c, between(600, 1000))
	take(t, d, between(1000, 1003))
	take(t, e, between(1003, 1010))
	must(t, a.Ship(ctx, All(letter(900, "k", "v"), letter(900, "l", "v"))))
	must(t, a.SetAside(ctx, []Letter{{900, []byte("l"), []byte("v")}}))
	must(t, Drain(ctx, url, "b", true))
	must(t, Drain(ctx, url, "d", true))
	d.Unfit("its disk is full")
	fence(t, a, "e")
	r, text = look(a, b, d)
	want(text, "a     crawls 49 % of the hosts\n", "b     drained\n", "c     does not answer\n",
		"d     crawls 1 % of the hosts, draining, takes no hosts: its disk is full\n", "e     fenced\n", "copy      ",
		"orphans   nobody crawls 51 % of the hosts: start another node", "letters   1 wait", "damaged   1 row or letter in the table",
		"not           not whole", "replicas  0")
	if r.Orphans != Parts-500-3 || !r.Whole || r.Letters != 1 || r.Damaged != 1 {
		t.Errorf("the report is %+v", r)
	}
	if n := r.Nodes; n[2].Parts != 400 || n[2].Alive || !n[4].Fenced || n[3].Unfit != "its disk is full" {
		t.Errorf("the nodes are %+v", r.Nodes)
	}
}
