package sim_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/invented.jsonl again")

// invented returns a small corpus with known habits. Its pages change at random, at even intervals, in bursts, only by
// day, less and less often, or hardly ever.
func invented() []byte {
	random := rand.New(rand.NewPCG(2026, 1))
	const days = 40
	var out bytes.Buffer
	write := func(id, source, kind string, born bool, gap func(at float64) float64) {
		var gaps []int
		end := days * 86400.0
		for hour := 0.0; ; {
			g := math.Max(1, math.Round(gap(hour)))
			if hour += g; hour > end || len(gaps) > 3000 {
				break
			}
			gaps = append(gaps, int(g))
		}
		text, err := json.Marshal(map[string]any{
			"id": id, "src": source, "kind": kind, "host": source + ".example", "start": 1767571200, "end": 1767571200 + int64(end),
			"sampling_s": 60, "birth": born, "n": len(gaps), "dt": gaps,
		})
		if err != nil {
			panic(err)
		}
		out.Write(append(text, '\n'))
	}
	for i := range 8 {
		mean := 1800 * math.Pow(3, float64(i%4))
		write(fmt.Sprint("random", i), "random", "section", false, func(float64) float64 { return mean * random.ExpFloat64() })
		write(fmt.Sprint("even", i), "even", "json", false, func(float64) float64 { return mean * (0.9 + 0.2*random.Float64()) })
		write(fmt.Sprint("bursts", i), "bursts", "feed", false, func(float64) float64 {
			if random.Float64() < 0.8 {
				return mean / 4
			}
			return 5 * mean * random.ExpFloat64()
		})
		write(fmt.Sprint("daily", i), "daily", "front page", false, func(at float64) float64 {
			g := mean / 2 * random.ExpFloat64()
			if next := math.Mod(at+g, 86400); next > 43200 { // no changes at night
				g += 86400 - next
			}
			return g
		})
		write(fmt.Sprint("article", i), "articles", "article", true, func(at float64) float64 { return (at + 600) * 1.5 * random.ExpFloat64() })
		write(fmt.Sprint("still", i), "still", "terms", false, func(float64) float64 { return 30 * 86400 * random.ExpFloat64() })
	}
	return out.Bytes()
}

func TestTheInventedCorpusEqualsItsFile(t *testing.T) {
	t.Parallel()
	want := invented()
	if *update {
		if err := os.WriteFile("testdata/invented.jsonl", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("testdata/invented.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("testdata/invented.jsonl differs from the output of invented: run go test ./lab/sim -update")
	}
}
