// Package policy works out the rules that apply to a URI: its scope, what robots.txt allows, and how long its host
// rests between requests. It combines the configuration with what the frontier remembers.
//
// The crawler obeys these rules at each visit, and the what-if tools explain them.
package policy
