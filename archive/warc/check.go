package warc

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/digest"
)

// Checker checks single records: their structure, their header and their digests. It is not safe for concurrent use.
type Checker struct {
	Now time.Time // later dates are reported; zero = none are

	report func(Finding)
	status int // see [Checker.Status]
	gaps   gaps
	hashes hashes
	in     *bufio.Reader // reads HTTP heads
	info   []byte        // the beginning of the last warcinfo or metadata record
	second secondDigest
	wget   bool   // that record names GNU Wget as the writer
	draft  string // the last file whose records have the version of a draft
}

// NewChecker returns a Checker that passes its findings to report.
func NewChecker(report func(Finding)) *Checker {
	return &Checker{report: report, hashes: hashes{}, in: NewHeadReader()}
}

// Check reads a record to its end, closes it, and reports what is wrong with it. If the record is not whole, nothing
// else about it counts.
func (c *Checker) Check(rec *Record) (whole bool) {
	digests := c.block(rec)
	if err := rec.Close(); err != nil {
		if f, ok := errors.AsType[*Finding](err); ok {
			c.report(*f)
		} else {
			c.fail(rec, Unreadable, "%v", err)
		}
		return false
	}
	if rec.SharesMember() {
		c.fail(rec, Members, "another record follows in the same gzip member, where no index can point to it")
	}
	digests()
	c.headers(rec)
	return true
}

// Status returns the HTTP status in the record that was checked last. It is 0 if there is none.
func (c *Checker) Status() int { return c.status }

func (c *Checker) fail(rec *Record, k Kind, format string, args ...any) {
	c.report(rec.Finding(k, fmt.Sprintf(format, args...)))
}

func (c *Checker) warn(rec *Record, k Kind, format string, args ...any) {
	f := rec.Finding(k, fmt.Sprintf(format, args...))
	f.Severity = Warning
	c.report(f)
}

// Finding returns a finding about the record, of the severity error.
func (rec *Record) Finding(k Kind, text string) Finding {
	return Finding{
		File: rec.File, Offset: rec.Offset, Severity: Error, Kind: k, Text: text, Record: rec.ID(), URI: rec.Header.Target(),
	}
}

// CheckAt checks the record at an offset of the file, wherever it is. Its error is the first fault, and wraps
// [ErrDamaged].
func (f File) CheckAt(offset int64) error {
	r, rec, err := f.RecordAt(offset)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	var first error
	c := NewChecker(func(f Finding) {
		if f.Severity == Error && first == nil {
			first = Damaged(&f)
		}
	})
	c.Check(rec)
	return first
}

// hashes holds hashes for reuse.
type hashes map[string]hash.Hash

// of returns a reset hash to compare with a digest header. It is nil if the header was missing. use distinguishes two
// hashes of one algorithm.
func (m hashes) of(s Digest, use string) hash.Hash {
	if s.IsZero() {
		return nil
	}
	h := m[use+s.Algorithm]
	if h == nil {
		h = NewHash(s.Algorithm)
		m[use+s.Algorithm] = h
	}
	h.Reset()
	return h
}

// tap reads a block and hashes what it reads.
type tap struct {
	rec *Record
	sum hash.Hash // may be nil
}

func (t tap) Read(p []byte) (int, error) {
	n, err := t.rec.Read(p)
	if t.sum != nil {
		t.sum.Write(p[:n])
	}
	return n, err
}

// block reads a block to its end and hashes it. The returned function reports wrong digests. It is called when the
// record has turned out to be whole.
func (c *Checker) block(rec *Record) func() {
	h := rec.Header
	want, err := ParseDigest(h.Get("WARC-Block-Digest"))
	payloadWant, errPayload := ParseDigest(h.Get("WARC-Payload-Digest"))
	unknown := errors.Join(err, errPayload)
	empty := slices.Contains(slices.Concat(h.Values("WARC-Block-Digest"), h.Values("WARC-Payload-Digest")), "")
	whole := c.hashes.of(want, "block ")
	var part hash.Hash
	if h.Type() != "revisit" && h.Get("WARC-Segment-Number") == "" { // the digest of a revisit is of its original
		part = c.hashes.of(payloadWant, "payload ")
	}
	part = c.second.begin(h, part)
	m, dechunked, trouble := c.digest(rec, whole, part)
	return func() {
		c.noteWriter(rec)
		c.compareSecond(rec)
		c.message(rec, m)
		c.gaps.add(rec, m)
		if c.status = m.head.Status; m.undecoded != nil && trouble == nil {
			c.warn(rec, HTTP, "the payload cannot be decoded: %v", m.undecoded)
		}
		if unknown != nil {
			c.warn(rec, Algorithm, "%v", unknown)
		}
		if empty {
			c.fail(rec, Algorithm, "a digest in the header is empty: it does not prove the record")
		}
		switch {
		case whole == nil || want.Matches(whole):
		case h.Type() == "revisit" && want.Matches(NewHash(want.Algorithm)):
			c.failButWget(rec, BlockDigest, "the block digest is of an empty block, as GNU wget writes it for every revisit; "+
				"it does not prove the block")
		default:
			c.fail(rec, BlockDigest, "%s", want.Differs("block", whole))
		}
		if part == nil || m.is && m.err != nil || payloadWant.Matches(part) && trouble == nil {
			return
		}
		switch {
		case c.isFraming(rec, payloadWant):
			c.warn(rec, Framing, "the payload digest is of the body with its chunk framing; WARC/1.1, section 6.3.2, wants it without")
		case trouble != nil:
			c.fail(rec, PayloadDigest, "the payload cannot be read: %v", trouble)
		default:
			what := "payload"
			if dechunked {
				what = "payload (with its transfer encoding removed)"
			}
			c.fail(rec, PayloadDigest, "%s", payloadWant.Differs(what, part))
		}
	}
}

// digest reads a block to its end into the hashes of the whole block and of the payload, each of which may be nil.
// trouble says why the payload could not be read. Errors of the file itself are returned again when the record is
// closed.
func (c *Checker) digest(rec *Record, whole, part hash.Hash) (m message, dechunked bool, trouble error) {
	m.is = isMessage(rec.Header) && rec.Size > 0
	if m.is || part != nil && rec.Header.IsHTTP() {
		in := c.in
		in.Reset(tap{rec, whole})
		defer in.Reset(nil)
		if m.head, m.err = ReadHead(in); m.err != nil {
			trouble, part = m.err, nil
		} else {
			body, chunks := rec.payload(m.head, in)
			coded := m.head.isCoded(rec.Header)
			if chunks && part != nil || coded {
				if part != nil {
					body = io.TeeReader(body, part)
				}
				if coded {
					m.undecoded = m.head.undecoded(body)
				}
				_, trouble = io.Copy(io.Discard, body)
				dechunked, part = chunks, nil
				if rec.Header.Get("WARC-Truncated") != "" {
					trouble = nil // the record itself says that its end is missing or cannot be read
				}
			}
		}
		if rest, err := in.Peek(in.Buffered()); err == nil && part != nil {
			part.Write(rest)
		}
	}
	keep := rec.Header.Type() == "warcinfo" || c.second.isOf(rec.Header)
	if keep {
		c.info = c.info[:0]
	}
	for {
		b, err := rec.peek()
		if err != nil {
			return m, dechunked, trouble
		}
		if whole != nil {
			whole.Write(b)
		}
		if part != nil {
			part.Write(b)
		}
		if keep && len(c.info) < MaxHeader {
			c.info = append(c.info, b[:min(len(b), MaxHeader-len(c.info))]...)
		}
		rec.discard(len(b))
	}
}

// isFraming reads a record again and reports whether a payload digest is of the chunked body.
func (c *Checker) isFraming(rec *Record, want Digest) bool {
	if !rec.Header.IsHTTP() || rec.SharesMember() {
		return false
	}
	r, err := NewReader(rec.File, rec.r.file, rec.r.size, rec.Offset)
	if err != nil {
		return false
	}
	again, err := r.Next()
	if err != nil {
		return false
	}
	in := bufio.NewReader(again)
	head, err := ReadHead(in)
	if err != nil || !head.Chunked() {
		return false
	}
	sum := NewHash(want.Algorithm)
	_, err = io.Copy(sum, in)
	return err == nil && want.Matches(sum)
}

// message is the HTTP message of a record, as far as it was read.
type message struct {
	is        bool
	head      Head
	err       error
	undecoded error // why the content coding of the payload cannot be removed
}

// isMessage reports whether the block of a record should begin with an HTTP head.
func isMessage(h Header) bool {
	switch h.Type() {
	case "response", "request", "revisit":
		segment := h.Get("WARC-Segment-Number")
		return h.IsHTTP() && (segment == "" || segment == "1")
	}
	return false
}

func (c *Checker) message(rec *Record, m message) {
	h := rec.Header
	cut := h.Get("WARC-Truncated") != "" || h.Get("WARC-Segment-Number") != ""
	switch {
	case !m.is:
	case m.err != nil:
		c.fail(rec, HTTP, "the %s cannot be read: %v", h.Type(), m.err)
	case m.head.kind() != messageKind(h):
		c.fail(rec, HTTP, "the %s record holds a %s", h.Type(), m.head.kind())
	case isNotModified(h) && m.head.Status != http.StatusNotModified:
		c.fail(rec, BadHeader, "WARC-Profile says that the server answered 304, and the head has the status %d",
			m.head.Status)
	case !m.head.Ended() && !cut && h.Type() == "revisit":
		c.warn(rec, HTTP, "the HTTP head has no empty line at its end")
	case !m.head.Ended() && !cut:
		c.fail(rec, HTTP, "the HTTP head has no empty line at its end: the head is not finished")
	case h.Type() == "response" && !cut:
		if want, ok := m.head.bodyLength(); ok && rec.Size-int64(len(m.head.Raw)) < want {
			c.failButWget(rec, HTTP, "the body has %d bytes, the Content-Length of its head is %d, "+
				"and no WARC-Truncated says why", rec.Size-int64(len(m.head.Raw)), want)
		}
	}
}

// Ended reports whether the head ends with an empty line.
func (h Head) Ended() bool {
	return bytes.HasSuffix(h.Raw, []byte("\n\r\n")) || bytes.HasSuffix(h.Raw, []byte("\n\n"))
}

// bodyLength returns the length of the body, if the head of a response announces a body and its length.
func (h Head) bodyLength() (int64, bool) {
	switch s := h.Status; {
	case s < http.StatusOK, s == http.StatusNoContent, s == http.StatusNotModified, h.Chunked():
		return 0, false
	}
	length, found := "", false
	for value := range h.values("content-length") {
		if found && value != length {
			return 0, false
		}
		length, found = value, true
	}
	n, err := strconv.ParseUint(length, 10, 63)
	return int64(n), err == nil
}

// noteWriter notes who wrote the file, if the record is a warcinfo record.
func (c *Checker) noteWriter(rec *Record) {
	if rec.Header.Type() != "warcinfo" {
		return
	}
	fields := ParseFields(c.info)
	c.second.on = strings.HasPrefix(fields.Get("software"), "arcrawl/")
	c.wget = strings.HasPrefix(strings.ToLower(fields.Get("software")), "wget/")
}

// failButWget reports an error. In a file by GNU Wget, which writes all its files like this, it is a warning.
func (c *Checker) failButWget(rec *Record, k Kind, format string, args ...any) {
	if c.wget {
		c.warn(rec, k, format, args...)
		return
	}
	c.fail(rec, k, format, args...)
}

// secondDigest is the SHA-256 of the payload of a response. arcrawl writes it into the metadata record of the visit,
// because a WARC record has one payload digest only. It is of whole payloads; what was cut is not compared.
type secondDigest struct {
	on  bool // arcrawl wrote the file; in other files nobody writes it
	sum hash.Hash
	id  string // of the response; empty if the last visit has none
}

// both writes into two hashes, and has the sum of the first.
type both struct {
	hash.Hash
	second hash.Hash
}

func (b both) Write(p []byte) (int, error) {
	b.second.Write(p)
	return b.Hash.Write(p)
}

// begin returns the hash of the payload of a record, which hashes it for s too if it is a response.
func (s *secondDigest) begin(h Header, part hash.Hash) hash.Hash {
	if h.Type() != "response" || part == nil || !s.on || h.Get("WARC-Truncated") != "" {
		if h.Type() == "response" || h.Type() == "revisit" {
			s.id = ""
		}
		return part
	}
	if s.sum == nil {
		s.sum = sha256.New()
	}
	s.sum.Reset()
	s.id = h.Get("WARC-Record-ID")
	return both{part, s.sum}
}

// isOf reports whether a record is the metadata record of the last response.
func (s *secondDigest) isOf(h Header) bool {
	return s.id != "" && h.Type() == "metadata" && slices.Contains(h.Values("WARC-Concurrent-To"), s.id)
}

// compareSecond reports a payload that has not the SHA-256 in the metadata record of its visit.
func (c *Checker) compareSecond(rec *Record) {
	if !c.second.isOf(rec.Header) {
		return
	}
	want := digest.ParseSHA256(ParseFields(c.info).Get("payloadSHA256"))
	if got := digest.SHA256(c.second.sum.Sum(nil)); !want.IsZero() && got != want {
		c.fail(rec, PayloadDigest, "the payload of the response has SHA-256 %s, and the metadata record of the visit says %s",
			got, want)
	}
}
