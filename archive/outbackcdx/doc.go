// Package outbackcdx sends the lines of an index to an OutbackCDX server.
//
// A [Queue] holds lines on disk until the server has taken them.
package outbackcdx
