package archive

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/uri"
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
		archivetest.Must(b, err)
		text.Write(content)
	}
	all := text.String()
	dir = b.TempDir()
	z, err := gzip.NewWriterLevel(nil, 6)
	archivetest.Must(b, err)
	for n := range benchFiles {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("bench-%d.warc.gz", n)))
		archivetest.Must(b, err)
		out := bufio.NewWriter(f)
		add := func(record string) {
			raw += int64(len(record))
			z.Reset(out)
			if _, err := io.WriteString(z, record); err != nil {
				b.Fatal(err)
			}
			archivetest.Must(b, z.Close())
		}
		add(strings.ReplaceAll(archivetest.Info, "urn:x:info", fmt.Sprintf("urn:x:info-%d", n)))
		for i := range benchPages {
			id, at := fmt.Sprintf("%d-%d", n, i), (n*benchPages+i)*1009%(len(all)-pageSize)
			target := fmt.Sprintf("https://www.example-%d.org/section/%d/page-%d.html?b=%d&a=x", i%7, i%31, i, n)
			add(archivetest.Response(id, target, archivetest.HTMLHead, fmt.Sprintf("%s<!-- %s -->", all[at:at+pageSize], id)))
			add(archivetest.Plain(archivetest.Fields("request", "q"+id, "WARC-Target-URI: "+target, "WARC-Concurrent-To: <urn:x:"+id+">",
				"Content-Type: application/http;msgtype=request"), "GET / HTTP/1.1\r\nHost: www.example.org\r\nUser-Agent: bench\r\n\r\n"))
		}
		archivetest.Must(b, out.Flush())
		archivetest.Must(b, f.Close())
	}
	runtime.GC()
	return dir, raw
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	archivetest.Must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// bareGzip runs the gzip reader alone, on all processors. The other benchmarks are compared with it.
func bareGzip(files []warc.File) error {
	return warc.ForEach(context.Background(), len(files), func(_ context.Context, i int) error {
		f, err := os.Open(files[i].Path)
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // nothing was written
		z, err := gzip.NewReader(bufio.NewReaderSize(f, 128<<10))
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, z)
		return err
	}, func(int) error { return nil })
}

// BenchmarkAgainstGzip compares the commands that read a whole archive with the gzip reader alone. They take turns,
// because a machine with other work never has the same speed twice. The results are the medians of the ratios, by the
// clock and by processor time.
func BenchmarkAgainstGzip(b *testing.B) {
	dir, raw := benchArchive(b)
	files, _ := warc.Files([]string{dir})
	none := noFinding
	contenders := []struct {
		name string
		run  func() error
	}{
		{"gzip", func() error { return bareGzip(files) }},
		{"verify", func() error {
			_, err := Verify(context.Background(), []string{dir}, VerifyOptions{}, none)
			return err
		}},
		{"index", func() error {
			_, err := index.Build(context.Background(), []string{dir}, index.Options{}, io.Discard, none)
			return err
		}},
		{"import", func() error { return benchImport(b, dir) }},
	}
	clock, cpu := make([][]float64, len(contenders)), make([][]float64, len(contenders))
	for b.Loop() {
		var first [2]float64
		for n, c := range contenders {
			began, before := time.Now(), processorTime(b)
			if err := c.run(); err != nil {
				b.Fatal(c.name, err)
			}
			took := [2]float64{time.Since(began).Seconds(), (processorTime(b) - before).Seconds()}
			if n == 0 {
				first = took
			}
			clock[n] = append(clock[n], first[0]/took[0])
			cpu[n] = append(cpu[n], first[1]/took[1])
		}
		b.ReportMetric(float64(raw)/1e6/first[0], "gzip-MB/s")
	}
	for n, c := range contenders[1:] {
		b.ReportMetric(median(clock[n+1]), c.name+"/gzip")
		b.ReportMetric(median(cpu[n+1]), c.name+"/gzip-cpu")
	}
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// benchImport reads the archive into a new index of payloads.
func benchImport(b *testing.B, dir string) error {
	state, err := os.MkdirTemp("", "bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(state) //nolint:errcheck // temporary files of a benchmark
	store, err := frontier.Open(frontier.Options{Dir: state, BulkLoad: true, Now: time.Now()})
	if err != nil {
		return err
	}
	index, err := dedup.Open(store.DB(), dedup.Options{Name: uri.ReplayKey})
	if err != nil {
		return err
	}
	sum, err := importFiles(b.Context(), index, []string{dir}, importOptions{Now: time.Now}, noFinding)
	if err == nil && sum.Entries != benchFiles*benchPages {
		err = fmt.Errorf("imported %d entries", sum.Entries)
	}
	return errors.Join(err, store.Close())
}

// noFinding fails on the first finding.
func noFinding(f warc.Finding) error { return &f }
