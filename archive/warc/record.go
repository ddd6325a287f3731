package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// ID returns the record id without angle brackets.
func (rec *Record) ID() string { return rec.Header.ID("WARC-Record-ID") }

// Fields returns the fields that the block of a record of the type [FieldsMIME] holds, and closes the record.
func (rec *Record) Fields() (Header, error) {
	text, err := io.ReadAll(io.LimitReader(rec, MaxHeader))
	if err == nil {
		err = rec.Close()
	}
	if err != nil {
		return nil, Damaged(err)
	}
	return ParseFields(text), nil
}

// Read reads the block. Trust the bytes only after Close returned no error.
func (rec *Record) Read(p []byte) (int, error) {
	b, err := rec.peek()
	if err != nil {
		return 0, err
	}
	n := copy(p, b)
	rec.discard(n)
	return n, nil
}

// WriteTo writes the rest of the block to w without copying it first.
func (rec *Record) WriteTo(w io.Writer) (written int64, err error) {
	for {
		b, err := rec.peek()
		if errors.Is(err, io.EOF) {
			return written, nil
		}
		if err != nil {
			return written, err
		}
		n, err := w.Write(b)
		rec.discard(n)
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
}

// peek returns the next bytes of the block without copying them. They are valid until the next call.
func (rec *Record) peek() ([]byte, error) {
	if rec.left == 0 {
		return nil, io.EOF
	}
	if rec.r.text.Buffered() == 0 {
		if _, err := rec.r.text.Peek(1); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return rec.r.text.Peek(int(min(rec.left, int64(rec.r.text.Buffered()))))
}

// discard skips n bytes that peek has returned.
func (rec *Record) discard(n int) {
	_, _ = rec.r.text.Discard(n) // buffered bytes: no error is possible
	rec.left -= int64(n)
}

// Close reads the rest of the record and checks that the record is whole: the block has the length of Content-Length,
// two empty lines follow, and in a gzip file the member ends there with the right CRC. Otherwise the error is a
// [*Finding].
func (rec *Record) Close() error {
	r := rec.r
	if r.rec != rec {
		return nil // already closed
	}
	r.rec = nil
	for {
		b, err := rec.peek()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return rec.short(err)
		}
		rec.discard(len(b))
	}
	end, err := r.text.Peek(len(RecordEnd))
	if string(end) != RecordEnd {
		if err != nil && !errors.Is(err, io.EOF) {
			return r.damaged(rec, err)
		}
		return rec.unended(end)
	}
	_, _ = r.text.Discard(len(RecordEnd))
	if r.gzip {
		if err := rec.endMember(); err != nil {
			return err
		}
	}
	rec.Length = r.Offset() - rec.Offset
	return nil
}

// short returns the finding for a block that ended too early. In a sound gzip file the member has no more bytes.
func (rec *Record) short(err error) error {
	r := rec.r
	if !r.gzip || r.src.fault != nil {
		return r.damaged(rec, err)
	}
	if _, again := r.text.Peek(1); !errors.Is(again, io.EOF) {
		return r.damaged(rec, err)
	}
	r.inMember = false
	text := fmt.Sprintf("the block has %d bytes, Content-Length says %d", rec.Size-rec.left, rec.Size)
	return r.finding(rec, Length, text)
}

// unended returns the finding for a record that is followed by other bytes than two empty lines.
func (rec *Record) unended(next []byte) error {
	r := rec.r
	if !r.gzip && len(next) < len(RecordEnd) {
		return r.damaged(rec, io.ErrUnexpectedEOF)
	}
	if !r.gzip {
		text := fmt.Sprintf("after the %d bytes of Content-Length follows %.20q, not two empty lines", rec.Size, next)
		return r.resume(r.finding(rec, Length, text), r.Offset()-int64(len(RecordEnd)))
	}
	next = bytes.Clone(next)
	rest, err := io.Copy(io.Discard, r.text)
	if err != nil {
		return r.damaged(rec, err)
	}
	r.inMember = false
	return r.finding(rec, Length, fmt.Sprintf("the block is longer than the %d bytes of Content-Length: "+
		"the member continues for %d bytes, with %.20q", rec.Size, rest, next))
}

// endMember reads the end of a gzip member, which checks its CRC. Most readers allow another record in the same member.
// But no index can point to that record.
func (rec *Record) endMember() error {
	r := rec.r
	more, err := r.text.Peek(len(recordMagic))
	switch {
	case errors.Is(err, io.EOF) && len(more) == 0:
		r.inMember = false
		return nil
	case err != nil && !errors.Is(err, io.EOF):
		return r.damaged(rec, err)
	case string(more) == recordMagic:
		return nil // inMember stays true
	}
	return r.skip(rec, Length, fmt.Sprintf("after the record its gzip member continues with %.20q", more))
}

// SharesMember reports whether another record follows in the gzip member of a closed record.
func (rec *Record) SharesMember() bool { return rec.r.inMember }

// Fit returns how well a record fits as the original of a revisit that names its URI and second, and no record id.
// Several captures may fit. It is better if the record is full: a response or a resource. comparable reports whether
// both records have a payload digest of one algorithm.
func Fit(full, comparable, samePayload, sameDate bool) (n int) {
	if full {
		n += 8
	}
	if comparable && samePayload {
		n += 4
	} else if comparable {
		n -= 8
	}
	if sameDate {
		n++
	}
	return n
}
