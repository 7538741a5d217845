package settings

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"replan/agent/session"
	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/doctor"
	"replan/cli/exit"
	"replan/cli/help"
	"replan/cli/tty"
	"replan/internal/english"
	"replan/internal/untrusted"
)

// group is replan config with the commands below it.
type group struct{ app *app.App }

// New returns the command replan config.
func New(a *app.App) *cobra.Command {
	g := group{a}
	command := &cobra.Command{
		Use: "config", Short: "Show and change your settings",
		Long: "config shows the settings in force and where each comes from, and changes your config.toml. Comments and\n" +
			"layout of the file stay. docs/configuration.md explains each key.",
		Example: "  replan config list\n  replan config set screen.theme dark\n  replan config get model.name\n  replan config edit",
		Args:    args.None,
		RunE:    func(cmd *cobra.Command, _ []string) error { return help.Print(a.IO().Out, cmd, false) },
	}
	help.Menu(command)
	command.AddCommand(g.newList(), g.newGet(), g.newSet(), g.newUnset(), g.newPath(), g.newEdit())
	return command
}

func (g group) newList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the settings in force and their sources",
		Example: "  replan config list\n  replan config list --output json",
		Args:    args.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := g.app.Complete(cmd.Flags()); err != nil {
				return err
			}
			return g.list()
		},
	}
}

// list prints the settings: as a table for people, and as whole values for programs.
func (g group) list() error {
	out, all := g.app.Out(), g.app.AllSettings()
	if out.JSON() {
		return out.PrintJSON(all)
	}
	t := out.Terminal()
	if t == nil {
		var rows [][]string
		for _, s := range all {
			rows = append(rows, []string{s.Key, s.Value, s.Source})
		}
		return out.Print(tty.Tabs(rows))
	}
	const explained = 110 // cells that leave room for what the settings do
	listing := tty.Listing{Heads: []string{"setting", "value", "from"}, Wide: 1}
	if t.Width() >= explained {
		listing.Heads, listing.Wide = append(listing.Heads, "what it is"), 3
	}
	for _, s := range all {
		value := t.Styles.Strong
		if s.Source == "default" {
			value = t.Styles.Muted
		}
		const longest = 30 // cells of a value beside its explanation
		text := untrusted.Line(s.Value)
		row := []tty.Cell{{Text: s.Key, Style: t.Styles.Accent}, {Text: text, Style: value}, {Text: s.Source, Style: t.Styles.Faint}}
		if listing.Wide == 3 {
			row[1].Text = t.Styles.Cut(text, longest)
			row = append(row, tty.Cell{Text: s.About, Style: t.Styles.Text})
		}
		listing.Rows = append(listing.Rows, row)
	}
	return out.Print(t.List(listing))
}

// named returns the setting of a key.
func (g group) named(key string) (session.Setting, error) {
	all := g.app.AllSettings()
	keys := make([]string, len(all))
	for i, s := range all {
		keys[i] = s.Key
	}
	if at := slices.Index(keys, key); at >= 0 {
		return all[at], nil
	}
	for _, s := range g.app.Report().Settings {
		if s.Key == key {
			return session.Setting{}, exit.Usage("%s is not a key of config.toml: %s", key, s.About)
		}
	}
	hint := english.DidYouMean(key, keys)
	if at := slices.IndexFunc(keys, func(known string) bool { return strings.HasSuffix(known, "."+key) }); at >= 0 {
		hint = "; did you mean " + keys[at] + "?"
	}
	return session.Setting{}, exit.Usage("there is no setting %q%s", key, cmp.Or(hint, "; replan config list shows all"))
}

func (g group) newGet() *cobra.Command {
	return &cobra.Command{
		Use: "get KEY", Short: "Print the value of a setting",
		Example: "  replan config get model.name\n  replan config get limits.max_steps --output json",
		Args:    args.Shell(args.One("KEY")),
		RunE: func(cmd *cobra.Command, words []string) error {
			if err := g.app.Complete(cmd.Flags()); err != nil {
				return err
			}
			s, err := g.named(words[0])
			if err != nil {
				return err
			}
			if g.app.Out().JSON() {
				return g.app.Out().PrintJSON(s)
			}
			return g.app.Out().Print(untrusted.Line(typed(s)) + "\n")
		},
	}
}

// typed returns the value of a setting as a user types it, or what it is without one.
func typed(s session.Setting) string {
	if text, err := strconv.Unquote(s.Literal); err == nil && text != "" {
		return text
	}
	return cmp.Or(strings.Trim(s.Literal, `"`), s.Value)
}

func (g group) newSet() *cobra.Command {
	return &cobra.Command{
		Use: "set KEY VALUE", Short: "Save a setting in your config.toml",
		Example: "  replan config set model.name qwen3:8b\n  replan config set limits.max_duration 30m",
		Args: func(cmd *cobra.Command, words []string) error {
			if len(words) != 2 {
				return exit.Usage("name a setting and its value: %s KEY VALUE", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, words []string) error { return g.change(cmd, words[0], &words[1]) },
	}
}

func (g group) newUnset() *cobra.Command {
	return &cobra.Command{
		Use: "unset KEY", Short: "Remove a setting from your config.toml",
		Example: "  replan config unset screen.theme",
		Args:    args.Shell(args.One("KEY")),
		RunE:    func(cmd *cobra.Command, words []string) error { return g.change(cmd, words[0], nil) },
	}
}

// changed is the outcome of a change in the output.
type changed struct {
	Key   string  `json:"key"`
	Value *string `json:"value"` // null if the key was removed, or was not there
	File  string  `json:"file"`
}

// change saves a value of a setting, or removes its key for nil. It also works on a file
// whose values are wrong, which it may put right.
func (g group) change(cmd *cobra.Command, key string, value *string) error {
	wrong := g.app.Complete(cmd.Flags())
	out, file := g.app.Out(), g.app.Folders().Dirs.ConfigFile()
	if file == "" {
		return wrong
	}
	s, err := g.named(key)
	if err != nil {
		return err
	}
	if value != nil {
		if err := g.app.CheckSetting(s, *value); err != nil {
			return exit.Usage("%w", err)
		}
	}
	found, err := g.app.SaveSetting(key, value)
	if err != nil {
		return exit.Usage("%w", err)
	}
	if out.JSON() {
		return out.PrintJSON(changed{key, value, file})
	}
	said := "removed " + key + " from " + file
	switch {
	case value != nil:
		said = "saved " + key + " = " + *value + " in " + file
	case found == "":
		return out.Print(untrusted.Line(file+" does not set "+key) + "\n")
	}
	if err := out.Print(doctor.Sign(g.app, doctor.OK) + " " + untrusted.Line(said) + "\n"); err != nil {
		return err
	}
	if s.Source == "environment" {
		out.Note("in this shell the environment sets %s to %s, which takes precedence", key, untrusted.Line(s.Value))
	}
	return nil
}

func (g group) newPath() *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "Print the path of your config.toml",
		Example: "  replan config path",
		Args:    args.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			file, err := g.file(cmd)
			if err != nil {
				return err
			}
			if g.app.Out().JSON() {
				return g.app.Out().PrintJSON(map[string]string{"file": file})
			}
			return g.app.Out().Print(untrusted.Line(file) + "\n")
		},
	}
}

// file returns the path of the user's file, which may be wrong.
func (g group) file(cmd *cobra.Command) (string, error) {
	wrong := g.app.Complete(cmd.Flags())
	if dirs := g.app.Folders().Dirs; dirs.Config != "" {
		return dirs.ConfigFile(), nil
	}
	return "", wrong
}
