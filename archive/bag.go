package archive

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive/fixity"
	"github.com/arcrawl/arcrawl/archive/rewrite"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/internal/human"
)

// bagging holds the flags of the bag command.
type bagging struct {
	fixity.BagOptions
	period captureFlags
	series seriesFlags
	premis string // premisHistory, premisFormats, or nothing
	json   bool
	events []string
	info   []string // NAME=VALUE
}

// What --premis adds.
const premisHistory, premisFormats = "history", "formats"

func newBag() *cobra.Command {
	var b bagging
	cmd := &cobra.Command{
		Use:   "bag -o BAG DIR",
		Short: "Copy the finished WARC files of a folder into a BagIt bag",
		Long: `bag copies the finished WARC files of a folder into a new folder by RFC 8493 (BagIt 1.0), for a repository that takes bags. It compares
each file with the manifest of the folder (manifest.jsonl) while it copies. A file that is damaged or missing is reported and left out,
with exit code 65. The manifest, its signatures and the log of fixity checks go with the bag. The bag appears when it is complete.

With --since and --until only files with records of the period are chosen. If the files are of several series, choose with --series.
With --link the files are hard links, which need no space; the bag must be on the same disk.

With --premis the bag has metadata/premis.xml, in PREMIS 3: each file with its digest, and what is known to have happened to it: its
capture, its sealing, fixity checks, moves, copies, losses and recoveries. --events adds what other programs did, such as a virus check:
a file with a JSON object on each line, as {"file": "NAME.warc.gz", "at": "2026-11-29T09:00:00Z", "type": "virus check", "agent":
"ClamAV 1.4", "outcome": "success"}. Any other outcome than success is a failure; detail and note may be added.

--premis=formats also looks into the files, and counts the formats of the payloads by PRONOM, as siegfried identifies them, in
metadata/formats.csv and as events.`,
		Example: `  arcrawl bag -o /transfer/2026-11 --since 2026-11 --until 2026-11 /var/lib/arcrawl/warc
  arcrawl bag -o /transfer/press --premis --info External-Identifier=urn:nbn:xx:1 --info Contact-Name=Anna warc/`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return b.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringVarP(&b.Out, "output", "o", "", "write the bag to this new folder (required)")
	f.BoolVar(&b.Link, "link", false, "make hard links instead of copies")
	f.StringVar(&b.premis, "premis", "", "add metadata/premis.xml; with =formats also metadata/formats.csv")
	f.Lookup("premis").NoOptDefVal = premisHistory
	f.StringArrayVar(&b.events, "events", nil, "with --premis: add the events in this file; repeatable")
	f.StringArrayVar(&b.info, "info", nil, "add NAME=VALUE to bag-info.txt, such as Source-Organization=Library; repeatable")
	f.StringVar(&b.period.since, "since", "", "choose files with records from this date on: 2026, 2026-11, 2026-11-21 or 2026-11-21T09:00:00Z")
	f.StringVar(&b.period.until, "until", "", "choose files with records up to the end of this date")
	b.series.add(cmd)
	cli.JSONFlag(cmd, &b.json)
	_ = cmd.MarkFlagRequired("output")
	return cmd
}

func (b *bagging) run(cmd *cobra.Command, dir string) error {
	var s rewrite.Selection
	err := b.period.apply(cmd, &s)
	switch {
	case err != nil:
	case len(b.events) > 0 && b.premis == "":
		err = cli.Usage(errors.New("--events needs --premis"))
	case !slices.Contains([]string{"", premisHistory, premisFormats}, b.premis):
		err = cli.Usage(fmt.Errorf("--premis=%s: want --premis or --premis=%s", b.premis, premisFormats))
	}
	if err == nil {
		b.Leave, err = b.series.choose([]string{dir})
	}
	if err != nil {
		return err
	}
	b.Since, b.Until, b.Now, b.Software = s.From, s.To, time.Now(), "arcrawl/"+cli.Version()
	b.Size = human.Bytes
	if b.Info, err = b.about(operatorOf(dir, b.Leave)); err != nil {
		return cli.Usage(err)
	}
	if b.premis != "" {
		b.About = func(c fixity.BagContent) (map[string][]byte, error) {
			return premisOf(cmd.Context(), dir, c, b.events, b.premis == premisFormats, b.Software, b.Now)
		}
	}
	sum, err := fixity.WriteBag(cmd.Context(), dir, b.BagOptions, cli.PrintFinding(cmd.ErrOrStderr(), b.json))
	if err != nil {
		return err
	}
	if b.json {
		err = cli.WriteJSON(cmd.OutOrStdout(), sum)
	} else {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s of %s\n", b.Out, human.Count(sum.Files, "file"),
			human.Bytes(sum.Bytes))
	}
	if err == nil && sum.Errors > 0 {
		err = fmt.Errorf("%w: %s not in the bag", warc.ErrDamaged, human.Count(sum.Errors, "file"))
	}
	return err
}

// about returns the fields of bag-info.txt that people give, or the files.
func (b *bagging) about(operator, contact string) (fields []warc.Field, err error) {
	named := map[string]bool{}
	for _, text := range b.info {
		name, value, ok := strings.Cut(text, "=")
		if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(name, ": \t\r\n") {
			return nil, fmt.Errorf("--info %q: want NAME=VALUE, such as Contact-Name=Anna", text)
		}
		if slices.Contains([]string{"Bagging-Date", "Bag-Software-Agent", "Bag-Size", "Payload-Oxum"}, name) {
			return nil, fmt.Errorf("--info %q: the command itself writes %s", text, name)
		}
		named[name] = true
		fields = append(fields, warc.Field{Name: name, Value: value})
	}
	if !named["Source-Organization"] {
		fields = append(fields, warc.Field{Name: "Source-Organization", Value: operator})
	}
	if !named["Contact-Email"] && strings.Contains(contact, "@") { // otherwise it is a web page
		fields = append(fields, warc.Field{Name: "Contact-Email", Value: strings.TrimPrefix(contact, "mailto:")})
	}
	return fields, nil
}

// operatorOf returns the operator and the contact that the newest file of a folder names, or nothing.
func operatorOf(dir string, leave func(warc.File) bool) (operator, contact string) {
	files, _ := warc.Files([]string{dir}) // who reads the files reports the faults
	var newest time.Time
	for _, f := range warc.Without(files, leave) {
		infos, err := leadingInfos(f)
		if err != nil {
			continue
		}
		for _, i := range infos {
			if said := i.fields.Get("operator"); said != "" && !i.date.Before(newest) {
				newest = i.date
				operator, contact = splitOperator(said)
			}
		}
	}
	return operator, contact
}

// splitOperator splits the operator of a warcinfo record, as "Library <https://library.example/>".
func splitOperator(text string) (name, contact string) {
	name, contact, _ = strings.Cut(text, "<")
	return strings.TrimSpace(name), strings.TrimSuffix(strings.TrimSpace(contact), ">")
}
