package clusterdemo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/arcrawl/arcrawl/internal/demosite"
)

// minVersion is the oldest version of PostgreSQL that a cluster may use.
const minVersion = 15

// errNoServer says that no PostgreSQL server is installed, or only one that is too old.
var errNoServer = fmt.Errorf("a cluster needs PostgreSQL %d or newer, which is not installed here; install it "+
	"(Debian and Ubuntu: apt install postgresql), and run the demo again", minVersion)

// findServer returns the folder with the programs of the newest PostgreSQL, and its version.
func findServer() (bin, version string, err error) {
	return findServerIn("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin")
}

// findServerIn looks into the folders that match the patterns, and into the folders of PATH.
func findServerIn(patterns ...string) (bin, version string, err error) {
	var folders []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return "", "", err
		}
		folders = append(folders, found...)
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			folders = append(folders, filepath.Dir(path))
		}
	}
	newest := minVersion - 1
	for _, folder := range folders {
		if _, err := os.Stat(filepath.Join(folder, "initdb")); err != nil {
			continue
		}
		out, err := exec.Command(filepath.Join(folder, "postgres"), "--version").Output()
		if major, text := parseVersion(string(out)); err == nil && major > newest {
			newest, bin, version = major, folder, text
		}
	}
	if bin == "" {
		return "", "", errNoServer
	}
	return bin, version, nil
}

// parseVersion reads "postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)".
func parseVersion(s string) (major int, text string) {
	_, s, _ = strings.Cut(s, ") ")
	text, _, _ = strings.Cut(strings.TrimSpace(s), " ")
	digits := text
	if end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		digits = text[:end]
	}
	major, _ = strconv.Atoi(digits) // 0 if it is not a number
	return major, text
}

// server is the PostgreSQL server of the demo.
type server struct {
	bin, dir           string
	address, port      string
	password, passFile string
	cmd                *exec.Cmd
	gone               chan struct{} // closed when the process has ended
}

// startServer makes a database in a new folder and serves it at a port of loopback. The folder is removed by stop.
// ask returns an error while the server does not answer.
func startServer(ctx context.Context, bin, dir string, ask Owners) (s *server, err error) {
	address, err := demosite.FreeAddress()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	s = &server{bin: bin, address: address, port: port, password: rand.Text(), passFile: filepath.Join(dir, "pgpass")}
	if s.dir, err = serverFolder(dir); err != nil {
		return nil, fmt.Errorf("make a folder for the database: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop())
		}
	}()
	if err := os.WriteFile(s.passFile, []byte(address+":*:arcrawl:"+s.password+"\n"), 0o600); err != nil {
		return nil, err
	}
	if err := s.create(ctx); err != nil {
		return nil, err
	}
	return s, s.serve(ctx, ask)
}

// serverFolder makes the folder of the database. For root it is a temporary one, because another user runs the server,
// who may not enter the folders of root.
func serverFolder(dir string) (string, error) {
	parent := dir
	if os.Getuid() == 0 {
		parent = ""
	}
	made, err := os.MkdirTemp(parent, "arcrawl-demo-database-")
	if err != nil {
		return "", err
	}
	return made, give(made)
}

// create makes an empty database.
func (s *server) create(ctx context.Context) error {
	secret := filepath.Join(s.dir, "password")
	if err := os.WriteFile(secret, []byte(s.password+"\n"), 0o600); err != nil {
		return err
	}
	if err := give(secret); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "initdb"), "-D", s.data(), "-U", "arcrawl",
		"-A", "scram-sha-256", "--pwfile", secret, "-E", "UTF8", "--no-locale", "--no-sync", "--no-instructions")
	cmd.Dir, cmd.SysProcAttr = s.dir, ofOurOwn(syscall.SIGKILL, true)
	if out, err := cmd.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("make a database in %s: %w\n%s", s.dir, err, out)
	}
	settings := fmt.Sprintf("port = %s\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\n"+
		"shared_buffers = 32MB\nmax_connections = 100\nmax_wal_size = 128MB\n", s.port)
	f, err := os.OpenFile(filepath.Join(s.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(settings)
	return errors.Join(err, f.Close(), os.Remove(secret))
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

// serve starts the server, and waits until it answers.
func (s *server) serve(ctx context.Context, ask Owners) error {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(s.bin, "postgres"), "-D", s.data())
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, log, log
	cmd.SysProcAttr = ofOurOwn(syscall.SIGQUIT, true) // it ends at once
	if err := errors.Join(cmd.Start(), log.Close()); err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	s.cmd, s.gone = cmd, make(chan struct{})
	go func() {
		_ = cmd.Wait() // its log says why it ended
		close(s.gone)
	}()
	for giveUp := time.Now().Add(time.Minute); ; {
		_, err := ask(ctx, s.url(s.password))
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.gone:
			return s.died()
		case <-time.After(200 * time.Millisecond):
		}
		if time.Now().After(giveUp) {
			return fmt.Errorf("PostgreSQL does not answer at %s: %w", s.address, err)
		}
	}
}

// url returns the address of the database, with a password unless it is empty.
func (s *server) url(password string) string {
	user := "arcrawl"
	if password != "" {
		user += ":" + password
	}
	return "postgres://" + user + "@" + s.address + "/postgres?sslmode=disable"
}

// died returns why the server has ended.
func (s *server) died() error {
	log, _ := os.ReadFile(filepath.Join(s.dir, "log")) // without it the text is empty
	return fmt.Errorf("PostgreSQL has ended by itself (%s):\n%s", s.cmd.ProcessState, log)
}

// stop ends the server and removes its database.
func (s *server) stop() error {
	if s.cmd != nil {
		_ = s.cmd.Process.Signal(syscall.SIGINT) // closes all connections; it may have ended
		select {
		case <-s.gone:
		case <-time.After(grace):
			_ = s.cmd.Process.Signal(syscall.SIGQUIT)
			<-s.gone
		}
	}
	_ = os.Remove(s.passFile) // no server has its password any more
	return os.RemoveAll(s.dir)
}
