// Package survey holds the captures of many WARC files in memory, and which capture refers to which.
//
// It answers which file needs which other file ([Survey.Dependencies]), and what the loss of files would cost
// ([Survey.Impact]). Rewriting and packing look up the originals of revisits in it.
package survey
