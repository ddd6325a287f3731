package fleet

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/config"
)

const (
	// maxMembers is the maximum number of daemons in a list. All are asked at once.
	maxMembers = 200
	// maxList is the maximum size of a list in bytes.
	maxList = 64 << 10
	// maxToken is the maximum size of a file with a token in bytes.
	maxToken = 1 << 10
)

// fleetMember is a daemon of the fleet.
type fleetMember struct {
	Name  string
	Where string // path of its socket or of its main configuration file, or its address
	Token string // file with the token for the address
}

// readFleet reads a list of daemons. Each line has a name, a place, and for an address the file with the token.
// Relative paths start at the folder of the list.
func readFleet(path string) ([]fleetMember, error) {
	text, err := beginningOf(path, maxList+1)
	if err != nil {
		return nil, fmt.Errorf("read the list of daemons: %w", err)
	}
	if len(text) > maxList {
		return nil, fmt.Errorf("read the list of daemons %s: it has more than %d bytes; split it", path, maxList)
	}
	all, err := parseList(string(text), filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("read the list of daemons %s: %w", path, err)
	}
	return all, nil
}

// beginningOf returns the first n bytes of a file.
func beginningOf(path string, n int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, n))
	return text, errors.Join(err, f.Close())
}

// parseList parses the text of a list in a folder.
func parseList(text, folder string) (all []fleetMember, err error) {
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		m, err := parseMember(words, folder)
		if err == nil && slices.ContainsFunc(all, func(o fleetMember) bool { return o.Name == m.Name }) {
			err = fmt.Errorf("the name %s is used twice", m.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		all = append(all, m)
	}
	switch {
	case len(all) == 0:
		return nil, errors.New(`no line names a daemon; write for example "press /run/arcrawl/press.sock"`)
	case len(all) > maxMembers:
		return nil, fmt.Errorf("%d daemons, more than %d; split the list", len(all), maxMembers)
	}
	return all, nil
}

// parseMember parses the words of a line.
func parseMember(words []string, folder string) (fleetMember, error) {
	if len(words) < 2 || len(words) > 3 {
		return fleetMember{}, fmt.Errorf("it has %d words; write a name, a socket, configuration file or address, "+
			"and for an address the file with the token", len(words))
	}
	m := fleetMember{Name: words[0], Where: words[1]}
	absolute := func(p string) string {
		if filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(folder, p)
	}
	if !isAddress(m.Where) {
		m.Where = absolute(m.Where)
		if len(words) == 3 {
			return m, errors.New("a socket needs no token; remove the last word")
		}
		return m, nil
	}
	if len(words) < 3 {
		return m, errors.New("the address needs a file with a token; make one with: arcrawl user add NAME --token --role read")
	}
	m.Token = absolute(words[2])
	return m, checkAddress(m.Where)
}

// isAddress reports whether a place is an address.
func isAddress(where string) bool { return strings.Contains(where, "://") }

// checkAddress refuses addresses to which a token would travel unencrypted through a public network.
func checkAddress(where string) error {
	u, err := url.Parse(where)
	switch {
	case err != nil:
		return err
	case u.Host == "" || u.RawQuery != "" || u.User != nil || u.Path != "" && u.Path != "/":
		return fmt.Errorf("%s is not the address of a daemon; write for example https://crawler.library.example:8471", where)
	case u.Scheme == "https":
		return nil
	case u.Scheme != "http":
		return fmt.Errorf("%s is not an address with https; write for example https://crawler.library.example:8471", where)
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if u.Hostname() == "localhost" || err == nil && (ip.IsLoopback() || ip.IsPrivate()) {
		return nil
	}
	return fmt.Errorf("%s would send the token unencrypted; use https, or the IP address of a private network", where)
}

// client returns a client of a daemon. It answers or fails within a time.
func (m fleetMember) client(within time.Duration) (*api.Client, error) {
	switch {
	case isAddress(m.Where):
		token, err := readToken(m.Token)
		if err != nil {
			return nil, err
		}
		return api.NewRemote(m.Where, token, within), nil
	case strings.HasSuffix(m.Where, ".toml"):
		at, err := config.Where(m.Where)
		if err != nil {
			return nil, err
		}
		if at.Socket == "" {
			return nil, fmt.Errorf("%s has admin.socket = \"off\"; set a socket there, or list the address of its daemon",
				m.Where)
		}
		return api.NewClient(at.Socket).Within(within), nil
	}
	return api.NewClient(m.Where).Within(within), nil
}

// readToken returns the token in a file, which has nothing else.
func readToken(path string) (string, error) {
	text, err := beginningOf(path, maxToken)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	words := strings.Fields(string(text))
	if len(words) != 1 {
		return "", fmt.Errorf("read the token: %s has %d words, want the token alone", path, len(words))
	}
	return words[0], nil
}
