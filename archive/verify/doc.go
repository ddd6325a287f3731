// Package verify checks archives: each byte, each digest, each reference from record to record.
//
// [Files] reads WARC files and WACZ packages and reports everything that is wrong as a [warc.Finding]. It first checks
// each record by itself, several files at a time. Then it follows the references between records.
package verify
