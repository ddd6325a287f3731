// Package h2 makes one exchange after another over a connection that speaks HTTP/2 (RFC 9113), and returns each answer
// in the form of HTTP/1.1.
//
// [Conn.Ask] sends a request and [Conn.Head] returns the head of its answer: a status line with the usual reason, then
// the header fields in the order and case in which they came. [Conn.Read] returns the bytes of the body. [Conn.Finish]
// ends the exchange, with RST_STREAM if the answer is not whole, so that the connection can be used again.
//
// # What is lost
//
// The bytes on the wire: frames, padding and the compression of the head. Informational answers and trailers are
// dropped. So are the fields of a connection (Connection, Keep-Alive, Proxy-Connection, Transfer-Encoding, Upgrade),
// which an answer must not have, and which would change what the HTTP/1.1 form means. Nothing is added.
//
// # Bounds
//
// There is one stream at a time, and the server cannot push. It may send a window of data ahead, 1 MiB. Everything that
// is not data, such as SETTINGS, PING, padding and empty frames, may have 256 KiB, twice the maximum of the head, and
// ten bytes for each byte of data. Of an exchange that was ended early, one more window of data may come. Deadlines are
// the caller's, who owns the connection.
package h2
