package help

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ErrAll asks for the help with all flags, as pflag.ErrHelp asks for help.
var ErrAll = errors.New("help requested, all of it")

// request is the value of --help and --help-all: setting it ends the parsing with
// its error. It says that it is a bool, because cobra reads it as one.
type request struct{ err error }

func (r request) Set(string) error { return r.err }
func (request) String() string     { return "false" }
func (request) Type() string       { return "bool" }

// Register declares --help and --help-all. A command answers them in its handler
// for wrong flags: see [Asked].
func Register(f *pflag.FlagSet) {
	f.VarPF(request{pflag.ErrHelp}, "help", "h", "show help").NoOptDefVal = "true"
	f.VarPF(request{ErrAll}, "help-all", "", "show help with all flags").NoOptDefVal = "true"
}

// Asked reports whether err, from parsing flags, is a request for help, and
// whether for all of it.
func Asked(err error) (asked, all bool) {
	all = errors.Is(err, ErrAll)
	return all || errors.Is(err, pflag.ErrHelp), all
}

// Topic returns the command that words name, nil if there is none. word is then
// the first that names none.
func Topic(root *cobra.Command, words []string) (cmd *cobra.Command, word string) {
	cmd = root
	for _, word := range words {
		var next *cobra.Command
		for _, c := range cmd.Commands() {
			if c.Name() == word || c.HasAlias(word) {
				next = c
			}
		}
		if next == nil {
			return nil, word
		}
		cmd = next
	}
	return cmd, ""
}

// Names returns the names of the commands below one, hidden ones left out.
func Names(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}
