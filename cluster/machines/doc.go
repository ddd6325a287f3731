// Package machines tests nodes as processes: they are killed, frozen, cut off and taken over from.
package machines
