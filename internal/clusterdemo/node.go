package clusterdemo

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/internal/demosite"
)

// nodeMark precedes the name of the node in its User-Agent.
const nodeMark = "arcrawl#node-"

// lostHosts is the exit code of a node that another one has fenced.
const lostHosts = 69

// grace is how long a node that is stopped may take, before it is killed.
const grace = 30 * time.Second

// child is a node: its folder, and its process, of which there may be several one after the other.
type child struct {
	name, dir, config string
	binary, passFile  string

	cmd     *exec.Cmd
	gone    chan struct{} // closed when the process has ended
	stopped bool          // it was killed or stopped by the demo
	read    int64         // bytes of its crawl.log that were read
}

const nodeTOML = `# The configuration of a node of the demo. A real crawl uses hours instead of seconds.

[operator]
name = "arcrawl demo"
contact = "https://github.com/arcrawl/%s"

[cluster]
database = "%s"
node = "%s"
listen = "127.0.0.1:0"              # so that any node answers for all
single_database = true              # on purpose: a real cluster has a replica

[storage]
state = "state"
warc = "warc"
log = "crawl.log"
min_free = "100MB"
elsewhere = [%s]

[log]
extra_info = true
%s
[fetch]
allow_networks = ["127.0.0.0/8"]    # the sites of the demo are on this machine

[politeness]
delay_factor = 0.0
min_delay = "2s"                    # never use such a short delay on a real server
max_delay = "2s"

[[wait]]
mime = ".*"
rule = "classic"
initial = "10s"
min = "5s"
max = "2m"

[seeds]
uris = [%s]
`

// newNode writes the configuration of a node.
func (p *play) newNode(name string, withDashboard bool) (*child, *config.Config, error) {
	dir := filepath.Join(p.dir, name)
	n := &child{
		name: name, dir: dir, config: filepath.Join(dir, "arcrawl.toml"), binary: p.binary, passFile: p.server.passFile,
	}
	var elsewhere, seeds []string
	for _, other := range p.names {
		if other != name {
			elsewhere = append(elsewhere, strconv.Quote(filepath.Join(p.dir, other, "warc")))
		}
	}
	for _, s := range p.sites.list {
		seeds = append(seeds, strconv.Quote("http://"+s.host+"/"))
	}
	admin := ""
	if withDashboard {
		address, err := demosite.FreeAddress()
		if err != nil {
			return nil, nil, err
		}
		admin = fmt.Sprintf("\n[admin]\nlisten = %q          # the dashboard; asks for the token\ntoken_file = \"admin.token\"\n", address)
	}
	text := fmt.Sprintf(nodeTOML, nodeMark+name, p.server.url(""), name, strings.Join(elsewhere, ", "), admin,
		strings.Join(seeds, ", "))
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(n.config, []byte(text), 0o600); err != nil {
		return nil, nil, fmt.Errorf("write the configuration of node %s: %w", name, err)
	}
	c, err := config.Load(n.config)
	return n, c, err
}

// start starts the process of a node. When it has ended, ended gets the node.
func (c *child) start(ended chan<- *child) error {
	journal, err := os.OpenFile(filepath.Join(c.dir, "journal"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the journal of node %s: %w", c.name, err)
	}
	cmd := exec.Command(c.binary, "run", "--config", c.config)
	cmd.Stdout, cmd.Stderr = journal, journal
	cmd.Env = append(os.Environ(), "PGPASSFILE="+c.passFile)
	cmd.SysProcAttr = ofOurOwn(syscall.SIGKILL, false)
	if err := errors.Join(cmd.Start(), journal.Close()); err != nil {
		return fmt.Errorf("start node %s: %w", c.name, err)
	}
	gone := make(chan struct{})
	c.cmd, c.gone = cmd, gone
	c.stopped = false
	go func() {
		_ = cmd.Wait() // its state says how it ended
		close(gone)
		select {
		case ended <- c:
		default: // nobody looks any more
		}
	}()
	return nil
}

// kill ends the process at once.
func (c *child) kill() error {
	c.stopped = true
	if err := c.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill node %s: %w", c.name, err)
	}
	<-c.gone
	return nil
}

// runs reports whether the node has a process.
func (c *child) runs() bool {
	if c.cmd == nil {
		return false
	}
	select {
	case <-c.gone:
		return false
	default:
		return true
	}
}

func (c *child) exitCode() int { return c.cmd.ProcessState.ExitCode() }

func (c *child) state() string { return c.cmd.ProcessState.String() }

// lastWords returns the last lines of the journal.
func (c *child) lastWords() string {
	text, err := os.ReadFile(filepath.Join(c.dir, "journal"))
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-8):], []byte("\n")))
}

// stopAll stops all nodes that run properly, and kills those that take too long.
func (p *play) stopAll() error {
	var stopping []*child
	for _, n := range p.nodes {
		if n.runs() {
			n.stopped = true
			_ = n.cmd.Process.Signal(syscall.SIGTERM) // it may have ended just now
			stopping = append(stopping, n)
		}
	}
	var errs []error
	late := time.NewTimer(grace)
	defer late.Stop()
	for _, n := range stopping {
		select {
		case <-n.gone:
			if code := n.exitCode(); code != 0 && code != lostHosts {
				errs = append(errs, fmt.Errorf("node %s was stopped and ended with a fault (%s); its last words:\n%s",
					n.name, n.state(), n.lastWords()))
			}
		case <-late.C:
			late.Reset(0)
			errs = append(errs, fmt.Errorf("node %s did not stop within %s and was killed", n.name, grace), n.kill())
		}
	}
	return errors.Join(errs...)
}

// killAll kills the nodes that still run.
func (p *play) killAll() {
	for _, n := range p.nodes {
		if n.runs() {
			_ = n.kill() // nothing more can be done
		}
	}
}
