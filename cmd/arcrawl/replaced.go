package main

import (
	"fmt"
	"slices"
	"strings"
)

// replacement says what to type instead of a command or flag that this program does not have any more.
type replacement struct{ old, now string }

// replacements lists commands and flags of earlier versions. A flag is written behind its command.
var replacements = []replacement{
	{"plan --running", "reload --dry-run --staged DIR --config FILE"},
	{"plan", "reload --dry-run [--staged DIR | HOSTFILE…]"},
	{"top", "status --watch"},
	{"why-not", "why URI"},
	{"frontier force", "visit"},
	{"frontier reschedule", "visit --at TIME, or --in DURATION"},
	{"frontier hold", "hold"},
	{"frontier release", "release"},
	{"frontier pause", "hold HOST"},
	{"frontier resume", "release HOST"},
	{"frontier count", "frontier list --count"},
	{"hold --socket", "hold --config FILE"},
	{"release --socket", "release --config FILE"},
	{"visit --socket", "visit --config FILE"},
	{"hosts", "host list"},
	{"host add", "seeds add URI…"},
	{"host show", "host edit --print HOST"},
	{"host set", "host edit --label LABEL KEY=VALUE…"},
	{"host remove", "seeds remove HOST"},
	{"seeds export", "seeds list --csv"},
	{"seeds undo", "seeds add --undo"},
	{"log stats", "report visits"},
	{"log", "report visits"},
	{"report dedup", "report visits --dedup"},
	{"token add", "user add NAME --token"},
	{"token list", "user list"},
	{"token remove", "user remove NAME --token"},
	{"token", "user"},
	{"user role", "user add NAME --change --role ROLE"},
	{"user password", "user add NAME --change --password"},
	{"schema", "init --schema main, or host"},
	{"backup verify", "backup list --verify DIR"},
	{"frontier rebuild", "backup restore --rebuild, or --missing"},
	{"frontier export", "frontier list --output FILE"},
	{"host rename", "host edit OLD --rename NEW"},
	{"seeds import", "seeds add --from FILE, or --undo"},
	{"report permission", "effective --permissions"},
	{"user change", "user add NAME --change"},
	{"fsck", "check --store"},
	{"impact", "deps --lost FILE…"},
	{"reduplicate", "extract --all FILE…; its --all is --revisits none"},
	{"dedup status", "dedup"},
	{"diff --host-rules", "diff --scrub @host"},
	{"extract --host-list", "extract --host @FILE"},
	{"extract --keep-revisits", "extract --revisits keep"},
	{"fetch --cookie", "fetch --header 'Cookie: NAME=VALUE'"},
	{"sim --crowd-learned", "sim --rule learned"},
	{"extract --no-revisits", "extract --revisits none"},
	{"wacz --host-list", "wacz --host @FILE"},
	{"report visits --every", "report visits --follow=1m"},
	{"report visits --status", "report visits --by status"},
	{"dedup purge", "dedup remove --purge"},
	{"sim wait", "sim --states STATE,… --set KEY=VALUE,…"},
	{"sim year", "sim --year"},
	{"cluster status", "status --cluster"},
	{"cluster push", "reload --cluster"},
	{"cluster remove", "cluster drain NODE --remove"},
	{"scrub candidates", "scrub suggest"},
}

// replaced returns an error that says what to type instead of an earlier command or flag, if args have one.
func replaced(args []string) error {
	words := args
	if i := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") }); i >= 0 {
		words = args[:i]
	}
	for _, r := range replacements {
		command, flag, hasFlag := strings.Cut(r.old, " --")
		names := strings.Fields(command)
		if len(words) < len(names) || !slices.Equal(words[:len(names)], names) {
			continue
		}
		sets := func(arg string) bool { return arg == "--"+flag || strings.HasPrefix(arg, "--"+flag+"=") }
		if !hasFlag || slices.ContainsFunc(args, sets) {
			return fmt.Errorf("there is no 'arcrawl %s' any more; write: arcrawl %s", r.old, r.now)
		}
	}
	return nil
}
