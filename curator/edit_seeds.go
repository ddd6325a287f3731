package curator

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/arcrawl/arcrawl/config/schema"
)

// seedsKey is the path of the list of seeds.
var seedsKey = schema.Path("").Key("seeds.uris")

// errByHandSeeds says that the seeds of a file cannot be edited safely, so that a person must do it.
var errByHandSeeds = errors.New("cannot edit the seeds of the file safely; edit seeds.uris by hand")

// seedsIn returns the seeds that the text of a host file lists, as they are written.
func seedsIn(text []byte) []string {
	return schema.ListedTexts(schema.Parse(text, "the file").Value(seedsKey))
}

// moreSeeds returns the text of a host file with more seeds. Seeds that it lists already are not added again.
func moreSeeds(text []byte, seeds []string) ([]byte, error) {
	e, err := schema.Edit(text, "add seeds to")
	if err != nil {
		return nil, err
	}
	e.Lines = strings.SplitAfter(strings.TrimRight(string(text), "\n")+"\n", "\n")
	added, missing, ok := e.AddTo(seedsKey, seeds)
	switch table := schema.Path("").Child("seeds"); {
	case !ok:
		return nil, errByHandSeeds
	case len(added) == 0:
		return text, nil
	case len(missing) == 0:
	case e.Before.Has(table):
		e.Lines[e.Line(table)] += "uris = [\n" + schema.ListItems(missing) + "]\n"
	default:
		e.Lines = append(e.Lines, "\n[seeds]\nuris = [\n"+schema.ListItems(missing)+"]\n")
	}
	return checkSeeds(strings.Join(e.Lines, ""), append(schema.ListedTexts(e.Before.Value(seedsKey)), added...))
}

// withoutSeed returns the text of a host file without a seed, as the file writes it.
func withoutSeed(text []byte, seed string) ([]byte, error) {
	if !slices.Contains(seedsIn(text), seed) {
		return nil, errByHandSeeds
	}
	return keepSeeds(text, func(s string) bool { return s != seed })
}

// keepSeeds returns the text of a host file without the seeds for which keep returns false. Comments between them stay.
// It takes time in proportion to the text, because a file may list very many seeds.
func keepSeeds(text []byte, keep func(seed string) bool) ([]byte, error) {
	before := schema.Parse(text, "the file")
	known := schema.ListedTexts(before.Value(seedsKey))
	kept := slices.DeleteFunc(slices.Clone(known), func(s string) bool { return !keep(s) })
	switch {
	case len(before.Faults) > 0:
		return nil, errByHandSeeds
	case len(kept) == len(known):
		return text, nil
	}
	lines := strings.SplitAfter(string(text), "\n")
	first := before.AtKey(seedsKey, schema.Fault{}).Line - 1
	head, rest := strings.Join(lines[:first], ""), strings.Join(lines[first:], "")
	edited, ok := cutSeeds(rest, known, keep)
	if !ok {
		return nil, errByHandSeeds
	}
	return checkSeeds(head+edited, kept)
}

// cutSeeds returns a text, which begins with the key of the list of known seeds, without the ones that keep refuses.
func cutSeeds(text string, known []string, keep func(string) bool) (string, bool) {
	at := strings.IndexByte(text, '[') + 1
	out := append(make([]byte, 0, len(text)), text[:at]...)
	for len(known) > 0 {
		n := strings.IndexAny(text[at:], "\"'#")
		if n < 0 {
			return "", false
		}
		out, at = append(out, text[at:at+n]...), at+n
		if text[at] == '#' {
			end := strings.IndexByte(text[at:], '\n') + 1
			out, at = append(out, text[at:at+end]...), at+end
			continue
		}
		quoted := schema.TOML(known[0])
		if !strings.HasPrefix(text[at:], quoted) {
			quoted = schema.Literal(known[0])
		}
		behind, ok := strings.CutPrefix(text[at:], quoted)
		if !ok {
			return "", false
		}
		if keep(known[0]) {
			out = append(out, quoted...)
		} else {
			out, behind = cutSeed(out, strings.TrimLeft(behind, " \t"))
		}
		at, known = len(text)-len(behind), known[1:]
	}
	return string(append(out, text[at:]...)), true
}

// cutSeed returns what is before and behind a seed that is removed, without its comma and its line.
func cutSeed(before []byte, behind string) ([]byte, string) {
	next, ok := strings.CutPrefix(behind, ",")
	bare := bytes.TrimRight(before, " \t")
	if !ok {
		return bytes.TrimSuffix(bare, []byte(",")), behind
	}
	behind = strings.TrimLeft(next, " \t")
	if line, ok := strings.CutPrefix(strings.TrimPrefix(behind, "\r"), "\n"); ok && bytes.HasSuffix(bare, []byte("\n")) {
		return bare, line // the seed had a line of its own
	}
	return before, behind
}

// checkSeeds returns a text if it lists exactly these seeds.
func checkSeeds(text string, want []string) ([]byte, error) {
	after := schema.Parse([]byte(text), "the file")
	got := seedsIn([]byte(text))
	if len(after.Faults) > 0 || !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		return nil, errByHandSeeds
	}
	pace := sectionsIn([]byte(text))
	if pace != "" && pace != paceByHand && len(want) == 0 {
		return setSections([]byte(text), "")
	}
	return fillSections([]byte(text), pace)
}
