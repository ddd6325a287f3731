package warcout

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/digest"
)

// benchPage returns a page of about 15 KB that compresses like real HTML.
func benchPage() (block []byte, sum, payload digest.Digest) {
	var body bytes.Buffer
	for i := 0; body.Len() < 15_000; i++ {
		d := digest.Of(fmt.Appendf(nil, "%d", i))
		fmt.Fprintf(&body, "<li class=\"entry\"><a href=\"/articles/%d/%x.html\">Article %d of the day</a> <span>%x</span></li>\n", i*7919, d[:6], i, d[6:9])
	}
	block = fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", body.Len(), body.Bytes())
	return block, digest.Of(block), digest.Of(body.Bytes())
}

// BenchmarkWrite measures the cost of a visit with a page of 15 KB: response, request and metadata, compressed and
// synced. The baseline is the minimum work of any writer, measured in the same run. It writes the same bytes as gzip
// members, with one digest and an append, once without and once with a sync for each page.
func BenchmarkWrite(b *testing.B) {
	block, sum, payload := benchPage()
	v := visit(address(1), nil)
	writeTo := func(b *testing.B, w *Writer, series string) {
		one := v
		one.Series = series
		one.Response = &Response{
			Block: bytes.NewReader(block), Size: int64(len(block)), BlockDigest: sum,
			PayloadDigest: payload, PayloadSize: 15_000,
		}
		if _, err := w.Write(start, one); err != nil {
			b.Error(err)
		}
	}
	write := func(b *testing.B, w *Writer) { writeTo(b, w, "") }
	nosync := func(path string) (storage, error) {
		f, err := createFile(path)
		return &unsynced{f}, err
	}
	records := recordsOf(b, v, responseOf(block, nil))
	b.Run("baseline", func(b *testing.B) { baseline(b, block, records, false) })
	b.Run("visit without sync", func(b *testing.B) {
		w, _ := opened(b, Options{Dir: b.TempDir()})
		w.create = nosync
		b.SetBytes(int64(len(block)))
		b.ReportAllocs()
		for b.Loop() {
			write(b, w)
		}
	})
	b.Run("baseline with sync", func(b *testing.B) { baseline(b, block, records, true) })
	b.Run("visit", func(b *testing.B) {
		w, _ := opened(b, Options{Dir: b.TempDir()})
		b.SetBytes(int64(len(block)))
		for b.Loop() {
			write(b, w)
		}
	})
	ofEight := func(series ...string) func(b *testing.B) {
		return func(b *testing.B) {
			w, _ := opened(b, Options{Dir: b.TempDir()})
			var syncs, writers atomic.Int64
			w.create = func(path string) (storage, error) {
				f, err := createFile(path)
				return &counted{f, &syncs}, err
			}
			b.SetBytes(int64(len(block)))
			b.SetParallelism(4) // times the two cores that such machines have
			b.RunParallel(func(pb *testing.PB) {
				own := series[int(writers.Add(1))%len(series)]
				for pb.Next() {
					writeTo(b, w, own)
				}
			})
			b.ReportMetric(float64(syncs.Load())/float64(b.N), "syncs/op")
		}
	}
	b.Run("visit of 8 writers", ofEight(""))
	b.Run("visit of 8 writers, one of them to a series", ofEight("", "", "", "", "", "", "", "embargo"))
	b.Run("visit of 8 writers to 4 series", ofEight("a", "b", "c", "d"))
}

// BenchmarkWriteLarge measures the throughput of a large body in MB/s, and shows whether memory stays bounded.
func BenchmarkWriteLarge(b *testing.B) {
	block := bytes.Repeat([]byte("HTTP/1.1 200 OK\r\n\r\n<p>Lorem ipsum dolor sit amet, consetetur sadipscing elitr.</p>\n"), 250_000)
	sum := digest.Of(block)
	w, _ := opened(b, Options{Dir: b.TempDir()})
	b.SetBytes(int64(len(block)))
	b.ReportAllocs()
	for b.Loop() {
		v := visit(address(1), &Response{Block: bytes.NewReader(block), Size: int64(len(block)), BlockDigest: sum})
		mustWrite(b, w, start, v)
	}
}

// BenchmarkScan measures how fast Open reads a damaged file.
func BenchmarkScan(b *testing.B) {
	block, sum, _ := benchPage()
	dir := b.TempDir()
	w, _ := opened(b, Options{Dir: dir})
	for range 500 {
		v := visit(address(1), &Response{Block: bytes.NewReader(block), Size: int64(len(block)), BlockDigest: sum})
		mustWrite(b, w, start, v)
	}
	must(b, w.Close(start))
	data, err := os.ReadFile(sealedFiles(b, dir)[0])
	must(b, err)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if whole, err := scan(bytes.NewReader(data), extent{}, int64(len(data))); err != nil || whole.records != 1501 {
			b.Fatal(whole, err)
		}
	}
}

// recordsOf returns the records of a visit before compression.
func recordsOf(b *testing.B, v Visit, r *Response) (records [][]byte) {
	dir := b.TempDir()
	w, _ := opened(b, Options{Dir: dir})
	v.Response = r
	mustWrite(b, w, start, v)
	must(b, w.Close(start))
	data, err := os.ReadFile(sealedFiles(b, dir)[0])
	must(b, err)
	for in := bytes.NewReader(data); in.Len() > 0; {
		raw, err := readMember(in)
		must(b, err)
		records = append(records, raw)
	}
	return records[1:]
}

func baseline(b *testing.B, block []byte, records [][]byte, sync bool) {
	f, err := os.Create(filepath.Join(b.TempDir(), "plain"))
	must(b, err)
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	zip, err := gzip.NewWriterLevel(out, DefaultLevel)
	must(b, err)
	b.SetBytes(int64(len(block)))
	b.ReportAllocs()
	for b.Loop() {
		_ = digest.Of(block)
		for _, part := range records {
			zip.Reset(out)
			_, _ = zip.Write(part)
			_ = zip.Close()
		}
		_ = out.Flush()
		if sync {
			_ = f.Sync()
		}
	}
}

type unsynced struct{ storage }

func (unsynced) Sync() error { return nil }

type counted struct {
	storage
	syncs *atomic.Int64
}

func (c *counted) Sync() error {
	c.syncs.Add(1)
	return c.storage.Sync()
}
