package fetch

import (
	"bufio"
	"strings"
	"testing"
)

func TestHeadsAreRepaired(t *testing.T) {
	t.Parallel()
	const status = "HTTP/1.1 200 OK\r\n"
	for _, row := range []struct {
		name, fields string
		header       map[string]string
		length       int64
		repaired     int
	}{
		{"nothing to repair", "A: b\r\nContent-Length: 2\r\n", map[string]string{"A": "b"}, 2, 0},
		{"a folded line", "A: b\r\n c\r\nContent-Length: 2\r\n", map[string]string{"A": "b c"}, 2, 1},
		{"a control byte", "A: b\x01c\r\nContent-Length: 2\r\n", map[string]string{"A": "b c"}, 2, 1},
		{"a zero byte", "Server: x\x00\r\nContent-Length: 2\r\n", map[string]string{"Server": "x"}, 2, 1},
		{"a carriage return", "A: b\rc\r\nContent-Length: 2\r\n", map[string]string{"A": "b c"}, 2, 1},
		{"a delete byte in a folded line", "A: b\r\n\tc\x7fd\r\nContent-Length: 2\r\n", map[string]string{"A": "b c d"}, 2, 2},
		{"a control byte in the type", "Content-Type: text/html\x02\r\nContent-Length: 2\r\n", map[string]string{"Content-Type": "text/html"}, 2, 1},
		{"a control byte in a length", "Content-Length: 2\x03\r\nA: b\r\n", map[string]string{"A": "b"}, 2, 1},
		{"a folded length", "A: \x01\r\nContent-Length:\r\n 2\r\n", map[string]string{"A": ""}, 2, 2},
		{"no field", "rubbish\r\nA: b\r\nContent-Length: 2\r\n", map[string]string{"A": "b"}, 2, 1},
	} {
		head := status + row.fields + "\r\n"
		res, repaired, err := parse(bufio.NewReader(nil), &gatedReader{body: strings.NewReader("hi")}, []byte(head))
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		for name, want := range row.header {
			if got := res.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", row.name, name, got, want)
			}
		}
		if res.ContentLength != row.length || repaired != row.repaired {
			t.Errorf("%s: length %d, %d lines repaired; want %d and %d", row.name, res.ContentLength, repaired, row.length, row.repaired)
		}
	}
}

// A quadratic repair would allocate once for each line, and copy the value each time.
func TestFoldedLinesAreRepairedInLinearTime(t *testing.T) {
	head := []byte("HTTP/1.1 200 OK\r\nrubbish\r\nA: b\r\n" + strings.Repeat(" \n", 256<<10) + "\r\n\r\n")
	var did repair
	allocations := testing.AllocsPerRun(1, func() { _, did = clean(head) })
	if did.folded != 256<<10 || allocations > 100 {
		t.Errorf("%d lines were unfolded with %.0f allocations, want %d with at most 100", did.folded, allocations, 256<<10)
	}
}
