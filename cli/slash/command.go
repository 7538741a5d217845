package slash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"replan/agent/runner"
	"replan/agent/session"
)

// Command is an entry of the table: a command of the chat, or one below it such
// as create below /plan.
type Command struct {
	Name     string   // as it is typed
	Args     string   // its arguments, such as ID|FILE; "" takes none
	Short    string   // one line that says what it does
	Long     string   // what --help says; "" is Short
	Examples []string // as they are typed behind the name of the program, without it
	Flags    func(*pflag.FlagSet)
	Check    func(path string, args []string) error // of its arguments; nil takes none
	Do       func(context.Context, Call) error      // nil says the help
	Below    []Command

	// Answer takes the rest of the line as it was typed, in place of Do.
	Answer    func(ctx context.Context, now runner.Moment, rest string) (runner.Answer, error)
	Completes []session.Completing // what its argument may be, of an Answer
	Words     []string             // that its argument may be, of an Answer
}

// Call is a command that is carried out.
type Call struct {
	Path  string // as it was typed: "/plan create", or "replan plan create"
	Args  []string
	Flags *pflag.FlagSet
}

// Syntax is how commands are read in one place.
type Syntax struct {
	Flags     func(*pflag.FlagSet) // that every command takes
	WrongFlag func(error) error    // says in words what is wrong with a flag
	Before    func() error         // checks them, before a command is carried out
	// Foreign reports whether a flag is one that only the shell's commands take:
	// examples with it are left out.
	Foreign func(flag string) bool
}

// Run carries out a command and writes its help to out where that is asked for.
// words are what was typed behind its name.
func (s Syntax) Run(ctx context.Context, c Command, words []string, out io.Writer) error {
	path := c.Name
	help := false
	top := true
	for {
		at := c.subcommand(words)
		if at < 0 {
			break
		}
		name := words[at]
		words = append(append([]string{}, words[:at]...), words[at+1:]...)
		below, ok := c.below(name)
		if !ok { // the word help
			help = true
			continue
		}
		c, path, top = below, path+" "+name, false
	}
	own, all := s.flags(c, top)
	if err := all.Parse(words); err != nil {
		return s.WrongFlag(err)
	}
	if asked, _ := all.GetBool("help"); asked || help || c.Do == nil && all.NArg() == 0 {
		_, err := io.WriteString(out, s.help(c, path, own, top))
		return err
	}
	check := c.Check
	if check == nil {
		check = None
	}
	if err := check(path, all.Args()); err != nil {
		return err
	}
	if err := s.Before(); err != nil {
		return err
	}
	return c.Do(ctx, Call{Path: path, Args: all.Args(), Flags: all})
}

// None is the check of a command without arguments.
func None(path string, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unknown command %q for %q", args[0], path)
	}
	return nil
}

// below returns the command of a name; ok is false for help.
func (c Command) below(name string) (below Command, ok bool) {
	for _, b := range c.Below {
		if b.Name == name {
			return b, true
		}
	}
	return Command{}, false
}

// subcommand is where among the words a command below this one, or help, is
// named; below 0 where none is.
func (c Command) subcommand(words []string) int {
	if len(c.Below) == 0 {
		return -1
	}
	for i := 0; i < len(words); i++ {
		switch word := words[i]; {
		case word == "--":
			return -1
		case word == "--output": // the only flag of every command that takes a value
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

// flags returns the flags of a command alone, and with those of every command.
func (s Syntax) flags(c Command, top bool) (own, all *pflag.FlagSet) {
	own = pflag.NewFlagSet(c.Name, pflag.ContinueOnError)
	own.BoolP("help", "h", false, "help for "+c.Name)
	if c.Flags != nil {
		c.Flags(own)
	}
	shared := pflag.NewFlagSet(c.Name, pflag.ContinueOnError)
	s.Flags(shared)
	if top {
		own.AddFlagSet(shared)
	}
	all = pflag.NewFlagSet(c.Name, pflag.ContinueOnError)
	all.AddFlagSet(own)
	all.AddFlagSet(shared)
	all.SetOutput(io.Discard)
	return own, all
}

// ErrUnknown says that no command has a name.
var ErrUnknown = errors.New("there is no such command")

// Find returns the command of a table by the word that a line begins with.
func Find(table []Command, word string) (Command, error) {
	for _, c := range table {
		if c.Name == word {
			return c, nil
		}
	}
	return Command{}, ErrUnknown
}
