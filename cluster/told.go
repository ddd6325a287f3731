package cluster

import "context"

// Tell reports the state of this shard to whoever asks the database, also while the node cannot be reached otherwise.
func (n *ownedShard) Tell(ctx context.Context, text []byte) error {
	ask, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return n.shared.Tell(ask, n.epoch, text)
}
