package cluster

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/uri"
)

// Extend adds flags about nodes to commands of the program.
func Extend(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if cmd.Name() == "reload" {
			extendReload(cmd)
		}
	}
}

// Owners returns which node crawls each part of the hosts; nothing if the database has no crawl yet.
func Owners(ctx context.Context, database string) (names []string, err error) {
	is, err := shared.Owners(ctx, database)
	if errors.Is(err, shared.ErrUnused) {
		return nil, nil
	}
	for _, part := range is.Parts {
		names = append(names, part.Owner)
	}
	return names, err
}

// PartOf returns the part that a host without a group belongs to.
func PartOf(h uri.Host) int16 { return partOf(h, "") }
