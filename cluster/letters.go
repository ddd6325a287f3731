package cluster

import (
	"context"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/cluster/shared"
)

const (
	// lettersEvery is the time between two looks for letters, unless there are many.
	lettersEvery = time.Second
	// maxLetters is the maximum number of letters that are received at a time.
	maxLetters = 1_000
	// maxInDatabase is the number of letters that may wait in the database for a part of the crawl. Further ones are not
	// written: the URIs are found again.
	maxInDatabase = 20_000
	// fullEvery is the time between two looks at which parts have too many letters.
	fullEvery = 10 * time.Second
)

// courier receives the letters of other nodes. Their URIs are in the store before the next shipment, which removes the
// letters: a crash repeats them, which changes nothing.
type courier struct {
	next   time.Time // when letters are received again
	looked time.Time // when the full parts were read
	ill    bool      // the last exchange failed
}

// hasReceived reports whether a shipment must follow, although nothing may have changed that is shipped.
func (n *thisNode) hasReceived() bool {
	n.shipping.Lock()
	defer n.shipping.Unlock()
	return len(n.received) > 0
}

// takenLetters returns rows that remove letters.
func takenLetters(letters []shared.Letter) (rows []shared.Row) {
	for _, l := range letters {
		rows = append(rows, shared.Row{Part: l.Part, Key: l.Key, Value: l.Value, Gone: true, Of: shared.Letters})
	}
	return rows
}

// receiveLetters receives the letters for the parts that are here. It follows a shipment.
func (n *thisNode) receiveLetters(ctx context.Context, now time.Time) {
	c := &n.courier
	if now.Before(c.next) {
		return
	}
	ask, cancel := context.WithTimeout(ctx, shipTime)
	defer cancel()
	more, err := n.receiveSome(ask, now)
	if c.next = now.Add(lettersEvery); more {
		c.next = now
	}
	switch {
	case ctx.Err() != nil:
	case err != nil && !c.ill:
		n.o.Log.Error().Err(err).Msg("could not receive URIs of other nodes: trying again; they stay in the database until then")
	case err == nil && c.ill:
		n.o.Log.Info().Msg("URIs of other nodes are received again")
	}
	c.ill = err != nil
}

// receiveSome receives some letters. more says that there may be more now.
func (n *thisNode) receiveSome(ctx context.Context, now time.Time) (more bool, err error) {
	if err := n.lookForFull(ctx, now); err != nil {
		return false, err
	}
	mine := n.parts.in(here)
	if len(mine) == 0 {
		return false, nil
	}
	letters, err := n.shared.Letters(ctx, mine, maxLetters)
	if err != nil || len(letters) == 0 {
		return false, err
	}
	values := make([][]byte, len(letters))
	for i, l := range letters {
		values[i] = l.Value
	}
	added, damaged, err := receive(n.store, now, values)
	if err != nil {
		return false, err
	}
	more = len(letters) == maxLetters
	if letters, err = n.setAside(ctx, letters, damaged); err != nil {
		return false, err
	}
	// Of a part that began to leave meanwhile, the last shipment may not have the URIs: the next owner receives them.
	letters = slices.DeleteFunc(letters, func(l shared.Letter) bool { return n.parts.is(l.Part) != here })
	n.o.Log.Debug().Int("letters", len(letters)).Int("new", added.New).Msg("received URIs of other nodes")
	n.shipping.Lock()
	defer n.shipping.Unlock()
	n.received = letters
	return more, nil
}

// lookForFull finds out every few seconds for which parts too many letters wait in the database. Nobody crawls them, or
// their nodes are slower than the others.
func (n *thisNode) lookForFull(ctx context.Context, now time.Time) error {
	if !n.box.posting.Swap(false) || now.Sub(n.courier.looked) < fullEvery {
		return nil
	}
	full, err := n.shared.Full(ctx, maxInDatabase)
	if err != nil {
		return err
	}
	n.courier.looked = now
	if was := n.box.full.Swap(&full); len(full) > 0 && (was == nil || len(*was) == 0) {
		n.o.Log.Warn().Int("parts", len(full)).Msg("too many URIs wait in the database for hosts that nobody crawls, or not as " +
			"fast: further ones are added when they are found again")
	}
	return nil
}

// setAside puts damaged letters, which are named by their places, into a table of their own. It returns the others.
func (n *thisNode) setAside(
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
	if err := n.shared.SetAside(ctx, aside); err != nil {
		return nil, err
	}
	n.o.Log.Error().Int("letters", len(aside)).
		Msg("letters of another node cannot be read and were moved to the table arcrawl.aside: " +
			"the URIs in them stay unknown until another link leads there")
	return others, nil
}
