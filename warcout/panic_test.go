package warcout

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/internal/panics"
)

// poisonedBody panics after some bytes.
type poisonedBody struct{ good io.Reader }

func (p poisonedBody) Read(b []byte) (int, error) {
	if n, err := p.good.Read(b); n > 0 || err == nil {
		return n, err
	}
	panic("poison")
}

// More visits panic than there are encoders, each after a part of its records. Nothing of them is in the file, and the
// visits between them are whole.
func TestAPanicWhileComposingLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, _ := opened(t, Options{Dir: dir})
	const rounds = 40
	for n := range rounds {
		bad := visit(fmt.Sprintf("http://bad.example/%d", n), page(strings.Repeat("poison ", 1000)))
		bad.Response.Block = poisonedBody{io.LimitReader(bad.Response.Block, 3000)}
		_, err := w.Write(start, bad)
		if p := (*panics.Error)(nil); !errors.Is(err, ErrRefused) || !errors.As(err, &p) {
			t.Fatalf("Write = %v, want ErrRefused with the panic", err)
		}
		if _, err := w.Write(start, visit(fmt.Sprintf("http://good.example/%d", n), page("good"))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(start); err != nil {
		t.Fatal(err)
	}
	good := 0
	for _, r := range readDir(t, dir) {
		switch to := r.get("WARC-Target-URI"); {
		case strings.Contains(to, "bad.example"):
			t.Errorf("the archive has a record of %s", to)
		case strings.Contains(to, "good.example"):
			good++
		}
	}
	if good != 3*rounds {
		t.Errorf("%d records of the good visits, want %d", good, 3*rounds)
	}
}
