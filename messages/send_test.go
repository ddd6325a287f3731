package messages

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/archivetest"
)

// server is a mail server on the loopback. It takes one connection.
type server struct {
	address string
	secret  *tls.Config // for tls and starttls
	roots   *x509.CertPool
	log     []string // commands
	text    string   // of the message
	done    chan struct{}
}

// serve starts a server. refuse is the command that it answers with an error.
func serve(t *testing.T, implicit bool, refuse string) *server {
	t.Helper()
	certified := httptest.NewTLSServer(nil)
	defer certified.Close()
	s := &server{done: make(chan struct{}), roots: x509.NewCertPool()}
	s.secret = &tls.Config{Certificates: certified.TLS.Certificates}
	s.roots.AddCert(certified.Certificate())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	archivetest.Must(t, err)
	s.address = l.Addr().String()
	go func() {
		defer close(s.done)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		if implicit {
			conn = tls.Server(conn, s.secret)
		}
		s.talk(conn, refuse)
	}()
	t.Cleanup(func() { _ = l.Close(); <-s.done })
	return s
}

// talk answers the commands of a client.
func (s *server) talk(conn net.Conn, refuse string) {
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	fmt.Fprint(conn, "220 test ESMTP\r\n")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSpace(line)
		s.log = append(s.log, line)
		verb, _, _ := strings.Cut(line, " ")
		switch {
		case verb == refuse:
			fmt.Fprint(conn, "550 not here\r\n")
		case verb == "EHLO":
			fmt.Fprint(conn, "250-test\r\n250-STARTTLS\r\n250 AUTH PLAIN\r\n")
		case verb == "STARTTLS":
			fmt.Fprint(conn, "220 go ahead\r\n")
			conn = tls.Server(conn, s.secret)
			in = bufio.NewReader(conn)
		case verb == "AUTH":
			fmt.Fprint(conn, "235 welcome\r\n")
		case verb == "DATA":
			fmt.Fprint(conn, "354 go ahead\r\n")
			for {
				text, err := in.ReadString('\n')
				if err != nil || text == ".\r\n" {
					break
				}
				s.text += text
			}
			fmt.Fprint(conn, "250 taken\r\n")
		case verb == "QUIT":
			fmt.Fprint(conn, "221 bye\r\n")
			return
		default:
			fmt.Fprint(conn, "250 ok\r\n")
		}
	}
}

// TestMailIsDelivered sends a message with each kind of encryption, and reads it as a mail program does.
func TestMailIsDelivered(t *testing.T) {
	t.Parallel()
	password := filepath.Join(t.TempDir(), "password")
	archivetest.Must(t, os.WriteFile(password, []byte("geheim\n"), 0o600))
	m := mail{
		From: "arcrawl@library.example", To: "press@library.example", Subject: "arcrawl: host: müller.example\r\nBcc: x@evil.example",
		Body: "Überfällig: " + strings.Repeat("ä", 200) + "\n.\nend\n", Date: time.Date(2026, 11, 22, 7, 0, 0, 0, time.UTC),
	}
	for _, security := range []config.Security{config.StartTLS, config.Implicit, config.None} {
		t.Run(string(security), func(t *testing.T) {
			t.Parallel()
			s := serve(t, security == config.Implicit, "")
			err := exchange(t.Context(), config.Mail{Server: s.address, Security: security, User: "arcrawl", PasswordFile: password}, m, s.roots)
			<-s.done
			if err != nil {
				t.Fatalf("%v after %q", err, s.log)
			}
			secret := base64.StdEncoding.EncodeToString([]byte("\x00arcrawl\x00geheim"))
			if log := strings.Join(s.log, "\n"); !strings.Contains(log, "AUTH PLAIN "+secret) ||
				!strings.Contains(log, "RCPT TO:<press@library.example>") ||
				(security == config.StartTLS) != strings.Contains(log, "STARTTLS") {
				t.Errorf("the server received\n%s", log)
			}
			got, err := netmail.ReadMessage(strings.NewReader(s.text))
			archivetest.Must(t, err)
			subject, err := new(mime.WordDecoder).DecodeHeader(got.Header.Get("Subject"))
			if err != nil || subject != "arcrawl: host: müller.example Bcc: x@evil.example" || got.Header.Get("Bcc") != "" {
				t.Errorf("the subject is %q, %v; headers %v", subject, err, got.Header)
			}
			if at, err := got.Header.Date(); err != nil || !at.Equal(m.Date) || got.Header.Get("Message-Id") == "" {
				t.Errorf("the date is %s, %v", at, err)
			}
			body, err := io.ReadAll(quotedprintable.NewReader(got.Body))
			if err != nil || strings.ReplaceAll(string(body), "\r\n", "\n") != strings.ReplaceAll(m.Body, "\n.\n", "\n..\n") {
				t.Errorf("the body is %q, %v", body, err)
			}
		})
	}
}

// TestMailFailuresAreExplained sends to servers that refuse, cannot be reached, or do not answer.
func TestMailFailuresAreExplained(t *testing.T) {
	t.Parallel()
	m := mail{From: "arcrawl@library.example", To: "press@library.example"}
	refusing := serve(t, false, "RCPT")
	plain := config.Mail{Server: refusing.address, Security: config.None}
	if err := sendMail(t.Context(), plain, m); err == nil || !strings.Contains(err.Error(), "not here") ||
		!strings.Contains(err.Error(), "send a mail to press@library.example through 127.0.0.1:") {
		t.Errorf("a refused recipient: %v", err)
	}
	without := serve(t, false, "STARTTLS")
	if err := sendMail(t.Context(), config.Mail{Server: without.address, Security: config.StartTLS}, m); err == nil ||
		!strings.Contains(err.Error(), "set mail.security") || strings.Contains(strings.Join(without.log, ""), "MAIL") {
		t.Errorf("a server without encryption: %v", err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	archivetest.Must(t, err)
	defer silent.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	if err := sendMail(ctx, config.Mail{Server: silent.Addr().String(), Security: config.None}, m); err == nil {
		t.Error("a server that does not answer: no error")
	}
}
