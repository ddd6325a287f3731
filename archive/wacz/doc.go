// Package wacz makes and checks WACZ packages, in version 1.1.1 of the specification.
//
// A package is a ZIP file with WARC files, an index of their captures, a list of pages, and a manifest with the digest
// of each file. [Write] makes one. [Check] compares one with its manifest.
package wacz
