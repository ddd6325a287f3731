package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// shortest is the least duration that counts as one.
const shortest = time.Millisecond

// reader turns the value of a key into a field of the draft, or into faults.
type reader struct {
	kind string // for the reference page
	read func(f field, d *draft)
	text func(d *draft) string // the value as TOML; nil: as the file has it
}

// duration reads a duration in Prometheus' syntax within bounds.
func duration(least, most time.Duration, at func(*draft) *time.Duration) reader {
	return reader{
		kind: "duration, " + spell(least) + " to " + spell(most),
		text: func(d *draft) string { return strconv.Quote(spell(*at(d))) },
		read: func(f field, d *draft) {
			s, ok := f.quantity(`for example "90s", "12h" or "28d"`, [3]string{"s", "m", "h"})
			if !ok {
				return
			}
			v, problem, remedy := parseDuration(s)
			switch {
			case problem != "":
				f.fault(problem, remedy)
			case v < least:
				f.fault("is too short", "at least "+strconv.Quote(spell(least)))
			case v > most:
				f.fault("is too long", "at most "+strconv.Quote(spell(most)))
			default:
				*at(d) = v
			}
		},
	}
}

// digits is what numbers are made of.
const digits = "0123456789"

type durationUnit struct {
	name string
	unit time.Duration
}

// durationUnits are the units of durations, largest first. A year has 365 days, a day 24 hours.
var durationUnits = []durationUnit{
	{"y", 365 * day},
	{"w", 7 * day},
	{"d", day},
	{"h", time.Hour},
	{"m", time.Minute},
	{"s", time.Second},
	{"ms", time.Millisecond},
}

// parseDuration reads Prometheus' syntax: whole numbers, each with its unit, the larger units first.
func parseDuration(s string) (v time.Duration, problem, remedy string) {
	const example = `write a duration such as "90s", "12h" or "28d"`
	switch {
	case s == "":
		return 0, "is empty", example
	case strings.Trim(s, digits) == "":
		return 0, "has no unit", fmt.Sprintf(`write "%ss", "%sm" or "%sh"`, s, s, s)
	case s[0] == '-':
		return 0, "is negative", example
	case strings.ContainsAny(s, " \t"):
		joined := strings.Join(strings.Fields(s), "")
		if _, problem, _ := parseDuration(joined); problem != "" {
			return 0, "is not a duration", example
		}
		return 0, "has a space in it", "write " + strconv.Quote(joined)
	case strings.ContainsAny(s, ".,"):
		return 0, "is not a whole number of units", `use the next smaller unit, as in "90m" or "1h30m"`
	}
	rest, units := s, durationUnits
	for rest != "" {
		after := strings.TrimLeft(rest, digits)
		number := rest[:len(rest)-len(after)]
		rest = strings.TrimLeftFunc(after, func(r rune) bool { return !strings.ContainsRune(digits, r) })
		name := after[:len(after)-len(rest)]
		i := slices.IndexFunc(units, func(u durationUnit) bool { return u.name == name })
		if number == "" || i < 0 {
			return 0, "is not a duration", `the units are y, w, d, h, m, s, ms, the larger before the smaller, as in "1d12h" or "1h30m"`
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n > int64((math.MaxInt64-v)/units[i].unit) {
			return 0, "is too long", example
		}
		v += time.Duration(n) * units[i].unit
		units = units[i+1:]
	}
	return v, "", ""
}

// spell writes a duration as the files do, days being the largest unit: "1d12h", "1m30s".
func spell(d time.Duration) string {
	if d < time.Millisecond {
		return "0s"
	}
	var b strings.Builder
	for _, u := range durationUnits[2:] {
		if n := d / u.unit; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, u.name)
			d -= n * u.unit
		}
	}
	return b.String()
}

// sizeUnits are the units of sizes, largest first.
var sizeUnits = []struct {
	name string
	unit int64
}{
	{"TiB", 1 << 40},
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"TB", 1e12},
	{"GB", 1e9},
	{"MB", 1e6},
	{"KB", 1e3},
	{"kB", 1e3},
	{"B", 1},
}

// size reads a number of bytes with its unit within bounds.
func size(least, most int64, at func(*draft) *int64) reader {
	return reader{
		kind: "size, " + spellSize(least) + " to " + spellSize(most),
		text: func(d *draft) string { return strconv.Quote(spellSize(*at(d))) },
		read: func(f field, d *draft) {
			s, ok := f.quantity(`for example "256KiB", "500MB" or "1GiB"`, [3]string{"B", "KiB", "MiB"})
			if !ok {
				return
			}
			v, problem, remedy := parseSize(s)
			switch {
			case problem != "":
				f.fault(problem, remedy)
			case v < least:
				f.fault("is too small", "at least "+strconv.Quote(spellSize(least)))
			case v > most:
				f.fault("is too large", "at most "+strconv.Quote(spellSize(most)))
			default:
				*at(d) = v
			}
		},
	}
}

func parseSize(s string) (v int64, problem, remedy string) {
	const example = `write a size such as "256KiB", "500MB" or "1GiB"`
	number := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	name := s[len(number):]
	switch {
	case s == "":
		return 0, "is empty", example
	case strings.ContainsAny(s, " \t"):
		joined := strings.Join(strings.Fields(s), "")
		if _, problem, _ := parseSize(joined); problem != "" {
			return 0, "is not a size", example
		}
		return 0, "has a space in it", "write " + strconv.Quote(joined)
	case number != "" && strings.Trim(number, digits) == "" && name == "":
		return 0, "has no unit", fmt.Sprintf(`write "%sB", "%sKiB" or "%sMiB"`, s, s, s)
	case number == "" || strings.Trim(number, digits) != "":
		return 0, "is not a whole number with a unit", example
	}
	for _, u := range sizeUnits {
		if u.name != name {
			continue
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n > math.MaxInt64/u.unit {
			return 0, "is too large", example
		}
		return n * u.unit, "", ""
	}
	return 0, "has an unknown unit", "the units are B, kB, MB, GB, TB (thousands) and KiB, MiB, GiB, TiB (1024s)"
}

// spellSize writes a size with the largest unit that divides it.
func spellSize(n int64) string {
	if n == 0 {
		return "0B"
	}
	for _, u := range sizeUnits {
		if n%u.unit == 0 {
			return strconv.FormatInt(n/u.unit, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

// whole reads an integer within bounds.
func whole[T int | int64](least, most T, at func(*draft) *T) reader {
	return reader{
		kind: fmt.Sprintf("whole number, %d to %d", least, most),
		text: func(d *draft) string { return fmt.Sprint(*at(d)) },
		read: func(f field, d *draft) {
			v, ok := f.value.(int64)
			switch {
			case !ok:
				f.wrongType("a whole number", f.unquoted(fmt.Sprintf("a number from %d to %d, without quotes or decimals", least, most)))
			case v < int64(least):
				f.fault("is too small", fmt.Sprintf("at least %d", least))
			case v > int64(most):
				f.fault("is too large", fmt.Sprintf("at most %d", most))
			default:
				*at(d) = T(v)
			}
		},
	}
}

// number reads a finite number within bounds; a whole one will do.
func number(least, most float64, at func(*draft) *float64) reader {
	return reader{
		kind: fmt.Sprintf("number, %g to %g", least, most),
		text: func(d *draft) string { return show(*at(d)) },
		read: func(f field, d *draft) {
			v, ok := f.value.(float64)
			if n, isWhole := f.value.(int64); isWhole {
				v, ok = float64(n), true
			}
			switch {
			case !ok:
				f.wrongType("a number", f.unquoted("a number such as 1.5, without quotes"))
			case math.IsNaN(v) || math.IsInf(v, 0):
				f.fault("is not finite", fmt.Sprintf("write a number from %g to %g", least, most))
			case v < least:
				f.fault("is too small", fmt.Sprintf("at least %g", least))
			case v > most:
				f.fault("is too large", fmt.Sprintf("at most %g", most))
			default:
				*at(d) = v
			}
		},
	}
}

// boolean reads true or false.
func boolean(at func(*draft) *bool) reader {
	return reader{
		kind: "true or false",
		text: func(d *draft) string { return strconv.FormatBool(*at(d)) },
		read: func(f field, d *draft) {
			v, ok := f.value.(bool)
			if !ok {
				f.wrongType("true or false", f.unquoted("true or false, without quotes"))
				return
			}
			*at(d) = v
		},
	}
}

// choice reads one of a few values by its name.
func choice[T any](at func(*draft) *T, values ...T) reader {
	words, quoted := make([]string, len(values)), make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprint(v)
		quoted[i] = strconv.Quote(words[i])
	}
	list := strings.Join(quoted, ", ")
	if last := strings.LastIndex(list, ", "); last >= 0 {
		list = list[:last] + " or " + list[last+len(", "):]
	}
	return reader{
		kind: list,
		text: func(d *draft) string { return strconv.Quote(fmt.Sprint(*at(d))) },
		read: func(f field, d *draft) {
			s, ok := f.text(list)
			if !ok {
				return
			}
			if i := slices.Index(words, s); i >= 0 {
				*at(d) = values[i]
				return
			}
			remedy := "accepted: " + list
			if near, ok := nearest(s, words); ok {
				remedy += fmt.Sprintf("; did you mean %q?", near)
			}
			f.fault("is not accepted", remedy)
		},
	}
}
