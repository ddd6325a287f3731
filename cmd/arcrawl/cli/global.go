package cli

import (
	"fmt"
	"net/http"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The flags that many commands take. The root declares them once; each command says which of them it takes.
const (
	configName = "config"
	jsonName   = "json"
	socketName = "socket"
)

// takenAnnotation begins the name of an annotation of a command that takes one of these flags.
const takenAnnotation = "arcrawl_takes_"

// The groups of commands in the help, by who uses them.
const (
	FirstDay   = "first"
	Curator    = "curator"
	Operator   = "operator"
	Archivist  = "archivist"
	Cluster    = "cluster"
	Laboratory = "laboratory"
)

// headerAnnotation is the annotation of a flag of the root that is sent to the daemon, with the name of its header.
const headerAnnotation = "arcrawl_header"

// SendFlag lets all commands that ask a daemon take a flag of the root, and send it in a header of each request.
func SendFlag(root *cobra.Command, name, header string) {
	root.PersistentFlags().Lookup(name).Annotations = map[string][]string{headerAnnotation: {header}}
}

// sentFlags returns the header of requests to a daemon, with the flags that are set.
func sentFlags(cmd *cobra.Command) http.Header {
	sent := http.Header{}
	cmd.Root().PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if header := f.Annotations[headerAnnotation]; header != nil && f.Value.String() != f.DefValue {
			sent.Set(header[0], f.Value.String())
		}
	})
	return sent
}

// In puts commands into a group of the help.
func In(group string, commands ...*cobra.Command) []*cobra.Command {
	for _, cmd := range commands {
		cmd.GroupID = group
	}
	return commands
}

// Prepare adds to a root the groups of commands, and the flags that many commands take.
func Prepare(root *cobra.Command) {
	root.AddGroup(
		&cobra.Group{ID: FirstDay, Title: "For the first day:"},
		&cobra.Group{ID: Curator, Title: "For curators, who decide what is collected:"},
		&cobra.Group{ID: Operator, Title: "For operators, who keep it running:"},
		&cobra.Group{ID: Archivist, Title: "For archivists, who keep and pass on WARC files:"},
		&cobra.Group{ID: Cluster, Title: "For a crawl on several machines:"},
		&cobra.Group{ID: Laboratory, Title: "For experiments and new crawls:"},
	)
	f := root.PersistentFlags()
	f.StringP(configName, "c", defaultConfig, "read this main configuration `FILE` (default: $"+configVariable+
		", ./"+defaultConfig+" or "+systemConfig+")")
	f.Bool(jsonName, false, "print JSON: one object, or one for each line of a list")
	f.String(socketName, "", "ask the daemon at this `SOCKET` (default: the one in the configuration)")
	f.Lookup(configName).DefValue = "" // it is in the help
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		HideOthers(cmd)
		help(cmd, args)
	})
}

// HideOthers hides the flags of the root that a command does not take. The root shows all.
func HideOthers(cmd *cobra.Command) {
	cmd.Root().PersistentFlags().VisitAll(func(f *pflag.Flag) { f.Hidden = cmd.HasParent() && !takes(cmd, f) })
}

// JSONFlag lets a command take the flag that asks for JSON.
func JSONFlag(cmd *cobra.Command, asJSON *bool) {
	take(cmd, jsonName, func(f *pflag.Flag) { *asJSON = f.Value.String() == "true" })
}

// take lets a command take a flag of the root. Before the command starts, set is called with the flag.
func take(cmd *cobra.Command, name string, set func(*pflag.Flag)) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[takenAnnotation+name] = ""
	before := cmd.PreRun
	cmd.PreRun = func(cmd *cobra.Command, args []string) {
		if before != nil {
			before(cmd, args)
		}
		if f := cmd.Flag(name); f != nil {
			set(f)
		}
	}
}

// takes reports whether a command takes a flag of the root.
func takes(cmd *cobra.Command, f *pflag.Flag) bool {
	name := f.Name
	if _, sent := f.Annotations[headerAnnotation]; sent {
		name = socketName
	}
	_, taken := cmd.Annotations[takenAnnotation+name]
	return taken
}

// checkGlobalFlags returns an error if the command line sets a flag of the root that the command does not take.
func checkGlobalFlags(cmd *cobra.Command) (err error) {
	cmd.Root().PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if cmd.Flag(f.Name) == f && f.Changed && !takes(cmd, f) {
			err = fmt.Errorf("unknown flag: --%s", f.Name)
		}
	})
	return err
}
