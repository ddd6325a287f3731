// Package changes says what a reader sees that changed between two versions of an HTML page.
//
//	Read     what a reader sees of a version: blocks of text, links, pictures
//	Article  the main text of it: headline, author, date, paragraphs
//	Between  a Change: its kinds, and how large it is
//
// The blocks of both versions are compared, whether they belong to the article or not, so that no change that a reader
// sees is called nothing. A library then says which of them are the article; where it is wrong, a change of the text is
// called a change around it.
//
// Pages come from strangers. Bytes, elements, their nesting, and the bytes that are compared word by word have a bound;
// what was not read is a note of the change. Nothing here reads a clock, a file or the network.
package changes
