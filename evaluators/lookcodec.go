package evaluators

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// lookFormat begins each stored [Look].
const lookFormat = 1

// maxLookBytes is the length of the longest stored Look without its rules.
const maxLookBytes = 40

// The parts of a stored [Look], as bits.
const (
	withPlan = 1 << iota
	withSums
	withRules
)

// errLook says that stored bytes are not a [Look].
var errLook = errors.New("stored second look")

// Bytes returns l as it is stored: at most 40 bytes and its rules, and none for the zero value. Times are kept to the
// second.
func (l Look) Bytes() string {
	if l == (Look{}) {
		return ""
	}
	parts := byte(0)
	if !l.Planned.IsZero() && l.Open > 0 {
		parts |= withPlan
	}
	if l.Sums != ([2]uint64{}) {
		parts |= withSums
	}
	if l.Silencer != "" {
		parts |= withRules
	}
	b := append(make([]byte, 0, maxLookBytes), lookFormat, byte(l.Finding), byte(l.View), parts)
	b = append(b, byte(l.Row), byte(l.Open), byte(l.Visits))
	b = binary.AppendUvarint(b, unixSeconds(l.Since))
	if parts&withPlan != 0 {
		b = binary.AppendUvarint(b, unixSeconds(l.Planned))
	}
	if parts&withSums != 0 {
		b = binary.BigEndian.AppendUint32(b, l.Rules)
		b = binary.BigEndian.AppendUint64(b, l.Sums[0])
		b = binary.BigEndian.AppendUint64(b, l.Sums[1])
	}
	if parts&withRules != 0 {
		b = append(binary.AppendUvarint(b, uint64(len(l.Silencer))), l.Silencer...)
	}
	return string(b)
}

// LookOf reads the result of [Look.Bytes]. It ignores surplus bytes.
func LookOf(stored string) (l Look, err error) {
	if stored == "" {
		return l, nil
	}
	b := []byte(stored)
	if b[0] != lookFormat || len(b) < 8 {
		return l, fmt.Errorf("%w: %d bytes in format %d", errLook, len(b), b[0])
	}
	parts := b[3]
	l = Look{Finding: Finding(b[1]), View: View(b[2]), Row: int(b[4]), Open: int(b[5]), Visits: int(b[6])}
	if l.Finding > Restless || l.View > SeenSilenced {
		return Look{}, fmt.Errorf("%w: finding %d, view %d", errLook, b[1], b[2])
	}
	b = b[7:]
	seconds := func() time.Time {
		s, n := binary.Uvarint(b)
		if n <= 0 {
			err = fmt.Errorf("%w: a time is cut", errLook)
			return time.Time{}
		}
		if b = b[n:]; s == 0 || s > 1<<40 {
			return time.Time{}
		}
		return time.Unix(int64(s), 0).UTC()
	}
	l.Since = seconds()
	if parts&withPlan != 0 {
		l.Planned = seconds()
	}
	if err != nil {
		return Look{}, err
	}
	if parts&withSums != 0 {
		if len(b) < 20 {
			return Look{}, fmt.Errorf("%w: the digests are cut", errLook)
		}
		l.Rules = binary.BigEndian.Uint32(b)
		l.Sums = [2]uint64{binary.BigEndian.Uint64(b[4:]), binary.BigEndian.Uint64(b[12:])}
		b = b[20:]
	}
	if parts&withRules != 0 {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return Look{}, fmt.Errorf("%w: the rules are cut", errLook)
		}
		l.Silencer = string(b[n : n+int(size)])
	}
	if l.View != SeenSilenced || l.Silencer == "" {
		if l.Silencer = ""; l.View == SeenSilenced {
			l.View = Configured
		}
	}
	return l, nil
}

func unixSeconds(t time.Time) uint64 {
	if t.IsZero() || t.Unix() < 0 {
		return 0
	}
	return uint64(t.Unix())
}
