package shared

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// format is the version of the tables. A program refuses tables of another version. Before the first release the column
// had another name. In format 1 each shard had a table, with the payloads of its hosts.
const format = 2

// The tables of the rows of all hosts, and of the dedup index. PostgreSQL needs half as much time again for the rows of
// a visit if their table has partitions; a distributed engine can spread it by the first column of its key.
const (
	rows       = "arcrawl.row"
	payloads   = "arcrawl.payload"
	partitions = 16 // of payloads, by the hashes of the keys
)

// tables makes what is missing. All is in a schema of its own.
var tables = []string{
	`CREATE SCHEMA IF NOT EXISTS arcrawl`,
	`CREATE TABLE IF NOT EXISTS arcrawl.crawl (
		id int PRIMARY KEY, name text NOT NULL, format int NOT NULL, owner text,
		epoch bigint NOT NULL DEFAULT 0, clean boolean NOT NULL DEFAULT false, whole boolean NOT NULL DEFAULT false)`,
	`CREATE TABLE IF NOT EXISTS arcrawl.node (
		name text PRIMARY KEY, incarnation bigint NOT NULL, fenced boolean NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS arcrawl.pulse (node text PRIMARY KEY, beat bigint NOT NULL) WITH (fillfactor = 50)`,
	`CREATE TABLE IF NOT EXISTS ` + rows + ` (part smallint, k bytea, v bytea NOT NULL, PRIMARY KEY (part, k)) WITH (fillfactor = 85)`,
	`CREATE TABLE IF NOT EXISTS ` + payloads + ` (k bytea PRIMARY KEY, v bytea NOT NULL) PARTITION BY HASH (k)`,
	`CREATE TABLE IF NOT EXISTS arcrawl.letter (
		shard int, sender int, k bytea, v bytea NOT NULL, PRIMARY KEY (shard, sender, k))`,
	`CREATE TABLE IF NOT EXISTS arcrawl.aside (
		shard int, sender int, k bytea, v bytea NOT NULL, PRIMARY KEY (shard, sender, k))`,
	`CREATE TABLE IF NOT EXISTS arcrawl.member (node text PRIMARY KEY, draining boolean NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS arcrawl.agreed (id int PRIMARY KEY CHECK (id = 1), groups text NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS arcrawl.revision (number bigint PRIMARY KEY, state text NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS arcrawl.revised (
		revision bigint, name text, data bytea NOT NULL, PRIMARY KEY (revision, name))`,
	`CREATE TABLE IF NOT EXISTS arcrawl.answer (
		revision bigint, node text, faults text NOT NULL, PRIMARY KEY (revision, node))`,
	`CREATE TABLE IF NOT EXISTS arcrawl.lost (file text PRIMARY KEY, state text NOT NULL, change bigint NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS arcrawl.aware (shard int PRIMARY KEY, change bigint NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS arcrawl.told (
		shard int PRIMARY KEY, node text NOT NULL, epoch bigint NOT NULL, beat bigint NOT NULL, report bytea NOT NULL)
		WITH (fillfactor = 50)`,
	`CREATE TABLE IF NOT EXISTS arcrawl.door (
		node text PRIMARY KEY, incarnation bigint NOT NULL, address text NOT NULL, print bytea NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS arcrawl.unfit (node text PRIMARY KEY, incarnation bigint NOT NULL, why text NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS arcrawl.follower (
		node text PRIMARY KEY, revision bigint NOT NULL, trouble text NOT NULL)`,
}

// prepare makes the tables, unless they exist, and makes sure that this program can read them.
func (s *Store) prepare(ctx context.Context) error {
	if err := s.checkFormat(ctx); err != nil && !isUndefined(err) {
		return err
	}
	// Two nodes that start at once would both make the tables, and one would fail. It finds them at the second attempt.
	var err error
	for range maxRepeats {
		if err = s.makeTables(ctx); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	return s.checkFormat(ctx)
}

// checkFormat makes sure that this program can read the tables, and reads the name of the crawl.
func (s *Store) checkFormat(ctx context.Context) error {
	var version int
	const text = `SELECT name, format FROM arcrawl.crawl WHERE id = 1`
	if err := s.pool.QueryRow(ctx, text).Scan(&s.crawl, &version); err != nil {
		return explainUnreleased(err)
	}
	return checkVersion(version)
}

// checkVersion returns an error if this program does not know the version of the tables.
func checkVersion(version int) error {
	switch version {
	case format:
		return nil
	case 1:
		return fmt.Errorf("the tables have format 1, this arcrawl uses format %d: %w; %s", format, ErrVersion,
			fmt.Sprintf(carryOver, ""))
	}
	return fmt.Errorf("the tables have format %d, this arcrawl uses format %d: %w; all nodes need one version",
		version, format, ErrVersion)
}

// explainUnreleased returns [ErrVersion] with advice if an error is about tables from before the first release, and
// otherwise the error.
func explainUnreleased(err error) error {
	if !isUnreleased(err) {
		return err
	}
	return fmt.Errorf("the tables are from before the first release, this arcrawl uses format %d: %w; %s", format, ErrVersion,
		fmt.Sprintf(carryOver, "carry that store over as its refusal says; "))
}

// carryOver says how to get from tables of another version to the present ones.
const carryOver = "with the arcrawl that made them, run 'arcrawl cluster leave'; %sremove the schema \"arcrawl\"; then, with " +
	"this one, run 'arcrawl cluster init'"

// isUnreleased reports whether an error says that the table of the crawl has no column format.
func isUnreleased(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "42703"
}

func (s *Store) makeTables(ctx context.Context) error {
	return s.inTransaction(ctx, func(tx pgx.Tx) error {
		all := slices.Clone(tables)
		for n := range partitions {
			all = append(all, fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %s_%d PARTITION OF %s
				FOR VALUES WITH (MODULUS %d, REMAINDER %d)`, payloads, n, payloads, partitions, n))
		}
		for _, text := range all {
			if _, err := tx.Exec(ctx, text); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `INSERT INTO arcrawl.crawl (id, name, format) VALUES (1, $1, $2) ON CONFLICT DO NOTHING`,
			rand.Text(), format)
		return err
	})
}
