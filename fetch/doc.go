// Package fetch makes one HTTP exchange and keeps every byte of it.
//
// [Client.Fetch] sends a GET request over HTTP/1.1 and gives back a [Capture]: the exact bytes of the request and of
// the response (order and case of header fields, line ends, chunked framing, trailers, content coding), the three
// digests, and what went wrong, if anything did. What the web does is in the Capture; a Go error means that we
// ourselves could not go on (a full disk, a request that may not be sent) or that the context was cancelled.
//
// # The life of an exchange
//
//  1. Connect: an idle connection to the same scheme and address is used if it is still open and silent, else a new one
//     is dialled ([Limits].Connect covers name resolution, TCP and TLS together).
//  2. Head: the request is written and the response head is read, against one point in time ([Limits].Headers); bytes
//     that drip do not extend it. Informational responses (1xx, but not 101) are dropped: they are no part of the
//     record.
//  3. Stop: if the response has a body to transfer, [Request].Stop sees the head. If it says true the connection is
//     closed at once, undrained; the Capture is Stopped and its block is the head alone.
//  4. Body: read to its proper end, or until [Limits].Body is over ("time"), or [Limits].MaxBody raw bytes are in
//     ("length"), or the connection or its framing breaks ("disconnect"). What was received is kept.
//  5. The connection is kept for the next visit if the response ended properly, nothing came after it, and neither side
//     wants it closed.
//
// If an idle connection was used and it ends before any byte of an answer, the exchange is made once more on a new one.
// Nothing else is ever tried twice. Redirects are not followed, cookies are not kept, proxies are not used.
//
// # Statuses
//
// Capture.Status is the HTTP status, or one of Heritrix's negative codes:
//
//	  -1  DNSFailed       the host name could not be resolved
//	  -2  ConnectFailed   no connection: refused, unreachable, a forbidden network (ErrForbiddenAddress), TLS, out of time
//	  -3  ConnectionLost  the connection was reset, or ended inside the head
//	  -4  TimedOut        the head was not complete in time
//	  -5  NotHTTP         the answer is not HTTP, or its head is longer than MaxHead
//	-404  EmptyReply      the server closed the connection without a byte of an answer
//
// With a negative status there is no response: the block is empty, and Head holds whatever bytes were received, as
// evidence. A head that net/http refuses but that has a status line is read leniently: lines that are no header fields
// are passed over, contradictory Content-Length fields count as none, and a transfer coding that does not end in
// chunked means that the body ends with the connection.
//
// # Digests and sizes
//
// The block digest is of the raw response bytes and set whenever there is a response. The payload digest is of the
// body without transfer coding but with its content coding, the content digest of the body with its content coding
// undone too. Payload and content digest are set only if the body is Complete, so that an incomplete body is never
// taken for another; a 304 has neither. The content codings gzip, deflate (zlib or bare), br and zstd are undone, up
// to four in sequence, and up to MaxContent bytes at each step. Where that fails the content digest is zero,
// Capture.Misfortune and [Capture.Content] say why, and the record is whole all the same. A body without content
// coding has a content digest whatever its size.
//
// # The request
//
// It is: request line, Host, [Request].Header in the given order, and last "Connection: keep-alive" ("close" if
// MaxIdle is negative). HTTP/1.1 connections persist without it; it is sent for HTTP/1.0 servers, which close
// otherwise. The caller chooses Accept-Encoding; only codings that this package undoes should be in it.
//
// # Security
//
// The dialer made by [Guard] refuses, when it connects, every address that is not public; a Client without
// Options.Dial uses one that allows no exception. TLS is 1.2 or later unless Options.TLS has another MinVersion,
// certificates are verified unless Options.TLS says otherwise, and ALPN offers http/1.1 only.
//
// # Invariants
//
//   - A block is a contiguous run of the bytes that the server sent for this response, from the first byte of its head.
//   - Memory for one fetch is bounded: about 100 KiB, SpoolMemory, a few times the head (at most MaxHead), and a
//     window for each content coding (gzip and deflate 32 KiB, zstd 8 MiB, br 16 MiB at most).
//   - At most one idle connection for each scheme and address, at most MaxIdle altogether. Idle connections over their
//     time are closed when the client is next used; no goroutine waits for them.
//   - Spool files have no name while they are in use (where the system allows it): a killed process leaves none behind.
package fetch
