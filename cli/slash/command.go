package slash

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"replan/agent/runner"
	"replan/agent/session"
	"replan/cli/args"
)

// Command is an entry of the table: a chat command, or a subcommand such as
// create of /plan.
type Command struct {
	Name     string   // as typed
	Args     string   // placeholders such as ID|FILE; "" takes none
	Short    string   // one-line description
	Long     string   // text of --help; "" is Short
	Examples []string // command lines without the program's name
	Flags    func(*pflag.FlagSet)
	Check    func(path string, args []string) error // validates the arguments; nil takes none
	Do       func(context.Context, Call) error      // nil shows the help
	Below    []Command

	// Answer replaces Do and takes the rest of the line as typed.
	Answer    func(ctx context.Context, now runner.SlashState, rest string) (runner.Answer, error)
	Completes []session.Completing // completions for the argument of an Answer
	Words     []string             // possible arguments of an Answer
}

// Call is an invocation of a command.
type Call struct {
	Path  string // as typed: "/plan create", or "replan plan create"
	Args  []string
	Flags *pflag.FlagSet
}

// Syntax defines how commands are parsed in one environment.
type Syntax struct {
	Flags     func(*pflag.FlagSet)                        // common flags of all commands
	WrongFlag func(flags *pflag.FlagSet, err error) error // describes a wrong flag
	Before    func() error                                // checks the flags before a command runs
	// Foreign reports whether a flag exists only in the shell. Examples with such
	// flags are left out.
	Foreign func(flag string) bool
}

// Run runs a command, or returns its help as Markdown if that is requested. words are
// what follows its name. Without words, a command that only has others below it lists.
func (s Syntax) Run(ctx context.Context, c Command, words []string) (help string, err error) {
	path := c.Name
	wanted := false
	for {
		at := c.subcommand(words)
		if at < 0 {
			break
		}
		name := words[at]
		words = append(append([]string{}, words[:at]...), words[at+1:]...)
		below, ok := c.below(name)
		if !ok { // the word help
			wanted = true
			continue
		}
		c, path = below, path+" "+name
	}
	if list, ok := c.below("list"); ok && c.Do == nil && len(words) == 0 && !wanted {
		c, path = list, path+" "+list.Name
	}
	flags := s.flags(c)
	if err := flags.Parse(words); err != nil {
		return "", s.WrongFlag(flags, err)
	}
	if asked, _ := flags.GetBool("help"); asked || wanted || c.Do == nil && flags.NArg() == 0 {
		return s.help(c, path, flags), nil
	}
	check := c.Check
	if check == nil {
		check = c.none
	}
	if err := check(path, flags.Args()); err != nil {
		return "", err
	}
	if err := s.Before(); err != nil {
		return "", err
	}
	return "", c.Do(ctx, Call{Path: path, Args: flags.Args(), Flags: flags})
}

// none is the argument check of a command without arguments.
func (c Command) none(path string, words []string) error {
	if len(words) == 0 {
		return nil
	}
	known := make([]string, len(c.Below))
	for i, b := range c.Below {
		known[i] = b.Name
	}
	return args.Unknown(words[0], path, known)
}

// below returns the subcommand with the given name; ok is false for help.
func (c Command) below(name string) (below Command, ok bool) {
	for _, b := range c.Below {
		if b.Name == name {
			return b, true
		}
	}
	return Command{}, false
}

// subcommand returns the index of the word that names a subcommand, or help;
// below 0 if there is none.
func (c Command) subcommand(words []string) int {
	if len(c.Below) == 0 {
		return -1
	}
	for i := 0; i < len(words); i++ {
		switch word := words[i]; {
		case word == "--":
			return -1
		case word == "--output": // the only common flag that takes a value
			i++
		case strings.HasPrefix(word, "-"):
		default:
			if _, ok := c.below(word); ok || word == "help" {
				return i
			}
			return -1
		}
	}
	return -1
}

// flags returns the flags of a command and the common flags.
func (s Syntax) flags(c Command) *pflag.FlagSet {
	all := pflag.NewFlagSet(c.Name, pflag.ContinueOnError)
	all.BoolP("help", "h", false, "help for "+c.Name)
	if c.Flags != nil {
		c.Flags(all)
	}
	s.Flags(all)
	all.SetOutput(io.Discard)
	return all
}

// ErrUnknown reports that no command has the given name.
var ErrUnknown = errors.New("there is no such command")

// Find returns the command in a table that the first word of a line names.
func Find(table []Command, word string) (Command, error) {
	for _, c := range table {
		if c.Name == word {
			return c, nil
		}
	}
	return Command{}, ErrUnknown
}
