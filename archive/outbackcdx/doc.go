// Package outbackcdx sends the lines of an index to an OutbackCDX server.
//
// A [Collection] sends entries and finds the lines that the server refuses. A [Queue] holds the lines of a running
// crawl on disk until the server has taken them. A [Push] sends the index of finished WARC files.
package outbackcdx
