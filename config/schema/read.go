package schema

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/internal/human"
)

// ReadText reads a text, which check must accept. A nil check accepts every text.
func (t Type) ReadText(f Field, check Check) (string, bool) {
	s, ok := f.Text("a text in quotes")
	if !ok || check == nil || s == "" && t.Optional {
		return s, ok
	}
	if problem, remedy := check(s); problem != "" {
		f.Fault(problem, remedy)
		return "", false
	}
	return s, true
}

// ReadBoolean reads true or false.
func ReadBoolean(f Field) (v, ok bool) {
	if v, ok = f.Value.(bool); !ok {
		f.WrongType("true or false", f.Unquoted("true or false, without quotes"))
	}
	return v, ok
}

// ReadWhole reads a whole number within bounds.
func (t Type) ReadWhole(f Field) (int64, bool) {
	v, ok := f.Value.(int64)
	if !ok {
		wanted := fmt.Sprintf("a number from %s, without quotes or decimals", t.bounds())
		f.WrongType("a whole number", f.Unquoted(wanted))
		return 0, false
	}
	return v, t.fits(f, float64(v))
}

// ReadNumber reads a finite number within bounds, with or without decimals.
func (t Type) ReadNumber(f Field) (float64, bool) {
	v, ok := f.Value.(float64)
	if n, isWhole := f.Value.(int64); isWhole {
		v, ok = float64(n), true
	}
	switch {
	case !ok:
		f.WrongType("a number", f.Unquoted("a number such as 1.5, without quotes"))
		return 0, false
	case math.IsNaN(v) || math.IsInf(v, 0):
		f.Fault("is not finite", "write a number from "+t.bounds())
		return 0, false
	}
	return v, t.fits(f, v)
}

// ReadDuration reads a duration within bounds.
func (t Type) ReadDuration(f Field) (time.Duration, bool) {
	s, ok := f.Quantity(`for example "90s", "12h" or "28d"`, [3]string{"s", "m", "h"})
	if !ok {
		return 0, false
	}
	v, err := human.ParseDuration(s)
	if err != nil {
		f.Fault(explain(err))
		return 0, false
	}
	return v, t.fits(f, float64(v)/float64(time.Millisecond))
}

// ReadSize reads a number of bytes within bounds.
func (t Type) ReadSize(f Field) (int64, bool) {
	s, ok := f.Quantity(`for example "256KiB", "500MB" or "1GiB"`, [3]string{"B", "KiB", "MiB"})
	if !ok {
		return 0, false
	}
	v, err := human.ParseSize(s)
	if err != nil {
		f.Fault(explain(err))
		return 0, false
	}
	return v, t.fits(f, float64(v))
}

// explain returns problem and remedy of a duration or size that cannot be read.
func explain(err error) (problem, remedy string) {
	var bad *human.SyntaxError
	if errors.As(err, &bad) {
		return bad.Problem, bad.Remedy
	}
	return err.Error(), ""
}

// ReadChoice reads one of the choices and returns its index. If the last choice takes a duration, every is that
// duration.
func (t Type) ReadChoice(f Field) (i int, every time.Duration, ok bool) {
	s, ok := f.Text(t.String())
	if !ok {
		return 0, 0, false
	}
	words := t.Choices
	if t.Every {
		last := len(words) - 1
		if text, cut := strings.CutPrefix(s, words[last]+" "); cut {
			every, ok = t.every(f, text)
			return last, every, ok
		}
		words = words[:last]
	}
	if i = slices.Index(words, s); i >= 0 {
		return i, 0, true
	}
	remedy := "accepted: " + t.String()
	if near, ok := Nearest(s, words); ok && !t.Every {
		remedy += fmt.Sprintf("; did you mean %q?", near)
	}
	if t.Every {
		remedy += `, as in "` + t.Choices[len(words)] + ` 7d"`
	}
	f.Fault("is not accepted", remedy)
	return 0, 0, false
}

// every reads the duration behind the last choice.
func (t Type) every(f Field, text string) (time.Duration, bool) {
	v, err := human.ParseDuration(text)
	if err != nil {
		problem, remedy := explain(err)
		f.Fault("has no period: "+problem, remedy)
		return 0, false
	}
	if v < time.Second || v > Longest {
		f.Fault("has a period out of bounds", `write from "1s" to "`+human.Duration(Longest)+`"`)
		return 0, false
	}
	return v, true
}

// Longest is the maximum of all durations. A longer one is probably a mistaken unit.
const Longest = 3650 * 24 * time.Hour
