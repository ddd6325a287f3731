package shared

import (
	"context"
	"strings"

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

// maxWhy is the maximum size of what [Store.Unfit] says, in bytes.
const maxWhy = 300

// Unfit notes with the next beat why this node can crawl nothing, so that others take its hosts; "" says that it can.
// It holds until the process ends.
func (s *Store) Unfit(why string) {
	why = why[:min(len(why), maxWhy)]
	s.unfit.Store(&why)
}

// noteUnfit stores why this process can crawl nothing; nil changes nothing.
func (s *Store) noteUnfit(ctx context.Context, tx pgx.Tx, why *string) (err error) {
	switch {
	case why == nil:
	case *why == "":
		_, err = tx.Exec(ctx, `DELETE FROM arcrawl.unfit WHERE node = $1`, s.node)
	default:
		_, err = tx.Exec(ctx, `INSERT INTO arcrawl.unfit (node, incarnation, why) VALUES ($1, $2, $3)
			ON CONFLICT (node) DO UPDATE SET incarnation = excluded.incarnation, why = excluded.why`,
			s.node, s.incarnation, strings.ToValidUTF8(*why, "?"))
	}
	return err
}
