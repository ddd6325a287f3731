// Package index makes CDXJ indexes of WARC files. Package captures looks captures up in them.
//
//	Build, WriteFile  make a sorted index of files, in memory that does not grow with it
//	Live              keeps the index of an archive while the archive is written
//
// An [Entry] is one line of an index. Damage in the archive is a [warc.Finding] and does not end the work.
//
// # The files of an index
//
// An index is stored in the folder of the archive under the name [FileName]. A second file with the suffix .files lists
// the WARC files that the index covers, with size and time of change. A reader trusts the index for exactly these
// files, and reads all others itself. A live index has two more files: see [Live].
package index
