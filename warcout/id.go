package warcout

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/google/uuid"
)

// The ids of all records of a file begin alike: they are UUIDs of version 8 (RFC 9562, 5.8), 90 random bits for the file and 32 that
// number its records. Each record names two or three of them, and what is alike costs little in its gzip member. A file is
// written by one [Writer] and never gone on with after a crash, and no number is given twice, also not after a fault: so ids
// are as unique as the random bits. That two of a thousand million files have the same is as likely as one in two thousand million.
const (
	idLength    = len("urn:uuid:") + 36
	numberBytes = 4 // of an id, its last: the visit, and which of its records
	maxRecords  = 4 // of a visit, at most
	recordBits  = 4 // of the number
	maxVisits   = 1<<(8*numberBytes-recordBits) - 1
)

// newInfoID is the id of a warcinfo record: the random bits of its file, and number 0.
func newInfoID() (string, error) {
	id, err := uuid.NewRandomFromReader(rand.Reader)
	if err != nil {
		return "", fmt.Errorf("make a record id: %w", err)
	}
	id[6] = id[6]&0x0f | 8<<4 // the version
	clear(id[len(id)-numberBytes:])
	return id.URN(), nil
}

// setNumber makes an id that of record number index of a visit, which are counted from 0 and from 1 on.
func setNumber(id []byte, visit uint32, index int) {
	var number [numberBytes]byte
	binary.BigEndian.PutUint32(number[:], visit<<recordBits|uint32(index))
	hex.Encode(id[len(id)-2*numberBytes:], number[:])
}
