package warcout

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/google/uuid"
)

// The ids of all records of a file have a common beginning: they are UUIDs of version 8 (RFC 9562, 5.8), with 90
// random bits for the file and 32 bits for the number of the record. Each record contains two or three ids, and the
// common part costs little in its gzip member. One [Writer] writes a file and never continues it after a crash, and no
// number is used twice, not even after an error. So ids are as unique as the random bits. That two of a thousand
// million files share them has a probability of one in two thousand million.
const (
	idLength    = len("urn:uuid:") + 36
	numberBytes = 4 // the last bytes of an id: the number of the visit and of its record
	maxRecords  = 4 // maximum of a visit
	recordBits  = 4 // of the number, for the record
	maxVisits   = 1<<(8*numberBytes-recordBits) - 1
)

// newInfoID returns the id of a warcinfo record: random bits for its file, and number 0.
func newInfoID() (string, error) {
	id, err := uuid.NewRandomFromReader(rand.Reader)
	if err != nil {
		return "", fmt.Errorf("generate a record id: %w", err)
	}
	id[6] = id[6]&0x0f | 8<<4 // the version
	clear(id[len(id)-numberBytes:])
	return id.URN(), nil
}

// setNumber writes the number of a record to an id. Visits count from 1, the records of a visit from 0.
func setNumber(id []byte, visit uint32, index int) {
	var number [numberBytes]byte
	binary.BigEndian.PutUint32(number[:], visit<<recordBits|uint32(index))
	hex.Encode(id[len(id)-2*numberBytes:], number[:])
}
