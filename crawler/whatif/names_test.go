package whatif_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

func TestNameChangesFindsMergesAndSplits(t *testing.T) {
	t.Parallel()
	known := []string{
		"http://news.example/a", "http://news.example/A", "http://news.example/b?utm_source=x", "http://news.example/b", "http://news.example/c",
		"http://other.example/a", "http://other.example/A",
	}
	each := func(see func(frontier.Record) error) error {
		for _, s := range known {
			if err := see(frontier.Record{URI: uri.FromCanonical(s)}); err != nil {
				return err
			}
		}
		return nil
	}
	rules := func(n *uri.Naming) func(uri.Host) *uri.Naming {
		return func(h uri.Host) *uri.Naming {
			if h == "news.example" {
				return n
			}
			return nil
		}
	}
	heritrix, drop := &uri.Naming{Set: uri.Heritrix}, &uri.Naming{Drop: []string{"utm_*"}}
	for _, c := range []struct {
		name          string
		before, after *uri.Naming
		want          whatif.ChangedNames
	}{
		{"no change", heritrix, heritrix, whatif.ChangedNames{}},
		{"first rules", nil, heritrix, whatif.ChangedNames{Hosts: 1, URIs: 5, Merged: 1}},
		{"no more rules", drop, nil, whatif.ChangedNames{Hosts: 1, URIs: 5, Parted: 1}},
		{"other rules", heritrix, drop, whatif.ChangedNames{Hosts: 1, URIs: 5, Merged: 1, Parted: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := whatif.NameChanges(each, rules(c.before), rules(c.after), 10)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(whatif.ChangedNames{}, "Merges", "Splits")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(got.Merges) != got.Merged || len(got.Splits) != got.Parted {
				t.Errorf("%d and %d examples of %+v", len(got.Merges), len(got.Splits), got)
			}
		})
	}
}
