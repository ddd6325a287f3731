package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
)

// Commit is a change of files that was written.
type Commit struct {
	Dir   string   // of the files, anywhere in the repository
	Files []string // names in Dir or complete paths; also of files that were removed
	Who   string   // who made it
	What  string   // subject of the commit
}

// gitTime is how long git may take.
const gitTime = 20 * time.Second

// MakeCommit commits the files of a change as they are on disk, and nothing else. It returns the short name of the
// commit; "" if the repository has the files already. It runs no hooks: they would run as the user of the daemon. It
// does not end with ctx: the files are written, and a browser that was closed is no reason to leave them without a
// commit.
func MakeCommit(ctx context.Context, c Commit) (name string, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), gitTime)
	defer cancel()
	if _, err := exec.LookPath("git"); err != nil {
		return "", errors.New("the program git is not installed; install it, or set admin.git = false")
	}
	if _, err := git(ctx, c, nil, "rev-parse", "--show-toplevel"); err != nil {
		return "", fmt.Errorf("%s is not a git repository that the daemon may use: %w; run git init --shared=0640 there "+
			"as the user of the daemon, or set admin.git = false", c.Dir, err)
	}
	known, err := gitNames(ctx, c, "ls-files", "-z")
	if err != nil {
		return "", err
	}
	var changed []string // a file that was removed and that git does not know has nothing to be committed
	for _, f := range c.Files {
		if isInFolder(c.Dir, f) || known[relativeName(c.Dir, f)] {
			changed = append(changed, f)
		}
	}
	if len(changed) == 0 {
		return "", nil
	}
	list := []byte(strings.Join(changed, "\x00"))
	if _, err := git(ctx, c, list, "add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"); err != nil {
		return "", err
	}
	staged, err := gitNames(ctx, c, "diff", "--cached", "--name-only", "--no-renames", "--relative", "-z")
	if err != nil {
		return "", err
	}
	isStaged := func(f string) bool { return staged[relativeName(c.Dir, f)] }
	if !slices.ContainsFunc(changed, isStaged) {
		return "", nil
	}
	who := gitIdentity(c.Who)
	_, err = git(ctx, c, list, "commit", "--quiet", "--only", "--no-verify", "--author="+who+" <"+who+"@arcrawl>",
		"--message="+gitSubject(c.What), "--pathspec-from-file=-", "--pathspec-file-nul")
	if err != nil {
		return "", err
	}
	return git(ctx, c, nil, "rev-parse", "--short", "HEAD")
}

// git runs git in the folder of a change, with names of files that are no patterns.
func git(ctx context.Context, c Commit, input []byte, args ...string) (string, error) {
	fixed := []string{
		"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false", "-c", "gc.auto=0",
	}
	cmd := exec.CommandContext(ctx, "git", append(fixed, args...)...)
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = c.Dir, bytes.NewReader(input), time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it removes its lock of the repository
	cmd.Env = append(cmd.Environ(), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_LITERAL_PATHSPECS=1",
		"GIT_COMMITTER_NAME=arcrawl", "GIT_COMMITTER_EMAIL=daemon@arcrawl")
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		said, _, _ := strings.Cut(strings.TrimSpace(problem.String()), "\n")
		if said == "" {
			said = err.Error()
		}
		return "", fmt.Errorf("git %s: %s", args[0], said)
	}
	return strings.TrimSpace(out.String()), nil
}

// isInFolder reports whether a file of a change exists.
func isInFolder(dir, name string) bool {
	_, err := os.Lstat(pathIn(dir, name))
	return err == nil
}

// gitNames returns the names that git prints, relative to the folder of a change. The files of a change are no
// arguments of git: the names of a large import are longer than arguments may be.
func gitNames(ctx context.Context, c Commit, args ...string) (map[string]bool, error) {
	list, err := git(ctx, c, nil, args...)
	all := map[string]bool{}
	for name := range strings.SplitSeq(list, "\x00") {
		all[name] = true
	}
	return all, err
}

// relativeName returns the name of a file of a change as git prints it.
func relativeName(dir, name string) string {
	return strings.TrimPrefix(pathIn(dir, name), strings.TrimSuffix(dir, "/")+"/")
}

func pathIn(dir, name string) string {
	if strings.HasPrefix(name, "/") {
		return name
	}
	return strings.TrimSuffix(dir, "/") + "/" + name
}

// gitIdentity returns a name without the characters that end one in a commit.
func gitIdentity(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '<' || r == '>' || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name)
	if name == "" {
		return "somebody"
	}
	return name
}

// gitSubject returns the first line of a message, without characters that are not shown.
func gitSubject(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if r := []rune(text); len(r) > 200 {
		text = string(r[:200]) + "…"
	}
	return text
}

// Writing returns the function that serves a request while no other one writes files of the configuration.
func Writing(serve func(*Window, *http.Request) (any, error)) func(*Window, *http.Request) (any, error) {
	return func(w *Window, r *http.Request) (any, error) {
		w.writing.Lock()
		defer w.writing.Unlock()
		return serve(w, r)
	}
}

// Commit commits files of a folder, if the configuration wants it. The caller has held [Window.WritingFiles] since
// before it wrote them. A failure leaves the change of the files in force.
func (w *Window) Commit(r *http.Request, dir, what string, files ...string) (out api.Committed) {
	if !w.o.Config().Config.Admin.Git {
		return out
	}
	name, err := MakeCommit(r.Context(), Commit{
		Dir: dir, Files: files, Who: access.CallerOf(r.Context()).Name, What: what,
	})
	if err != nil {
		w.o.Log.Warn().Err(err).Str("folder", dir).Strs("files", files).
			Msg("could not commit a change of files; it stays in force")
		out.Problem = err.Error()
	}
	out.Commit = name
	return out
}
