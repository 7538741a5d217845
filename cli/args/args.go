package args

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"replan/cli/exit"
	"replan/cli/help"
	"replan/internal/english"
)

// None refuses arguments, which are probably mistyped commands.
func None(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return exit.Usage("%w", Unknown(args[0], cmd.CommandPath(), help.Names(cmd)))
}

// One requires exactly one argument and names it in the error.
func One(what string) func(path string, args []string) error {
	return func(path string, args []string) error {
		if len(args) == 1 && strings.TrimSpace(args[0]) != "" {
			return nil
		}
		if len(args) > 1 {
			return exit.Usage("%s takes one %s, got %d", path, what, len(args))
		}
		return exit.Usage("name one: %s %s", path, what)
	}
}

// AtMostOne requires one argument or none.
func AtMostOne(what string) func(path string, args []string) error {
	return func(path string, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return One(what)(path, args)
	}
}

// Any accepts any arguments.
func Any(string, []string) error { return nil }

// Shell converts an argument check of the chat to one of the shell.
func Shell(check func(path string, args []string) error) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error { return check(cmd.CommandPath(), args) }
}

// WrongFlag describes what is wrong with a flag of a set. An unknown flag is answered
// with the one that was meant, any other mistake with a hint, "" for none.
func WrongFlag(flags *pflag.FlagSet, err error, hint string) error {
	var value *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &value):
		takes, ok := map[string]string{
			"int": "a whole number", "uint": "a whole number from 0 on", "float64": "a number", "duration": "a time such as 90s or 30m", "bool": "true or false",
		}[value.GetFlag().Value.Type()]
		if ok {
			err = fmt.Errorf("--%s takes %s, not %q", value.GetFlag().Name, takes, value.GetValue())
		}
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		err = fmt.Errorf("unknown flag -%s", unknown.GetSpecifiedName())
	case errors.As(err, &unknown):
		var known []string
		flags.VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
		name := "--" + unknown.GetSpecifiedName()
		if hint := english.DidYouMean(name, known); hint != "" {
			return fmt.Errorf("unknown flag %s%s", name, hint)
		}
		err = fmt.Errorf("unknown flag %s", name)
	}
	if hint != "" {
		return fmt.Errorf("%w; %s", err, hint)
	}
	return err
}

// Unknown returns the error for a word that is none of the commands below a path. It
// names the one that was probably meant, or else all of them.
func Unknown(word, path string, known []string) error {
	hint := english.DidYouMeanAny(word, known)
	if hint == "" {
		for _, same := range map[string][]string{"rm": {"delete", "prune"}, "remove": {"delete", "prune"}, "delete": {"prune"}, "ls": {"list"}}[word] {
			if slices.Contains(known, same) {
				return fmt.Errorf("unknown command %q for %q; did you mean %s?", word, path, same)
			}
		}
		if len(known) > 1 {
			hint = "; it has " + english.List(known, "and")
		}
	}
	return fmt.Errorf("unknown command %q for %q%s", word, path, hint)
}
