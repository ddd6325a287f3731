// Package messages reports alarms to webhooks and by e-mail (SMTP, RFC 5321). [AlarmMail] and [DigestMail] write what a
// message says, each for one recipient, because somebody who receives only hosts with a label is not told of others.
// [ComposeMail] makes its text, [SendMail] delivers it to the configured server.
package messages
