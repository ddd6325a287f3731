// Package importer reads earlier archives into a dedup index, so that a crawl does not store their payloads again.
//
// It reads WARC and ARC files, WACZ packages, CDX and CDXJ indexes, crawl logs, and manifests that list packages.
package importer
