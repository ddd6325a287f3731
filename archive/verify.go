package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/human"
)

func newVerify() *cobra.Command {
	var asJSON, strict bool
	var known, heads []string
	var manifests manifestCheck
	cmd := &cobra.Command{
		Use:   "verify FILE|DIR…",
		Short: "Check every record, digest and reference of WARC files",
		Long: `verify reads the named WARC files, and those below the named folders, from the first byte to the last. It recomputes every
digest, follows every reference, and prints each fault with file and offset. It skips damaged parts and checks the rest. Nothing is
changed. Files are compared with the manifest of their folder (manifest.jsonl), which lists each file as it was when it was sealed: so
verify also finds files and whole records that are gone. If files were moved away, name the folder or a list of them with --elsewhere;
files in such a folder are compared too. Each line of a manifest names the SHA-256 of the line before it, and the last line printed
says the SHA-256 of the last one, the head. Note it elsewhere, or have the daemon sign it (fixity.sign_key): with --manifest-head, verify
proves that nothing which was listed then was changed, removed or replaced since. For a WACZ package it compares each file with the manifest and checks the WARC files in it.

If there are errors, the exit code is 65. A warning is a deviation from the specification that loses nothing. With --strict, files without
errors are also validated by gowarc, a reader of others. If originals of revisits are in other files, name those with --known; only their record ids are read.`,
		Example: `  arcrawl verify warc/
  arcrawl verify --known warc/ new/20261121.warc.gz
  arcrawl verify --manifest-head 5d0c… warc/
  arcrawl verify --json warc/ | jq 'select(.kind == "block-digest")'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := manifests.note(heads); err != nil {
				return cli.Usage(err)
			}
			progress := new(warc.Progress)
			stop := cli.ShowProgress(cmd.ErrOrStderr(), progress)
			var lost lostOriginals
			see := lost.count(cli.PrintFinding(cmd.OutOrStdout(), asJSON))
			o := VerifyOptions{Known: known, Progress: progress, Strict: strict, Now: time.Now()}
			sum, err := Verify(cmd.Context(), args, o, see)
			if err == nil {
				err = manifests.run(cmd.Context(), args, &sum, see)
			}
			stop()
			if err != nil {
				return err
			}
			if err := printVerified(cmd.OutOrStdout(), sum, asJSON); err != nil {
				return err
			}
			warnings := human.Count(sum.Warnings, "warning") + " in " + human.Count(sum.Files, "file")
			if strict && sum.Errors == 0 && sum.Warnings > 0 {
				return fmt.Errorf("%w: %s", warc.ErrWarnings, warnings)
			}
			return damaged(nil, sum.Errors, " and "+warnings+lost.advice("--known"))
		},
	}
	cli.JSONFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with 65 also for warnings, and ask gowarc, another reader, too")
	cmd.Flags().StringArrayVar(&heads, "manifest-head", nil,
		"prove that the manifest continues this noted head (SHA-256), or heads that the key in this file signed; repeatable")
	cmd.Flags().StringArrayVar(&manifests.elsewhere, "elsewhere", nil,
		"folder or list of files that were moved away; repeatable")
	cmd.Flags().StringArrayVar(&known, "known", nil, "accept references to records in this file or folder; repeatable")
	return cmd
}

// manifestCheck compares files with the manifests of their folders.
type manifestCheck struct {
	elsewhere []string // see [fixity.Elsewhere]
	noted     []fixity.Noted
}

// run compares the named files, and the files of the named folders and of the folders below with a manifest.
func (m manifestCheck) run(ctx context.Context, paths []string, sum *Verified, see func(warc.Finding) error) error {
	moved, err := fixity.Elsewhere(m.elsewhere)
	if err != nil {
		return err
	}
	report := func(f warc.Finding) error {
		sum.count(f)
		return see(f)
	}
	only := foldersOf(paths)
	found := map[string]bool{}
	for _, dir := range slices.Sorted(maps.Keys(only)) {
		o := fixity.CheckOptions{Only: only[dir], Elsewhere: moved, Noted: m.noted}
		c, err := fixity.Check(ctx, dir, o, report)
		if err != nil {
			return err
		}
		if c.Manifest != "" {
			sum.Manifests = append(sum.Manifests, c)
		}
		for _, h := range c.Held {
			found[h.Noted] = true
		}
	}
	var lacking []*warc.Finding
	for _, n := range m.noted {
		text := "no manifest here has a line with the SHA-256 " + n.Head + ", the head that was noted: lines were changed, " +
			"removed or replaced, or it is the head of another folder"
		if n.Signer != nil {
			text = "no head of a manifest here is signed with the key in " + n.Text + ": signatures were removed or replaced, " +
				"or it is the key of another folder"
		}
		if !found[n.Text] {
			lacking = append(lacking, warc.FileFinding(strings.Join(paths, ", "), warc.Fixity, text))
		}
	}
	return warc.ReportAll(lacking, report)
}

// foldersOf returns the folders with manifests that are about some files and folders, each with the names of the files
// in it that are meant; nil = all.
func foldersOf(paths []string) map[string]map[string]bool {
	only := map[string]map[string]bool{}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		if info.IsDir() {
			only[filepath.Clean(path)] = nil
			manifests, _ := warc.FilesNamed([]string{path}, func(name string) bool { return name == fixity.FileName })
			for _, f := range manifests {
				only[filepath.Dir(f.Path)] = nil
			}
			continue
		}
		dir := filepath.Dir(path)
		if names, seen := only[dir]; !seen {
			only[dir] = map[string]bool{filepath.Base(path): true}
		} else if names != nil {
			names[filepath.Base(path)] = true
		}
	}
	return only
}

// note reads heads that somebody has noted, and files with public keys.
func (m *manifestCheck) note(texts []string) error {
	for _, text := range texts {
		n := fixity.Noted{Text: text, Head: strings.TrimPrefix(strings.ToLower(strings.TrimSpace(text)), "sha256:")}
		if b, err := hex.DecodeString(n.Head); err != nil || len(b) != sha256.Size {
			n.Head = ""
			if n.Signer, err = readSigner(text); err != nil {
				return fmt.Errorf("--manifest-head %s is not 64 hexadecimal digits, and no file with a public key: %w", text, err)
			}
		}
		m.noted = append(m.noted, n)
	}
	return nil
}

// lostOriginals counts revisits whose original was not found. It may be in other files.
type lostOriginals int

func (n *lostOriginals) count(see func(warc.Finding) error) func(warc.Finding) error {
	return func(f warc.Finding) error {
		if f.Kind == warc.NoOriginal {
			*n++
		}
		return see(f)
	}
}

// advice returns a hint to name other files with a flag, or "".
func (n *lostOriginals) advice(flag string) string {
	if *n == 0 {
		return ""
	}
	return fmt.Sprintf("; the originals of %s are not in these files; name other files with %s",
		human.Count(int(*n), "revisit"), flag)
}

func printVerified(out io.Writer, v Verified, asJSON bool) error {
	var records int
	var kinds []string
	for _, kind := range v.Kinds() {
		records += v.Records[kind]
		kinds = append(kinds, fmt.Sprintf("%d %s", v.Records[kind], kind))
	}
	err := printResult(out, asJSON, map[string]Verified{"summary": v}, "%s of %s with %s (%s): %s, %s\n",
		human.Count(v.Files, "file"), human.Bytes(v.Bytes), human.Count(records, "whole record"), strings.Join(kinds, ", "),
		human.Count(v.Errors, "error"), human.Count(v.Warnings, "warning"))
	for _, m := range v.Manifests {
		if err == nil && !asJSON {
			_, err = fmt.Fprintf(out, "%s: %s, head %s%s\n", m.Manifest, human.Count(m.Files, "file"), m.Head, heldText(m.Held))
		}
	}
	return err
}

// heldText returns how a manifest continues the heads that somebody has noted.
func heldText(held []fixity.Held) (text string) {
	for _, h := range held {
		signed := ""
		if !h.Signed.IsZero() {
			signed = ", signed at " + h.Signed.Format(time.RFC3339)
		}
		text += fmt.Sprintf("; continues the head %s%s, by %s", h.Head, signed, human.Count(h.Later, "later line"))
	}
	return text
}

func newOffload() *cobra.Command {
	var path string
	var dry bool
	cmd := &cobra.Command{
		Use:   "offload FILE…",
		Short: "Delete WARC files here whose copies in the bucket are the same",
		Long: `offload deletes finished WARC files in storage.warc, and in storage.folders if they were moved there. It compares
each file, and its copy in the bucket of [upload], with the manifest. A file that was not uploaded, that was changed, or
whose copy differs, stays. FILE is a path in one of these folders, or a name in storage.warc.

storage.elsewhere must name the list of uploaded files, so that the daemon and verify do not take the files for lost. No
other command and no daemon deletes WARC files. Replay and cat lack the captures of such a file until it is brought back.`,
		Example: "  arcrawl offload --dry-run /var/lib/arcrawl/warc/arcrawl-2024*.warc.gz",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return deleteUploaded(cmd.Context(), path, args, dry, time.Now, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cli.ConfigFlag(cmd, &path)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only compare the copies, and delete nothing")
	return cmd
}
