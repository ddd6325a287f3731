// Package captures looks captures up in an archive: their history and their payloads, following revisits to their
// originals.
//
//	Library     the files of a folder, with their indexes
//	LiveReader  an archive that is being written
//
// Damage in the archive is a [warc.Finding] and does not end the work.
package captures
