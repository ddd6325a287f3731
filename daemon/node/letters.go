package node

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/frontier/shared"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	// lettersEvery is the time between two exchanges of letters, unless there are many.
	lettersEvery = time.Second
	// maxLetters is the maximum number of letters that are sent or received at a time.
	maxLetters = 1_000
	// rowKept is how long a row of another shard is used before it is read again.
	rowKept = time.Minute
	// maxRowsKept is the maximum number of rows of other shards in memory.
	maxRowsKept = 256
)

// courier exchanges letters with other shards. The URIs of a letter are in the store before the next shipment, and the
// letter is removed after it: a crash repeats it, which changes nothing.
type courier struct {
	next     time.Time       // when letters are exchanged again
	received []shared.Letter // that were received since the last shipment
	ill      bool            // the last exchange failed
}

// mustShip reports whether a shipment must follow, although nothing may have changed that is shipped.
func (c *courier) mustShip() bool { return len(c.received) > 0 }

// exchangeLetters removes the letters that are shipped, sends letters to other shards, and receives theirs. It follows
// a shipment.
func (n *Node) exchangeLetters(ctx context.Context, now time.Time) {
	if n.shards < 2 || n.post.received == nil && now.Before(n.post.next) {
		return
	}
	ask, cancel := context.WithTimeout(ctx, shipTime)
	defer cancel()
	full, err := n.exchange(ask, now)
	if n.post.next = now.Add(lettersEvery); full {
		n.post.next = now
	}
	switch {
	case ctx.Err() != nil:
	case err != nil && !n.post.ill:
		n.o.Log.Error().Err(err).Msg("could not exchange URIs with other shards: trying again; they stay in the store until then")
	case err == nil && n.post.ill:
		n.o.Log.Info().Msg("URIs are exchanged with other shards again")
	}
	n.post.ill = err != nil
}

// exchange does one exchange. full says that there may be more to exchange now.
func (n *Node) exchange(ctx context.Context, now time.Time) (full bool, err error) {
	if len(n.post.received) > 0 {
		if err := n.shared.Taken(ctx, n.epoch, n.post.received); err != nil {
			return false, err
		}
		n.post.received = nil
	}
	mine, err := n.store.Letters(maxLetters)
	if err != nil {
		return false, err
	}
	if len(mine) > 0 {
		if err := n.send(ctx, mine); err != nil {
			return false, err
		}
	}
	theirs, err := n.shared.Letters(ctx, maxLetters)
	if err != nil || len(theirs) == 0 {
		return len(mine) == maxLetters, err
	}
	values := make([][]byte, len(theirs))
	for i, l := range theirs {
		values[i] = l.Value
	}
	added, damaged, err := n.store.Receive(now, values)
	if err != nil {
		return false, err
	}
	if damaged > 0 {
		n.o.Log.Error().Int("letters", damaged).Msg("letters of other shards cannot be read and are removed: " +
			"the URIs in them stay unknown until another link leads there")
	}
	n.o.Log.Debug().Int("letters", len(theirs)).Int("new", added.New).Msg("received URIs from other shards")
	n.post.received = theirs
	return len(mine) == maxLetters || len(theirs) == maxLetters, nil
}

// send sends letters.
func (n *Node) send(ctx context.Context, mine []frontier.Letter) error {
	letters := make([]shared.Letter, 0, len(mine))
	for _, l := range mine {
		letters = append(letters, shared.Letter{Shard: l.Shard, Key: l.Key, Value: l.Value})
	}
	if err := n.shared.Send(ctx, n.epoch, letters); err != nil {
		return err
	}
	return n.store.Sent(mine)
}

// Shards returns which hosts belong to other shards; a nil node has all hosts. group returns the politeness group of a
// host.
func (n *Node) Shards(group func(uri.Host) string) frontier.Shards {
	if n == nil || n.shards < 2 {
		return frontier.Shards{}
	}
	return frontier.Shards{
		Other: func(h uri.Host) int {
			if shard := frontier.ShardOf(h, group(h), n.shards); shard != n.shard {
				return shard
			}
			return 0
		},
		Read: n.readRow,
	}
}

// keptRows holds rows of other shards that were read lately.
type keptRows struct {
	mu   sync.Mutex // guards rows
	rows map[string]keptRow
}

type keptRow struct {
	value []byte
	read  time.Time
}

// readRow returns the value of a key in the copy of another shard; nil if there is none, or if the database does not
// answer. A node that is stopped asks no database.
func (n *Node) readRow(shard int, key []byte) []byte {
	if n.shared == nil {
		return nil
	}
	k, now := fmt.Sprint(shard, " ", string(key)), time.Now()
	n.foreign.mu.Lock()
	kept, found := n.foreign.rows[k]
	n.foreign.mu.Unlock()
	if found && now.Sub(kept.read) < rowKept {
		return kept.value
	}
	ask, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	value, err := n.shared.Read(ask, shard, key)
	if err != nil {
		n.o.Log.Warn().Err(err).Int("shard", shard).Msg("could not read a row of another shard: trying again at the next visit")
		return nil
	}
	n.foreign.mu.Lock()
	defer n.foreign.mu.Unlock()
	if n.foreign.rows == nil || len(n.foreign.rows) >= maxRowsKept {
		n.foreign.rows = map[string]keptRow{}
	}
	n.foreign.rows[k] = keptRow{value, now}
	return value
}

// dropStrays removes the hosts of other shards after the crawl was divided, until ctx ends.
func (n *Node) dropStrays(ctx context.Context) {
	n.o.Log.Info().Int("hosts", n.store.Strays()).Msg("removing the hosts of other shards from this copy: the crawl was divided")
	done, err := n.store.DropStrays(ctx.Done(), func() {
		// The mirror keeps all deleted keys until they are shipped.
		for n.mirror.Waiting() > maxChanged && pause(ctx, shipEvery) == nil {
			continue
		}
	})
	switch {
	case err != nil:
		n.o.Log.Error().Err(err).Msg("could not remove the hosts of other shards: they take space and are not visited; " +
			"the next start tries again")
	case done:
		n.o.Log.Info().Msg("removed the hosts of other shards")
		n.mu.Lock()
		n.divided = true
		n.mu.Unlock()
	}
}

// isDivided reports whether the hosts of other shards are removed, and the database is to be notified of that.
func (n *Node) isDivided() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.divided
}

// noteDivided notifies the database that the hosts of other shards are removed. It follows the shipment of that.
func (n *Node) noteDivided(ctx context.Context) {
	ask, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if err := n.shared.Divided(ask, n.epoch); err != nil {
		n.o.Log.Warn().Err(err).Msg("could not note that the hosts of other shards are removed: trying again")
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.divided = false
}
