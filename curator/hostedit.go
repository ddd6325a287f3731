package curator

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
)

// hostEdit holds the flags of arcrawl host edit.
type hostEdit struct {
	bulkEdit
	from   string // the file with the new text; "" = open an editor
	print  bool   // the file as it is
	rename string // the host that gets the file
	only   config.Filter
}

func newHostEdit(now func() time.Time) *cobra.Command {
	e := hostEdit{bulkEdit: bulkEdit{now: now}}
	cmd := &cobra.Command{
		Use:   "edit HOST|KEY=VALUE…",
		Short: "Edit or rename the file of a host, or set keys in the files of many hosts",
		Long: `edit opens a copy of the file of a host in $VISUAL, $EDITOR or vi. Then it checks the configuration with the copy, shows the
difference and what would change in the running crawl, and asks. The file is replaced at once and as a whole; a running daemon then
applies it.

If the copy has faults, or the answer is no, the file does not change and the copy stays. Edit the copy further and repeat with --from.

With --label, --collection or --owner it sets keys in the files of all these hosts, and keeps everything else in them. A value is written
as in the file; text needs no quotes. Keys of [[wait]] and [[when]] cannot be set. arcrawl seeds add --undo restores the files.

With --rename it writes the file of another host with the settings of HOST and removes the file of HOST. Seeds move too, also where
another setting repeats them; everything else stays unchanged, and lines that still name HOST are printed. The configuration is checked
before. An existing file is never changed. The history of HOST stays in the store. Its URIs are out of scope, unless another seed brings
them into scope, and keep their due times. The other host begins without a history.

Exit code 78: the copy has faults.`,
		Example: `  arcrawl host edit www.news.example
  arcrawl host edit www.news.example --print > drafts/www.news.example.toml
  arcrawl host edit www.news.example --from drafts/www.news.example.toml --yes
  arcrawl host edit www.news.example --rename news.example
  arcrawl host edit --label newspapers politeness.min_delay=5s owner=maria`,
		Args: cobra.MinimumNArgs(1),
		RunE: e.run,
	}
	e.add(cmd)
	cli.SiteFlags(cmd, &e.only)
	cmd.Flags().StringVar(&e.from, "from", "", "take the new text from this `FILE` instead of opening an editor")
	cmd.Flags().BoolVar(&e.print, "print", false, "print the file and change nothing")
	cmd.Flags().StringVar(&e.rename, "rename", "", "move the file and its seeds to this `HOST`")
	cmd.MarkFlagsMutuallyExclusive("rename", "print", "from")
	return cmd
}

// run edits the file of one host, or sets keys of many.
func (e *hostEdit) run(cmd *cobra.Command, args []string) error {
	if !e.only.IsZero() {
		return e.setKeys(cmd, e.only, args)
	}
	switch {
	case len(args) == 1 && e.rename != "":
		return renameHost(cmd.OutOrStdout(), e.path, args[0], e.rename)
	case len(args) == 1 && e.print:
		return e.show(cmd, args[0])
	case len(args) == 1 && !strings.Contains(args[0], "="):
		return e.edit(cmd, args[0])
	case strings.Contains(args[0], "="):
		return cli.Usage(errors.New("choose hosts with --label, --collection or --owner"))
	}
	return cli.Usage(errors.New("name one host"))
}

// show prints the file of a host.
func (e *hostEdit) show(cmd *cobra.Command, host string) error {
	_, file, err := openHostFile(e.path, host)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return daemon.FolderError{Err: err}
	}
	_, err = cmd.OutOrStdout().Write(text)
	return err
}

// edit edits the file of a host.
func (e *hostEdit) edit(cmd *cobra.Command, host string) error {
	s, file, err := openHostFile(e.path, host)
	if err != nil {
		return err
	}
	name := filepath.Base(file)
	before, readable := s.Texts[name]
	if !readable {
		return daemon.FolderError{Err: fmt.Errorf("cannot read %s", file)}
	}
	draft := e.from
	if draft == "" {
		if draft, err = cli.EditCopy(cmd.Context(), name, before); err != nil {
			return err
		}
	}
	after, err := os.ReadFile(draft)
	if err != nil {
		return daemon.FolderError{Err: err}
	}
	out := cmd.OutOrStdout()
	if bytes.Equal(before, after) {
		fmt.Fprintf(out, "%s was not changed\n", file)
		return e.discard(draft)
	}
	again := fmt.Sprintf("%s was not changed; the edited copy is %s; edit it and run: arcrawl host edit %s --from %s", file, draft, host, draft)
	if faults := s.with(name, after).newFaults(s); len(faults) > 0 {
		return fmt.Errorf("%w\n%s", faults, again)
	}
	fmt.Fprint(out, udiff.Unified(file, draft, string(before), string(after)))
	if err := showEffect(cmd, e.path, api.StagedHost{Name: name, Text: string(after)}); err != nil {
		return fmt.Errorf("%w\n%s", err, again)
	}
	if e.dry || !e.sure && !cli.Confirmed(cmd.InOrStdin(), out) {
		_, err := fmt.Fprintln(out, again)
		return err
	}
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, before) {
		return daemon.FolderError{Err: fmt.Errorf("%s was changed by somebody else meanwhile; %s", file, again)}
	}
	if err := replaceText(file, after); err != nil {
		return fmt.Errorf("%w; %s", err, again)
	}
	if _, err := fmt.Fprintf(out, "wrote %s\n", file); err != nil {
		return err
	}
	return e.discard(draft)
}

// discard removes the copy that was edited. It keeps a file of the user.
func (e *hostEdit) discard(draft string) error {
	if e.from != "" {
		return nil
	}
	return os.RemoveAll(filepath.Dir(draft))
}

// showEffect prints what staged host files would change in the running crawl, if a daemon answers. The error lists the
// faults that the daemon finds.
func showEffect(cmd *cobra.Command, path string, hosts ...api.StagedHost) error {
	d := cli.Daemon{Config: path}
	client, err := d.Client()
	if err != nil {
		return nil //nolint:nilerr // no daemon is named, or the main file is not readable
	}
	r, err := client.Plan(cmd.Context(), api.Staged{Only: true, Hosts: hosts})
	if err != nil {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "the effect on the running crawl is unknown: %v\n", err)
		return err
	}
	return cli.PrintReloaded(&d, cmd.OutOrStdout(), r, nil)
}

// openHostFiles reads the configuration as it is on disk. A curator may not be allowed to read the main file: then
// another text stands for it, and the host files are in hosts.d next to it.
func openHostFiles(path string) (configFiles, error) {
	dir, texts, err := cli.HostFiles(path)
	return configFiles{Path: path, Dir: dir, Texts: texts}, err
}

// with returns the configuration with another text of a host file. A nil text removes the file.
func (s configFiles) with(name string, text []byte) configFiles {
	next := s
	next.Texts = maps.Clone(s.Texts)
	if next.Texts[name] = text; text == nil {
		delete(next.Texts, name)
	}
	return next
}

// faults returns the faults of the configuration.
func (s configFiles) faults() config.Faults {
	var all config.Faults
	_, err := config.LoadTexts(s.Path, s.Texts)
	errors.As(err, &all)
	return all
}

// newFaults returns the faults of s that before does not have, and those in files that differ.
func (s configFiles) newFaults(before configFiles) config.Faults {
	old := map[string]bool{}
	for _, f := range before.faults() {
		old[f.String()] = true
	}
	var found config.Faults
	for _, f := range s.faults() {
		name := filepath.Base(f.File)
		text, isHost := s.Texts[name]
		if !old[f.String()] || isHost && !bytes.Equal(text, before.Texts[name]) {
			found = append(found, f)
		}
	}
	return found
}
