// Package compare shows what differs between two archived versions of a URI, for people.
//
// [Compare] reads the payloads of two captures and returns [Comparison]: rows of lines, side by side. The lines are
// the text that a reader sees, the source, or the response header. Unchanged lines far from a difference are folded.
// Parts that a scrubbing rule of the host leaves out are marked with the rule and count as equal.
//
// Pages come from strangers. Each comparison has a bound for the bytes that are read, for the length of a line, and for
// the number of rows; the answer says what was left out. Control characters, and characters that change the direction
// of writing, are replaced by their code points.
package compare
