// Package pack makes WACZ packages for people with a browser: of one version with what it shows, or of the captures of
// a collection and a period. A package is made in the background, one at a time, and the last ones are kept.
//
// Everything is bounded: the captures and bytes of a package, the packages that wait, and those that are kept. What is
// too large is refused with the command that makes it.
package curator
