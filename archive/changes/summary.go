package changes

import (
	"fmt"
	"strings"
)

// String returns a change in words: "headline (“Old” → “New”), text (−3 +12 words), links (−2 +3)".
func (c Change) String() string {
	if c.Problem != "" {
		return c.Problem
	}
	var parts []string
	for _, k := range c.Kinds {
		detail := ""
		switch k {
		case Withdrawn:
			if c.Versions > 0 {
				detail = fmt.Sprintf("after %d versions", c.Versions)
			}
		case Moved:
			detail = "to " + c.To
		case Wall:
			detail = c.Wall
		case Headline:
			detail = fmt.Sprintf("“%s” → “%s”", c.Headlines[0], c.Headlines[1])
		case Text:
			detail = c.Words.String() + " words"
		case Entries:
			detail = c.Links.String()
			if c.Links.total() == 0 {
				detail = "other words or order"
			}
		case Images:
			detail = c.Pictures.String()
		}
		if detail != "" {
			detail = " (" + detail + ")"
		}
		parts = append(parts, string(k)+detail)
	}
	return strings.Join(parts, ", ")
}

// String returns what went and what came: "−2 +3".
func (s Size) String() string { return fmt.Sprintf("−%d +%d", s.Removed, s.Added) }
