package schema

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxShown bounds the values that messages show, in characters.
const maxShown = 60

// Show returns a decoded TOML value as the file writes it, shortened. It returns "" for dates, lists and tables.
func Show(v any) string {
	switch v := v.(type) {
	case string:
		return Clip(strconv.Quote(v))
	case float64:
		s := strings.ToLower(strconv.FormatFloat(v, 'g', -1, 64))
		if !strings.ContainsAny(s, ".ein") {
			s += ".0"
		}
		return s
	case time.Time, []any, []map[string]any, map[string]any:
		return ""
	}
	return Clip(fmt.Sprint(v))
}

// Clip shortens a text to what fits in a message.
func Clip(s string) string {
	if r := []rune(s); len(r) > maxShown {
		return string(r[:maxShown]) + "…"
	}
	return s
}

// TOML returns a decoded value as TOML on one line.
func TOML(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case []any:
		return list(v)
	case []string:
		return list(v)
	case []map[string]any:
		return list(v)
	case map[string]any:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, name+" = "+TOML(v[name]))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case time.Time:
		return v.Format(time.RFC3339)
	}
	return Show(v)
}

func list[E any](elements []E) string {
	parts := make([]string, len(elements))
	for i, e := range elements {
		parts[i] = TOML(e)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
