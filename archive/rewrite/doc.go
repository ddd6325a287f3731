// Package rewrite makes new WARC files from the records of others, so that the new files do not depend on any other
// file.
//
// A revisit whose original would be left out becomes a response with the payload of the original. All other records are
// copied byte for byte. Nothing that exists is changed or overwritten.
package rewrite
