// Package mail sends alarms and digests by e-mail (SMTP, RFC 5321).
//
// [Compose] makes the text of a message, [Send] delivers it to the configured server. [Alarms] and [Digest] write what
// the messages say, each for one recipient: somebody who receives only hosts with a label is not told of others.
package mail
