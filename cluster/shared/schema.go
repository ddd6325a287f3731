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

// format is the version of the tables. A program refuses tables of another version.
const format = 3

// The tables of the rows of all hosts, and of the dedup index. They have no partitions: with 16 of them PostgreSQL
// needs half as much time again for the rows of a visit, and up to twice as much to look for a payload. A distributed
// engine can spread tables by the first columns of their keys.
const (
	rows     = "arcrawl.row"
	payloads = "arcrawl.payload"
)

// tables are all in a schema of their own. The crawl has one row.
var tables = []string{
	`CREATE SCHEMA IF NOT EXISTS arcrawl`,
	`CREATE TABLE IF NOT EXISTS arcrawl.crawl (
		id int PRIMARY KEY CHECK (id = 1), name text NOT NULL, format int NOT NULL, whole boolean NOT NULL,
		moves bigint NOT NULL, groups text NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS arcrawl.part (
		id smallint PRIMARY KEY, owner text, epoch bigint NOT NULL, clean boolean NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS arcrawl.node (
		name text PRIMARY KEY, incarnation bigint NOT NULL, fenced boolean NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS arcrawl.pulse (node text PRIMARY KEY, beat bigint NOT NULL) WITH (fillfactor = 50)`,
	`CREATE TABLE IF NOT EXISTS arcrawl.member (
		node text PRIMARY KEY, number int NOT NULL UNIQUE, draining boolean NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS ` + rows + ` (
		part smallint, k bytea, v bytea NOT NULL, PRIMARY KEY (part, k)) WITH (fillfactor = 85)`,
	`CREATE TABLE IF NOT EXISTS ` + payloads + ` (k bytea PRIMARY KEY, v bytea NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS arcrawl.letter (part smallint, k bytea, v bytea NOT NULL, PRIMARY KEY (part, k))`,
	`CREATE TABLE IF NOT EXISTS arcrawl.aside (
		part smallint, of smallint, k bytea, v bytea NOT NULL, PRIMARY KEY (part, of, k))`,
	`CREATE TABLE IF NOT EXISTS arcrawl.revision (number bigint PRIMARY KEY, state text NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS arcrawl.revised (
		revision bigint, name text, data bytea NOT NULL, PRIMARY KEY (revision, name))`,
	`CREATE TABLE IF NOT EXISTS arcrawl.answer (
		revision bigint, node text, faults text NOT NULL, PRIMARY KEY (revision, node))`,
	`CREATE TABLE IF NOT EXISTS arcrawl.lost (file text PRIMARY KEY, state text NOT NULL, change bigint NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS arcrawl.told (
		node text PRIMARY KEY, beat bigint NOT NULL, report bytea NOT NULL) WITH (fillfactor = 50)`,
	`CREATE TABLE IF NOT EXISTS arcrawl.door (
		node text PRIMARY KEY, incarnation bigint NOT NULL, address text NOT NULL, print bytea NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS arcrawl.unfit (node text PRIMARY KEY, incarnation bigint NOT NULL, why text NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS arcrawl.follower (
		node text PRIMARY KEY, revision bigint NOT NULL, trouble text NOT NULL)`,
}

// prepare makes the tables, unless they exist, makes sure that this program can read them, and reads the name of the
// crawl.
func (s *Store) prepare(ctx context.Context) (err error) {
	if s.crawl, err = nameOf(ctx, s.pool); !errors.Is(err, ErrUnused) {
		return err
	}
	if err = s.makeTables(ctx); err == nil {
		s.crawl, err = nameOf(ctx, s.pool)
	}
	return err
}

// nameOf returns the name of the crawl. It returns [ErrVersion] if there are no tables that this program can read.
func nameOf(ctx context.Context, q querier) (name string, err error) {
	var version int
	err = q.QueryRow(ctx, `SELECT name, format FROM arcrawl.crawl WHERE id = 1`).Scan(&name, &version)
	switch {
	case isUndefined(err), errors.Is(err, pgx.ErrNoRows):
		return "", ErrUnused
	case err != nil:
		return "", err
	}
	if version != format {
		return "", fmt.Errorf("the tables have format %d, this arcrawl uses format %d: %w; with the arcrawl that made them, "+
			"run 'arcrawl cluster leave', and remove the schema \"arcrawl\"; then, with this one, run 'arcrawl cluster init'",
			version, format, ErrVersion)
	}
	return name, nil
}

// ErrUnused says that no node has made the tables.
var ErrUnused = fmt.Errorf("no node has used this database yet, start one first: %w", ErrVersion)

// isUndefined reports whether a table or its schema does not exist.
func isUndefined(err error) bool { return hasCode(err, "42P01", "3F000") }

// hasCode reports whether the database has refused something for one of the given reasons.
func hasCode(err error, codes ...string) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && slices.Contains(codes, e.Code)
}

// makeTables makes the tables, which may be there in part. The row of the crawl comes last, when all is there.
func (s *Store) makeTables(ctx context.Context) error {
	for _, text := range tables {
		_, err := s.pool.Exec(ctx, text)
		if isRefused(err) { // another node may have made it at the same moment
			_, err = s.pool.Exec(ctx, text)
		}
		if err != nil {
			return err
		}
	}
	var ids [Parts]int16
	for i := range ids {
		ids[i] = int16(i)
	}
	err := s.inTransaction(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO arcrawl.part (id, epoch, clean)
			SELECT id, 0, true FROM unnest($1::smallint[]) AS u (id) ON CONFLICT DO NOTHING`, ids[:])
		return err
	})
	if err == nil {
		err = s.tryLock(ctx)
	}
	if err != nil {
		return err
	}
	return s.inTransaction(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO arcrawl.crawl (id, name, format, whole, moves, groups)
			VALUES (1, $1, $2, false, 0, '') ON CONFLICT DO NOTHING`, rand.Text(), format)
		return err
	})
}
