package archive

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
)

// The benchmarks read one archive of benchFiles files. Its pages are cut from the sources of arcrawl, which compress
// like HTML (about 4 to 1), 15 KB each, with a request each.
const (
	benchFiles = 8
	benchPages = 1000
	pageSize   = 15 << 10
)

func benchArchive(b *testing.B) (dir string, raw int64) {
	b.Helper()
	sources, err := filepath.Glob(filepath.Join("..", "*", "*.go"))
	if err != nil || len(sources) == 0 {
		b.Skipf("no sources to make pages of: %v", err)
	}
	var text strings.Builder
	for _, s := range sources {
		content, err := os.ReadFile(s)
		if err != nil {
			b.Fatal(err)
		}
		text.Write(content)
	}
	all := text.String()
	dir = b.TempDir()
	z, err := gzip.NewWriterLevel(nil, 6)
	if err != nil {
		b.Fatal(err)
	}
	for n := range benchFiles {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("bench-%d.warc.gz", n)))
		if err != nil {
			b.Fatal(err)
		}
		out := bufio.NewWriter(f)
		add := func(record string) {
			raw += int64(len(record))
			z.Reset(out)
			if _, err := io.WriteString(z, record); err != nil {
				b.Fatal(err)
			}
			if err := z.Close(); err != nil {
				b.Fatal(err)
			}
		}
		add(strings.ReplaceAll(info, "urn:x:info", fmt.Sprintf("urn:x:info-%d", n)))
		for i := range benchPages {
			id, at := fmt.Sprintf("%d-%d", n, i), (n*benchPages+i)*1009%(len(all)-pageSize)
			target := fmt.Sprintf("https://www.example-%d.org/section/%d/page-%d.html?b=%d&a=x", i%7, i%31, i, n)
			add(response(id, target, htmlHead, fmt.Sprintf("%s<!-- %s -->", all[at:at+pageSize], id)))
			add(plain(fields("request", "q"+id, "WARC-Target-URI: "+target, "WARC-Concurrent-To: <urn:x:"+id+">",
				"Content-Type: application/http;msgtype=request"), "GET / HTTP/1.1\r\nHost: www.example.org\r\nUser-Agent: bench\r\n\r\n"))
		}
		if err := out.Flush(); err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
	runtime.GC()
	return dir, raw
}

// cpu reports the processor time of each round beside the wall time: on a busy machine only that can be compared.
func cpu(b *testing.B, raw int64) func() {
	b.Helper()
	spent := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := spent()
	return func() {
		took := (spent() - before).Seconds() / float64(b.N)
		b.ReportMetric(float64(raw)/1e6/took, "MB/cpu-s")
	}
}

// BenchmarkBareGzip: how fast does the gzip reader alone read the archive on all processors? It is what the others are
// measured by.
func BenchmarkBareGzip(b *testing.B) {
	dir, raw := benchArchive(b)
	files, _ := Files([]string{dir})
	b.SetBytes(raw)
	defer cpu(b, raw)()
	for b.Loop() {
		err := inParallel(context.Background(), len(files), func(_ context.Context, i int) error {
			f, err := os.Open(files[i].Path)
			if err != nil {
				return err
			}
			defer f.Close() //nolint:errcheck // nothing was written
			z, err := gzip.NewReader(bufio.NewReaderSize(f, rawBuffer))
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, z)
			return err
		}, func(int) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkVerify: what does it cost to prove an archive, with two digests of everything?
func BenchmarkVerify(b *testing.B) {
	dir, raw := benchArchive(b)
	b.SetBytes(raw)
	defer cpu(b, raw)()
	for b.Loop() {
		if found, sum := verified(b, VerifyOptions{}, dir); len(found) > 0 || sum.Records["response"] != benchFiles*benchPages {
			b.Fatalf("%v, %v", found, sum)
		}
	}
}

// BenchmarkIndex: what does it cost to index an archive?
func BenchmarkIndex(b *testing.B) {
	dir, raw := benchArchive(b)
	b.SetBytes(raw)
	defer cpu(b, raw)()
	for b.Loop() {
		sum, err := Index(context.Background(), []string{dir}, IndexOptions{}, io.Discard, func(f Finding) error { return &f })
		if err != nil || sum.Entries != benchFiles*benchPages {
			b.Fatalf("%v, %v", sum, err)
		}
	}
}
