package shared

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Door says where a node answers the other nodes. The zero value means that it does not.
type Door struct {
	Address string // host and port
	Print   []byte // fingerprint of the certificate of the process, for both of its sides of a connection
}

// maxDoor is the maximum size of the address and of the fingerprint, in bytes.
const maxDoor = 256

// Announce notes where this process answers other nodes, with its next beat. It holds until the process ends.
func (s *Store) Announce(d Door) { s.door.Store(&d) }

// noteDoor stores where this process answers; nil changes nothing.
func (s *Store) noteDoor(ctx context.Context, tx pgx.Tx, d *Door) error {
	if d == nil || len(d.Address) > maxDoor || len(d.Print) > maxDoor {
		return nil
	}
	const text = `INSERT INTO arcrawl.door (node, incarnation, address, print) VALUES ($1, $2, $3, $4)
		ON CONFLICT (node) DO UPDATE SET incarnation = excluded.incarnation, address = excluded.address,
			print = excluded.print`
	_, err := tx.Exec(ctx, text, s.node, s.incarnation, d.Address, d.Print)
	return err
}
