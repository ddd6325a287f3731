// Package captures looks captures up in an archive: their history and their payloads, following revisits to their
// originals. And it shows for people what differs between two of them.
//
//	Library     the files of a folder, with their indexes
//	LiveReader  an archive that is being written
//	Compare     two versions of a URI, side by side
//
// Damage in the archive is a [warc.Finding] and does not end the work.
//
// [Compare] returns a [Comparison]: rows of lines. The lines are the text that a reader sees, the source, or the
// response header. Unchanged lines far from a difference are folded. Parts that a scrubbing rule of the host leaves out
// are marked with the rule and count as equal.
//
// Pages come from strangers. Each comparison has a bound for the bytes that are read, for the length of a line, and for
// the number of rows; the answer says what was left out. Control characters, and characters that change the direction
// of writing, are replaced by their code points.
package captures
