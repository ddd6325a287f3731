package archive

import (
	"bufio"
	"errors"
	"hash"
	"io"
	"slices"
)

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// hashes are kept for the next record.
type hashes map[string]hash.Hash

// of gives a fresh hash for a digest that a header names; nil for none. The use keeps two of one algorithm apart.
func (m hashes) of(s sum, use string) hash.Hash {
	if s.isZero() {
		return nil
	}
	h := m[use+s.algorithm]
	if h == nil {
		h = newHash(s.algorithm)
		m[use+s.algorithm] = h
	}
	h.Reset()
	return h
}

// tap reads a block and digests what passes.
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

// block reads a block and digests it. It gives what is to be said about the digests, once the record is proved whole.
func (s *scan) block(rec *Record) func() {
	h := rec.Header
	want, err := parseSum(h.Get("WARC-Block-Digest"))
	unknown := errors.Join(err)
	payloadWant, err := parseSum(h.Get("WARC-Payload-Digest"))
	unknown = errors.Join(unknown, err)
	whole := s.hashes.of(want, "block ")
	var part hash.Hash
	if h.Type() != "revisit" && h.Get("WARC-Segment-Number") == "" { // a revisit's digest is of its original
		part = s.hashes.of(payloadWant, "payload ")
	}
	dechunked, trouble := s.digest(rec, whole, part)
	return func() {
		if unknown != nil {
			s.warn(rec, Algorithm, "%v", unknown)
		}
		switch {
		case whole == nil || want.is(whole):
		case h.Type() == "revisit" && want.is(newHash(want.algorithm)):
			s.warn(rec, BlockDigest, "the block digest is of nothing, as GNU wget gives it to every revisit; the block is not proved by it")
		default:
			s.fail(rec, BlockDigest, "%s", want.differs("block", whole))
		}
		if part == nil || payloadWant.is(part) && trouble == nil {
			return
		}
		switch {
		case s.isFraming(rec, payloadWant):
			s.warn(rec, Framing, "the payload digest is of the body with its chunk framing; of the payload, as WARC/1.1 section 6.3.2 has it, it would be another")
		case trouble != nil:
			s.fail(rec, PayloadDigest, "the payload cannot be told: %v", trouble)
		default:
			what := "payload"
			if dechunked {
				what = "payload (with its transfer encoding removed)"
			}
			s.fail(rec, PayloadDigest, "%s", payloadWant.differs(what, part))
		}
	}
}

// digest reads the block to its end and feeds the hashes, of which each may be nil. An error is about the payload; one
// of reading comes again when the record is closed.
func (s *scan) digest(rec *Record, whole, part hash.Hash) (dechunked bool, trouble error) {
	if part != nil && hasHTTP(rec.Header) {
		in := s.bufs.get(tap{rec, whole})
		defer s.bufs.put(in)
		head, err := readHead(in)
		if err != nil {
			trouble = err
			part = nil
		} else if body, chunks := payload(head, in); chunks {
			_, trouble = io.Copy(part, body)
			dechunked, part = true, nil
			if errors.Is(trouble, io.ErrUnexpectedEOF) && rec.Header.Get("WARC-Truncated") != "" {
				trouble = nil // the record says itself that the end is missing
			}
		}
		if rest, err := in.Peek(in.Buffered()); err == nil && part != nil {
			part.Write(rest)
		}
	}
	for {
		b, err := rec.peek()
		if err != nil {
			return dechunked, trouble
		}
		if whole != nil {
			whole.Write(b)
		}
		if part != nil {
			part.Write(b)
		}
		rec.discard(len(b))
	}
}

// isFraming reads a record anew and tells whether a payload digest is that of the body as it was sent.
func (s *scan) isFraming(rec *Record, want sum) bool {
	if !hasHTTP(rec.Header) || rec.SharesMember() {
		return false
	}
	r, err := OpenAt(rec.File, rec.Offset)
	if err != nil {
		return false
	}
	defer r.Close() //nolint:errcheck // nothing was written
	again, err := r.Next()
	if err != nil {
		return false
	}
	in := bufio.NewReader(again)
	head, err := readHead(in)
	if err != nil || !head.chunked() {
		return false
	}
	sum := newHash(want.algorithm)
	_, err = io.Copy(sum, in)
	return err == nil && want.is(sum)
}
