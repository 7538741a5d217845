package help

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Annotations of flags.
const (
	groupKey = "replan_group" // the title of its group
	rankKey  = "replan_rank"  // common or rare
	valueKey = "replan_value" // the name of its value
)

// The groups of the program's flags, in the order of --help.
const (
	Goal    = "Goal"
	Gates   = "Gates"
	Model   = "Model"
	Tools   = "Tools"
	Limits  = "Limits"
	Workers = "Workers"
	Screen  = "Screen"
	Output  = "Output"
)

// Developers is the title of the commands for those who build on the program. The short
// help of the program names them in a line.
const Developers = "For developers"

// menuKey is the annotation of a command that only has others below it.
const menuKey = "replan_menu"

// Menu marks a command that does nothing without one of those below it.
func Menu(cmd *cobra.Command) { cmd.Annotations = map[string]string{menuKey: "true"} }

// Ranks of flags. Those between are shown in the help of the commands that they
// concern.
const (
	common = "common" // in the short help of the program too
	rare   = "rare"   // shown by --help-all alone
)

// In declares flags in a group, in order.
func In(f *pflag.FlagSet, group string, declare func(*pflag.FlagSet)) {
	flags := pflag.NewFlagSet(group, pflag.ContinueOnError)
	declare(flags)
	flags.VisitAll(func(flag *pflag.Flag) { annotate(flag, groupKey, group) })
	f.AddFlagSet(flags)
}

// Common marks flags that the short help of the program shows.
func Common(f *pflag.FlagSet, names ...string) { rank(f, common, names) }

// Rare marks flags that only --help-all shows.
func Rare(f *pflag.FlagSet, names ...string) { rank(f, rare, names) }

func rank(f *pflag.FlagSet, rank string, names []string) {
	for _, name := range names {
		annotate(f.Lookup(name), rankKey, rank)
	}
}

func annotate(f *pflag.Flag, key, value string) {
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[key] = []string{value}
}

// annotation returns an annotation of a flag, "" for none.
func annotation(f *pflag.Flag, key string) string { return strings.Join(f.Annotations[key], "") }

// Name keeps the names of the values of all flags, which descriptions put in backquotes,
// and removes the backquotes. Completions and the manual page show descriptions as they
// are.
func Name(cmd *cobra.Command) {
	name := func(f *pflag.Flag) {
		if f.Annotations[valueKey] != nil {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		if known := map[string]string{"int": "N", "uint": "N", "float": "N", "duration": "TIME", "string": "TEXT", "stringArray": "TEXT"}[value]; known != "" {
			value = known
		}
		f.Usage = usage
		annotate(f, valueKey, value)
	}
	cmd.PersistentFlags().VisitAll(name)
	cmd.Flags().VisitAll(name)
	for _, below := range cmd.Commands() {
		Name(below)
	}
}

// concerns returns the groups and single flags of the program that mean something
// to a command; ok is false if all do.
func concerns(path string) (names []string, ok bool) {
	switch path {
	case "replan", "replan run":
		return nil, false
	case "replan demo":
		return []string{Gates, Model, Screen, Output, Limits, "think", "review", "dry-run", "eager"}, true
	case "replan plan create":
		return []string{Goal, Model, Tools, Limits, Output, "ascii"}, true
	case "replan plan run":
		return []string{Gates, Model, Tools, Workers, Limits, Output, "dry-run", "review", "ascii", "strict"}, true
	case "replan plan resume":
		return []string{Gates, Model, Tools, Limits, Output, "dry-run", "review", "ascii", "on", "detach"}, true
	case "replan plan check":
		return []string{Tools, Output, "allow", "deny", "max-plan-steps", "ascii", "strict"}, true
	case "replan tools", "replan tools list", "replan tools show":
		return []string{Tools, Output, "allow", "deny"}, true
	case "replan tools accept":
		return []string{Tools, Output, "approve"}, true
	case "replan tools call":
		return []string{Gates, Tools, Output, "dry-run", "step-timeout", "strict"}, true
	case "replan runs prune", "replan undo", "replan redo", "replan plan delete", "replan plan import":
		return []string{Output, "dry-run"}, true
	case "replan replay":
		return []string{Screen, Output, "on"}, true
	case "replan serve":
		return []string{Gates, Model, Tools, Limits}, true
	case "replan doctor":
		return []string{Model, Tools, Output, "isolate", "no-network"}, true
	case "replan fit":
		return []string{"model", "host", "ascii", Output}, true
	case "replan mcp list", "replan mcp test", "replan mcp login":
		return []string{"mcp-config", "ascii", "isolate", "no-network", Output}, true
	case "replan models", "replan models list":
		return []string{"model", "host", Output}, true
	case "replan man":
		return []string{"plain"}, true
	case "replan models pull":
		return []string{"host", "plain", Output}, true
	case "replan models remove":
		return []string{"host", Output}, true
	case "replan plan show":
		return []string{Output, "ascii"}, true
	case "replan runs", "replan runs list", "replan runs stop":
		return []string{Output, "on"}, true
	case "replan runs show":
		return []string{Output, "ascii", "on"}, true
	case "replan runs follow":
		return []string{Screen, Output, "on"}, true
	default:
		return []string{Output}, true
	}
}

// meaning returns what a flag does for a command.
func meaning(cmd *cobra.Command, f *pflag.Flag) string {
	switch path := cmd.CommandPath(); {
	case f.Name == "dry-run" && (path == "replan undo" || path == "replan redo"):
		return "show the diff; restore nothing"
	case f.Name == "dry-run" && slices.Contains([]string{"replan runs prune", "replan plan delete", "replan plan import"}, path):
		return "show what would change; change nothing"
	default:
		return f.Usage
	}
}

// Concerns reports whether a flag means something to a command. Every command
// accepts the flags of the program, so that an alias can carry them.
func Concerns(cmd *cobra.Command, f *pflag.Flag) bool {
	if cmd.LocalNonPersistentFlags().Lookup(f.Name) != nil {
		return true
	}
	names, some := concerns(cmd.CommandPath())
	return !some || slices.Contains(names, f.Name) || slices.Contains(names, annotation(f, groupKey))
}
