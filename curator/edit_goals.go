package curator

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config/schema"
)

// seedGoal is the capture target of a seed, and the last day on which it applies.
type seedGoal struct {
	Target float64
	Until  string // as 2026-12-31; "" = no end
}

// The lines around the capture targets of seeds in a host file.
const (
	goalsBegin = "# Capture targets of seeds: written by arcrawl seeds add --from, up to the end mark. Edit the list and import it again.\n"
	goalsEnd   = "# End of the capture targets of seeds.\n"
)

// maxExpression is the length from which the URIs of a refinement continue in the next one. An expression may have 2000
// bytes.
const maxExpression = 1000

// goalsIn returns the capture targets that [setGoals] wrote into the text of a host file, by URI.
func goalsIn(text []byte) map[string]seedGoal {
	all := map[string]seedGoal{}
	_, block, _ := cutBlock(string(text), goalsBegin, goalsEnd)
	doc := schema.Parse([]byte(block), "the file")
	path := schema.Path("").Child("when")
	for i := 0; doc.Has(path.Element(i)); i++ {
		when := path.Element(i)
		expression, _ := doc.Value(when.Child("uri")).(string)
		var g seedGoal
		wait, _ := doc.Setting(when, "wait")
		if tables, ok := wait.Tables(""); ok && len(tables) == 1 {
			m, _ := tables[0].Value.(map[string]any)
			g.Target, _ = m["capture_target"].(float64)
		}
		switch v := doc.Value(when.Child("until")).(type) {
		case nil:
		case time.Time:
			g.Until = v.Format(time.DateOnly)
		default:
			g.Until = schema.TOML(v)
		}
		for _, u := range unquoted(expression) {
			all[u] = g
		}
	}
	return all
}

// setGoals returns the text of a host file with these capture targets of seeds, by URI, and no others of this kind.
func setGoals(text []byte, goals map[string]seedGoal) ([]byte, error) {
	if maps.Equal(goalsIn(text), goals) {
		return text, nil // the block stays where it is: what was written later wins
	}
	before, _, behind := cutBlock(string(text), goalsBegin, goalsEnd)
	edited := withoutBlock(before, behind)
	if len(goals) > 0 {
		edited += "\n" + goalsBegin
		groups := map[seedGoal][]string{}
		for _, u := range slices.Sorted(maps.Keys(goals)) {
			groups[goals[u]] = append(groups[goals[u]], u)
		}
		order := slices.SortedFunc(maps.Keys(groups), func(a, b seedGoal) int {
			return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Until, b.Until))
		})
		for _, g := range order {
			edited += refinements(groups[g], g.Until, `"learned", capture_target = `+strconv.FormatFloat(g.Target, 'f', -1, 64))
		}
		edited += goalsEnd
	}
	if doc := schema.Parse([]byte(edited), "the file"); len(doc.Faults) > 0 ||
		!maps.Equal(goalsIn([]byte(edited)), goals) {
		return nil, errByHandKey
	}
	return []byte(edited), nil
}

// refinements returns the [[when]] that give some URIs one rule, until a day; "" = without end.
func refinements(uris []string, until, rule string) (all string) {
	if until != "" {
		until = "until = " + until + "\n"
	}
	for len(uris) > 0 {
		var quoted []string
		size := 0
		for len(uris) > 0 && (len(quoted) == 0 || size+len(uris[0]) <= maxExpression) {
			size += len(uris[0])
			quoted, uris = append(quoted, regexp.QuoteMeta(uris[0])), uris[1:]
		}
		all += fmt.Sprintf("[[when]]\nuri = %s\n%swait = [{ mime = \".*\", rule = %s }]\n",
			schema.Literal("^(?:"+strings.Join(quoted, "|")+")$"), until, rule)
	}
	return all
}

// withoutBlock joins what is before and behind a block that is removed.
func withoutBlock(before, behind string) string {
	before = strings.TrimRight(before, "\n") + "\n"
	if behind = strings.Trim(behind, "\n"); behind != "" {
		before += "\n" + behind + "\n"
	}
	return before
}

// cutBlock cuts a text around a block between two marks.
func cutBlock(text, begin, end string) (before, block, behind string) {
	before, rest, begins := strings.Cut(text, begin)
	block, behind, ends := strings.Cut(rest, end)
	if !begins || !ends {
		return text, "", ""
	}
	return before, block, behind
}

// unquoted returns the URIs of the expression of a refinement.
func unquoted(expression string) []string {
	inner, ok := strings.CutPrefix(expression, "^(?:")
	inner, ok2 := strings.CutSuffix(inner, ")$")
	if !ok || !ok2 {
		return nil
	}
	var all []string
	var b strings.Builder
	for i := 0; i < len(inner); i++ {
		switch {
		case inner[i] == '\\' && i+1 < len(inner):
			i++
			b.WriteByte(inner[i])
		case inner[i] == '|':
			all = append(all, b.String())
			b.Reset()
		default:
			b.WriteByte(inner[i])
		}
	}
	return append(all, b.String())
}
