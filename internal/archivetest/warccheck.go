package archivetest

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/arcrawl/arcrawl/warcout"
)

// CheckedRecord is one WARC record.
type CheckedRecord struct {
	File           string // name without folder
	Offset, Length int64  // of its gzip member
	Header         textproto.MIMEHeader
	Block          []byte
}

// Type returns the WARC-Type.
func (r CheckedRecord) Type() string { return r.Header.Get("WARC-Type") }

// ID returns the WARC-Record-ID with its angle brackets.
func (r CheckedRecord) ID() string { return r.Header.Get("WARC-Record-ID") }

// Target returns the WARC-Target-URI.
func (r CheckedRecord) Target() string { return r.Header.Get("WARC-Target-URI") }

// Main reports whether r is the record of a visit that a crawl.log line points to.
func (r CheckedRecord) Main() bool {
	if r.Type() == "response" || r.Type() == "revisit" {
		return true
	}
	return r.Type() == "metadata" && r.Header.Get("WARC-Concurrent-To") == ""
}

// CheckDir reads all WARC files of a folder, oldest name first, and fails the test for each fault.
func CheckDir(t testing.TB, dir string) []CheckedRecord {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.warc.gz*"))
	Must(t, err)
	sort.Strings(files)
	var records []CheckedRecord
	for _, file := range files {
		if strings.HasSuffix(file, ".open") {
			t.Errorf("%s was left open", file)
		}
		read, err := CheckFile(file)
		if err != nil {
			t.Error(err)
		}
		records = append(records, read...)
	}
	if err := CheckRecords(records); err != nil {
		t.Error(err)
	}
	return records
}

// CheckFile reads one WARC file, record by record, to its end.
func CheckFile(path string) ([]CheckedRecord, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	src := bytes.NewReader(data)
	var records []CheckedRecord
	for src.Len() > 0 {
		at := int64(len(data) - src.Len())
		r, err := readMember(src)
		if err != nil {
			return records, fmt.Errorf("%s at %d: %w", path, at, err)
		}
		r.File, r.Offset, r.Length = filepath.Base(path), at, int64(len(data)-src.Len())-at
		records = append(records, r)
	}
	return records, nil
}

func readMember(src *bytes.Reader) (CheckedRecord, error) {
	z, err := gzip.NewReader(src) // a bytes.Reader is an io.ByteReader: gzip reads nothing after the member
	if err != nil {
		return CheckedRecord{}, err
	}
	z.Multistream(false)
	b := bufio.NewReader(z)
	if line, err := b.ReadString('\n'); err != nil || line != "WARC/1.1\r\n" {
		return CheckedRecord{}, fmt.Errorf("record begins with %q: %w", line, err)
	}
	h, err := textproto.NewReader(b).ReadMIMEHeader()
	if err != nil {
		return CheckedRecord{}, fmt.Errorf("header: %w", err)
	}
	size, err := strconv.Atoi(h.Get("Content-Length"))
	if err != nil {
		return CheckedRecord{}, fmt.Errorf("Content-Length: %w", err)
	}
	r := CheckedRecord{Header: h, Block: make([]byte, size)}
	if _, err := io.ReadFull(b, r.Block); err != nil {
		return CheckedRecord{}, fmt.Errorf("block of %s: %w", r.ID(), err)
	}
	rest, err := io.ReadAll(b)
	if err != nil || string(rest) != "\r\n\r\n" {
		return CheckedRecord{}, fmt.Errorf("record %s ends with %q: %w", r.ID(), rest, err)
	}
	return r, z.Close()
}

// ErrNoOriginal is the fault of a revisit record whose original is not there.
var ErrNoOriginal = errors.New("a revisit of nothing")

// CheckRecords checks each record and the references between records. The error joins all faults: its method Unwrap
// returns them. One of them is [ErrNoOriginal] for each revisit record without its original.
func CheckRecords(records []CheckedRecord) error {
	byID := make(map[string]CheckedRecord)
	var errs []error
	complain := func(r CheckedRecord, err error) {
		errs = append(errs, fmt.Errorf("%s at %d (%s %s): %w", r.File, r.Offset, r.Type(), r.Target(), err))
	}
	for _, r := range records {
		if _, twice := byID[r.ID()]; twice || r.ID() == "" {
			complain(r, fmt.Errorf("record id %q is missing or there twice", r.ID()))
		}
		byID[r.ID()] = r
	}
	for _, r := range records {
		for _, err := range checkOne(r) {
			complain(r, err)
		}
		for _, name := range []string{"WARC-Warcinfo-ID", "WARC-Concurrent-To", "WARC-Refers-To"} {
			_, ok := byID[r.Header.Get(name)]
			if id := r.Header.Get(name); id != "" && !ok && (name != "WARC-Refers-To" || r.Type() != "revisit") {
				complain(r, fmt.Errorf("%s names %s, which does not exist", name, id))
			}
		}
		if r.Type() == "revisit" {
			for _, err := range checkRevisit(r, byID[r.Header.Get("WARC-Refers-To")]) {
				complain(r, err)
			}
		}
	}
	return errors.Join(errs...)
}

// CheckSeries checks the files of each series alone: no record may refer to one in another series. The names of files
// begin with the prefix.
func CheckSeries(t testing.TB, prefix string, records []CheckedRecord) {
	t.Helper()
	apart, series := map[string][]CheckedRecord{}, warcout.SeriesIn(prefix)
	for _, r := range records {
		apart[series(r.File)] = append(apart[series(r.File)], r)
	}
	for s, records := range apart {
		if err := CheckRecords(records); err != nil {
			t.Errorf("the series %q alone: %v", s, err)
		}
	}
}

func checkOne(r CheckedRecord) []error {
	var errs []error
	for _, name := range []string{"WARC-Type", "WARC-Record-ID", "WARC-Date", "Content-Length"} {
		if r.Header.Get(name) == "" {
			errs = append(errs, fmt.Errorf("no %s", name))
		}
	}
	if r.Type() != "warcinfo" && r.Target() == "" {
		errs = append(errs, errors.New("no WARC-Target-URI"))
	}
	if r.Type() != "warcinfo" && (r.Header.Get("WARC-Warcinfo-ID") == "") != (r.Header.Get("WARC-Concurrent-To") != "") {
		errs = append(errs, errors.New("the first record of a visit names its warcinfo record, and no other does"))
	}
	want := "" // of an empty block
	if len(r.Block) > 0 {
		want = sha(r.Block)
	}
	if got := r.Header.Get("WARC-Block-Digest"); got != want {
		errs = append(errs, fmt.Errorf("block digest is %q and should be %q", got, want))
	}
	if r.Type() == "response" && r.Header.Get("WARC-Truncated") == "" {
		payload, err := PayloadOf(r)
		if err != nil {
			errs = append(errs, fmt.Errorf("payload: %w", err))
		} else if got, want := r.Header.Get("WARC-Payload-Digest"), sha(payload); got != want {
			errs = append(errs, fmt.Errorf("payload digest is %s and should be %s", got, want))
		}
	}
	return errs
}

// PayloadOf returns the body of a response without its transfer encoding (WARC/1.1, section 6.3.2).
func PayloadOf(r CheckedRecord) ([]byte, error) {
	if r.Header.Get("Content-Type") == "text/dns" {
		return r.Block, nil
	}
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(r.Block)), nil)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(resp.Body)
}

// checkRevisit compares a revisit with the record it refers to.
func checkRevisit(r, origin CheckedRecord) []error {
	if origin.Header == nil {
		return []error{fmt.Errorf("%w: there is no record %q", ErrNoOriginal, r.Header.Get("WARC-Refers-To"))}
	}
	var errs []error
	if origin.Type() != "response" {
		errs = append(errs, fmt.Errorf("refers to a %s", origin.Type()))
	}
	for _, pair := range [][2]string{
		{"WARC-Refers-To-Target-URI", "WARC-Target-URI"},
		{"WARC-Refers-To-Date", "WARC-Date"},
		{"WARC-Payload-Digest", "WARC-Payload-Digest"},
	} {
		if got, want := r.Header.Get(pair[0]), origin.Header.Get(pair[1]); got != want || got == "" {
			errs = append(errs, fmt.Errorf("%s is %q and the original's %s is %q", pair[0], got, pair[1], want))
		}
	}
	if r.Header.Get("WARC-Profile") == "" {
		errs = append(errs, errors.New("no WARC-Profile"))
	}
	return errs
}

func sha(b []byte) string {
	sum := sha1.Sum(b)
	return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
}

// CDXServer is a server with one collection at /crawl, which accepts lines as OutbackCDX does.
type CDXServer struct {
	*httptest.Server

	mu      sync.Mutex        // guards the fields below
	lines   map[string]string // by URI, date, file and offset, as OutbackCDX keeps them
	posts   int
	largest int
	answer  func(lines []string) (status int, says string)
}

// StartCDXServer starts a server that ends with the test.
func StartCDXServer(t testing.TB) *CDXServer {
	t.Helper()
	s := &CDXServer{lines: map[string]string{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP accepts lines.
func (s *CDXServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	lines := strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/crawl" || lines[0] != " CDX N b a m s k r M S V g" {
		http.Error(w, "not for OutbackCDX", http.StatusNotFound)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	lines = lines[1:]
	s.posts++
	s.largest = max(s.largest, len(lines))
	if s.answer != nil {
		if status, says := s.answer(lines); status != 0 {
			w.WriteHeader(status)
			fmt.Fprint(w, says)
			return
		}
	}
	for _, line := range lines {
		f := strings.Split(line, " ")
		if len(f) != 11 {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, "At line: "+line)
			return
		}
		s.lines[f[2]+" "+f[1]+" "+f[10]+" "+f[9]] = line
	}
	fmt.Fprintf(w, "Added %d records\n", len(lines))
}

// Behave makes the server answer with a function. Lines are accepted if the function is nil or returns status 0.
func (s *CDXServer) Behave(answer func(lines []string) (int, string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// Seen returns the lines that the server has, sorted, and the number of posts.
func (s *CDXServer) Seen() (lines []string, posts int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.lines {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines, s.posts
}

// Largest returns the number of lines of the largest post.
func (s *CDXServer) Largest() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.largest
}
