// Package fetch makes one HTTP exchange and keeps every byte of it.
//
// [Client.Fetch] sends a GET request, or the POST of a form, and returns a [Capture]. It holds the exact bytes of the
// request and of the response: order and case of header fields, line ends, chunked framing, trailers, content coding.
// It also holds the digests, and the reason if something went wrong. Everything that a server does is in the Capture.
// A Go error means a problem on our side (a full disk, a request that is not allowed) or that the context was
// cancelled. A [Way] says how to connect where that differs from the usual, for example through a proxy.
//
// # The life of an exchange
//
//  1. Connect: an idle connection to the same scheme and address is used if it is still open and silent. Otherwise a
//     new one is dialled. [Limits].Connect covers name resolution, TCP and TLS together.
//  2. Head: the request is written and the response head is read, both before one point in time ([Limits].Headers). A
//     server that sends single bytes does not extend it. If the head does not come, the connection is reset, so that
//     the kernel does not send the request later. Informational responses (1xx, except 101) are dropped and are not
//     part of the record.
//  3. Stop: if there is a body to transfer, [Request].Stop receives the head. If it returns true, the connection is
//     closed at once without reading the body. The Capture is Stopped and its block is the head alone.
//     Then [Request].Space is asked for disk space. Where it refuses, the Capture is Refused, and its block is the
//     head alone.
//  4. Body: it is read to its proper end, until [Limits].Body is over or fewer than [Limits].MinRate bytes come a
//     second ("time"), until [Limits].MaxBody raw bytes have been read ("length"), or until the connection or its
//     framing breaks ("disconnect"). All bytes received are kept.
//  5. The connection is kept for the next visit if the response ended properly, nothing came after it, and neither side
//     wants to close it.
//
// If nothing can be sent on an idle connection, a new one is used. If the request was sent on an idle connection, which
// then ends before any byte of an answer, the capture says so in Repeat: nothing that may have reached the server is
// repeated without the rest that the caller owes it. Redirects are not followed, and cookies are not kept.
//
// # Statuses
//
// Capture.Status is the HTTP status, or one of Heritrix's negative codes:
//
//	  -1  DNSFailed       the host name could not be resolved
//	  -2  ConnectFailed   no connection: refused, unreachable, forbidden (ErrForbiddenAddress), TLS failed, timed out
//	  -3  ConnectionLost  the connection was reset, or ended inside the head
//	  -4  TimedOut        the head was not complete in time
//	  -5  NotHTTP         the answer is not HTTP, or its head is longer than MaxHead
//	-404  EmptyReply      the server closed the connection without sending a byte
//
// With a negative status there is no response: the block is empty, and Head holds the bytes received, as evidence.
//
// A head that net/http refuses but that has a status line is read leniently. Lines that are not header fields are
// skipped, control characters become blanks, folded lines are joined, and contradictory Content-Length fields are
// ignored. Capture.Repaired counts such lines. If a transfer coding does not end in chunked, the body
// ends with the connection.
//
// # HTTP/2
//
// Over TLS HTTP/2 is used if [Request].HTTP asks for it, or if the server refuses HTTP/1.1 or does not understand it.
// The client remembers such a server. Request, head and block then have the form of HTTP/1.1, as package h2 describes,
// and [Capture].HTTP2 is true. All limits hold. A download that is ended early resets its stream, and the connection is
// used again. A server that says that it did not process the request is asked again (Repeat).
//
// # Digests and sizes
//
// The block digest covers the raw bytes of the response; it is set whenever there is a response. The payload digest
// covers the body without transfer coding but with its content coding. The content digest covers the body with its
// content coding undone too. Payload and content digest are set only if the body is Complete, so that an incomplete
// body never passes for another one. A 304 has neither.
//
// The content codings gzip, deflate (with or without zlib wrapper), br and zstd are undone, up to four in sequence,
// and up to MaxContent bytes at each step. If that fails, the content digest is zero, Capture.Misfortune and
// [Capture.Content] say why, and the record is still whole. A body without content coding has a content digest
// whatever its size.
//
// # The request
//
// A request consists of the request line, Host, [Request].Header in its order, and "Connection: keep-alive" ("close" if
// MaxIdle is negative). HTTP/1.1 connections persist without that field; it is meant for HTTP/1.0 servers, which close
// otherwise. The caller chooses Accept-Encoding, and should only name codings that this package undoes.
//
// # Security
//
// The dialer that [Guard] returns refuses, at the moment of connecting, every address that is not public. A Client
// without Options.Dial uses one without exceptions. TLS is 1.2 or later unless Options.TLS has another MinVersion,
// certificates are verified unless Options.TLS says otherwise, and ALPN offers http/1.1 unless [Request].HTTP says
// otherwise.
//
// # Invariants
//
//   - Over HTTP/1.1 a block is a contiguous run of the bytes that the server sent for this response, from the first
//     byte of its head.
//   - Memory for one exchange is bounded: about 100 KiB, SpoolMemory, a few times the head (at most MaxHead), and a
//     window for each content coding (gzip and deflate 32 KiB, zstd 8 MiB, br 16 MiB at most).
//   - There is at most one idle connection for each scheme and address, and at most MaxIdle in total. Connections that
//     were idle for too long are closed when the client is next used; no goroutine waits for them.
//   - Spool files have no name while they are in use, where the system allows it. So a killed process leaves none
//     behind.
package fetch
