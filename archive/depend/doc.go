// Package depend keeps an index of what depends on what in an archive, so that nobody has to read the archive to learn
// which files need which, or what a lost file held.
//
// The index is in the folder deps below the WARC files. It covers finished files. It has four kinds of lines:
//
//	f  a capture by its file: offset, date, digest of the payload, URI; for a revisit also the moment of its original
//	o  a capture by its moment, that is URI and date; or a revisit by the moment of its original
//	d  the file of a payload, by its digest
//	x  a file with revisits that do not name their originals by URI and date, which the index cannot follow
//
// The lines are sorted by bytes and lie in several files, called runs. A finished WARC file adds a small run. When
// eight runs are of similar size they are merged into one, so that each line is written again only a few times. Next to
// each run are its fences, which say where lines are, and the list of the WARC files that it covers, as they were.
// Lines about a WARC file count if it is as it was, or if it is not there any more: then they say what is lost.
//
// An index that is missing or old makes answers slower, never wrong: files that it does not cover are read.
//
// A [Survey] answers the same questions of the files that it reads, and holds their captures in memory. Verifying,
// rewriting and packing look up the originals of revisits in it.
package depend
