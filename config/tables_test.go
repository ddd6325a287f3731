package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/evaluators"
)

func TestKeysHaveTableAndDoc(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range Keys() {
		table, _, inTable := strings.Cut(k.Name, ".")
		if _, ok := coreCatalog().table(table); inTable && !ok {
			t.Errorf("%s belongs to no table", k.Name)
		}
		if !strings.HasSuffix(k.Doc, ".") || strings.ContainsAny(k.Doc+k.Type.String(), "|\n") || strings.Contains(k.Default, "\n") || seen[k.Name] {
			t.Errorf("%+v lacks a doc, breaks the tables of the page, or appears twice", k)
		}
		seen[k.Name] = true
	}
}

// TestWaitDefaultsAreThoseOfTheRules compares the defaults of a [[wait]] with the defaults of each rule.
func TestWaitDefaultsAreThoseOfTheRules(t *testing.T) {
	t.Parallel()
	for _, rule := range evaluators.RuleNames() {
		e := coreCatalog().newDraft(new(Config)).entry
		e.Rule = rule
		e.useRuleBounds()
		got, err1 := e.New()
		want, err2 := evaluators.Options{Rule: rule}.New()
		if diff := cmp.Diff(want, got); diff != "" || err1 != nil || err2 != nil {
			t.Errorf("%s: %v, %v (-rule +defaults):\n%s", rule, err1, err2, diff)
		}
	}
}
