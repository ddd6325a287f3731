package cluster

import (
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

const (
	// lettersEvery is the time between two exchanges of letters, unless there are many.
	lettersEvery = time.Second
	// maxLetters is the maximum number of letters that are sent or received at a time.
	maxLetters = 1_000
	// maxInDatabase is the number of letters that may wait in the database for a shard. The rest waits in the stores of
	// the senders.
	maxInDatabase = 1_000_000
	// fullEvery is the time between two looks at which shards have too many letters.
	fullEvery = 10 * time.Second
)

// courier exchanges letters with other shards. The URIs of a letter are in the store before the next shipment, and the
// letter is removed after it: a crash repeats it, which changes nothing.
type courier struct {
	next     time.Time       // when letters are exchanged again
	full     map[int]bool    // shards for which too many letters wait in the database
	looked   time.Time       // when full was read
	received []shared.Letter // that were received since the last shipment
	ill      bool            // the last exchange failed
}

// mustShip reports whether a shipment must follow, although nothing may have changed that is shipped.
func (c *courier) mustShip() bool { return len(c.received) > 0 }

// exchangeLetters removes the letters that are shipped, sends letters to other shards, and receives theirs. It follows
// a shipment.
func (n *ownedShard) exchangeLetters(ctx context.Context, now time.Time) {
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
func (n *ownedShard) exchange(ctx context.Context, now time.Time) (full bool, err error) {
	if len(n.post.received) > 0 {
		if err := n.shared.Taken(ctx, n.epoch, n.post.received); err != nil {
			return false, err
		}
		n.post.received = nil
	}
	if err := n.lookForFull(ctx, now); err != nil {
		return false, err
	}
	mine, err := lettersIn(n.store, maxLetters, func(shard int) bool { return n.post.full[shard] })
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
	added, damaged, err := receive(n.store, now, values)
	if err != nil {
		return false, err
	}
	full = len(mine) == maxLetters || len(theirs) == maxLetters
	if theirs, err = n.setAside(ctx, theirs, damaged); err != nil {
		return false, err
	}
	n.o.Log.Debug().Int("letters", len(theirs)).Int("new", added.New).Msg("received URIs from other shards")
	n.post.received = theirs
	return full, nil
}

// lookForFull finds out every few seconds for which shards too many letters wait in the database. Their nodes are away,
// or slower than the others.
func (n *ownedShard) lookForFull(ctx context.Context, now time.Time) (err error) {
	if n.box.waiting.Load() == 0 || now.Sub(n.post.looked) < fullEvery {
		return nil
	}
	was := n.post.full
	if n.post.full, err = n.shared.Full(ctx, maxInDatabase); err != nil {
		return err
	}
	n.post.looked = now
	for shard := range n.post.full {
		if !was[shard] {
			n.o.Log.Warn().Int("shard", shard).Msg("too many URIs wait in the database for a shard: further ones wait in the stores " +
				"of the nodes that found them")
		}
	}
	return nil
}

// setAside puts damaged letters, which are named by their places, into a table of their own. It returns the others.
func (n *ownedShard) setAside(
	ctx context.Context, all []shared.Letter, damaged []int,
) (others []shared.Letter, err error) {
	if len(damaged) == 0 {
		return all, nil
	}
	var aside []shared.Letter
	for i, l := range all {
		if slices.Contains(damaged, i) {
			aside = append(aside, l)
		} else {
			others = append(others, l)
		}
	}
	if err := n.shared.SetAside(ctx, n.epoch, aside); err != nil {
		return nil, err
	}
	n.o.Log.Error().Int("letters", len(aside)).Int("sender", aside[0].Sender).
		Msg("letters of another shard cannot be read and were moved to the table arcrawl.aside: " +
			"the URIs in them stay unknown until another link leads there")
	return others, nil
}

// letterKey returns the key of a letter in the database. News of a URI does not replace earlier news, and a mere link
// to it replaces neither. The same letter always has the same key.
func letterKey(l letter) []byte {
	if !l.sooner {
		return l.key
	}
	sum := sha256.Sum256(l.value)
	return append(slices.Clone(l.key), sum[:8]...)
}

// send sends letters.
func (n *ownedShard) send(ctx context.Context, mine []letter) error {
	letters := make([]shared.Letter, 0, len(mine))
	for _, l := range mine {
		letters = append(letters, shared.Letter{Shard: l.shard, Key: letterKey(l), Value: l.value})
	}
	if err := n.shared.Send(ctx, n.epoch, letters); err != nil {
		return err
	}
	return n.box.sent(n.store, mine)
}

// Elsewhere returns which hosts belong to other shards, and takes letters to them; a nil shard has all hosts. group
// returns the politeness group of a host.
func (n *ownedShard) Elsewhere(group func(uri.Host) string) frontier.Elsewhere {
	if n == nil {
		return nil
	}
	if n.group = group; n.shards < 2 {
		return nil
	}
	n.box = newLetterbox(func(h uri.Host) int {
		if shard := shared.ShardOf(n.partOf(h), n.shards); shard != n.shard {
			return shard
		}
		return 0
	}, n.readRow)
	return n.box
}

// partOf returns the part of the crawl that a host belongs to. Groups have no parts before the crawl is divided: they
// may change while it runs.
func (n *ownedShard) partOf(h uri.Host) int16 {
	if n.group == nil || n.shards < 2 {
		return partOf(h, "")
	}
	return partOf(h, n.group(h))
}

// rowHome returns where the rows of the store belong.
func (n *ownedShard) rowHome() home {
	return home{own: shared.OwnPart(n.shard), part: func(h uri.Host) (int16, bool) {
		part := n.partOf(h)
		return part, shared.ShardOf(part, n.shards) == n.shard
	}}
}

// dropStrays removes the hosts of other shards after the crawl was divided, until ctx ends. The database has their rows
// for these shards.
func (n *ownedShard) dropStrays(ctx context.Context) {
	n.o.Log.Info().Int("hosts", n.store.Strays()).Msg("removing the hosts of other shards from this copy: the crawl was divided")
	done, err := n.store.DropStrays(ctx.Done(), func(uri.Host) bool { return false }, func() {
		// The mirror keeps all deleted keys until they are shipped.
		for n.mirror.waiting() > maxChanged && cli.Wait(ctx, shipEvery) == nil {
			continue
		}
	})
	switch {
	case err != nil:
		n.o.Log.Error().Err(err).Msg("could not remove the hosts of other shards: they take space and are not visited; " +
			"the next start tries again")
	case done:
		n.o.Log.Info().Msg("removed the hosts of other shards")
	}
}
