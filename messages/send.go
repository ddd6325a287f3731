package messages

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/smtp"
	"net/textproto"
	"os"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/config"
)

// mail is an e-mail.
type mail struct {
	From, To      string
	Subject, Body string
	HTML          string // the same as a page; "" = there is only the text
	Date          time.Time
}

// composeMail returns a message as it is sent: headers and body in UTF-8, lines that end in CRLF.
func composeMail(m mail) ([]byte, error) {
	_, domain, _ := strings.Cut(m.From, "@")
	var b bytes.Buffer
	parts, kind := multipart.NewWriter(&b), "text/plain; charset=utf-8"
	if m.HTML != "" {
		kind = "multipart/alternative; boundary=" + parts.Boundary()
	}
	for _, h := range []struct{ name, value string }{
		{"From", m.From},
		{"To", m.To},
		{"Subject", mime.QEncoding.Encode("utf-8", oneLine(m.Subject))},
		{"Date", m.Date.UTC().Format("Mon, 02 Jan 2006 15:04:05 -0700")},
		{"Message-ID", "<" + rand.Text() + "@" + domain + ">"},
		{"MIME-Version", "1.0"},
		{"Content-Type", kind},
		{"Auto-Submitted", "auto-generated"}, // no out-of-office replies, RFC 3834
	} {
		fmt.Fprintf(&b, "%s: %s\r\n", h.name, h.value)
	}
	if m.HTML == "" {
		b.WriteString("Content-Transfer-Encoding: quoted-printable\r\n\r\n")
		err := writeQuoted(&b, m.Body)
		return b.Bytes(), err
	}
	b.WriteString("\r\n")
	for _, p := range []struct{ kind, text string }{{"text/plain", m.Body}, {"text/html", m.HTML}} {
		to, err := parts.CreatePart(textproto.MIMEHeader{
			"Content-Type": {p.kind + "; charset=utf-8"}, "Content-Transfer-Encoding": {"quoted-printable"},
		})
		if err == nil {
			err = writeQuoted(to, p.text)
		}
		if err != nil {
			return nil, err
		}
	}
	err := parts.Close()
	return b.Bytes(), err
}

// writeQuoted writes a text of a mail.
func writeQuoted(to io.Writer, text string) error {
	body := quotedprintable.NewWriter(to)
	_, err := body.Write([]byte(strings.ReplaceAll(text, "\n", "\r\n")))
	if err = errors.Join(err, body.Close()); err != nil {
		return fmt.Errorf("compose a mail: %w", err)
	}
	return nil
}

// oneLine replaces line ends, which would begin another header.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// sendMail delivers a message to the mail server. ctx bounds the whole exchange.
func sendMail(ctx context.Context, s config.Mail, m mail) error {
	if err := exchange(ctx, s, m, nil); err != nil {
		return fmt.Errorf("send a mail to %s through %s: %w", m.To, s.Server, err)
	}
	return nil
}

// exchange delivers a message. roots are the certificates to trust; nil trusts the certificates of the system.
func exchange(ctx context.Context, s config.Mail, m mail, roots *x509.CertPool) (err error) {
	text, err := composeMail(m)
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(s.Server)
	if err != nil {
		return err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", s.Server)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	secure := &tls.Config{ServerName: host, RootCAs: roots, MinVersion: tls.VersionTLS12}
	if s.Security == config.Implicit {
		conn = tls.Client(conn, secure)
	}
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	defer func() { _ = c.Close() }()
	if s.Security == config.StartTLS {
		if err := c.StartTLS(secure); err != nil {
			return fmt.Errorf("encrypt the connection: %w; set mail.security to \"tls\" or \"none\" if the server cannot", err)
		}
	}
	if err := signIn(c, s, host); err != nil {
		return err
	}
	return deliver(c, m, text)
}

// signIn sends user name and password, if there is a user name.
func signIn(c *smtp.Client, s config.Mail, host string) error {
	if s.User == "" {
		return nil
	}
	password, err := os.ReadFile(s.PasswordFile)
	if err != nil {
		return fmt.Errorf("read mail.password_file: %w", err)
	}
	if err := c.Auth(smtp.PlainAuth("", s.User, strings.TrimSpace(string(password)), host)); err != nil {
		return fmt.Errorf("sign in as %s: %w", s.User, err)
	}
	return nil
}

func deliver(c *smtp.Client, m mail, text []byte) error {
	if err := c.Mail(m.From); err != nil {
		return err
	}
	if err := c.Rcpt(m.To); err != nil {
		return err
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	return c.Quit()
}
