package runs

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/pflag"

	"replan/agent/event"
	"replan/agent/session"
	"replan/cli/app"
	"replan/cli/exit"
	"replan/cli/lines"
	"replan/cli/slash"
)

// changesOptions are the options of replan changes.
type changesOptions struct {
	app        *app.App
	take, drop bool
}

// NewChanges returns the command replan changes, which is /changes in the chat.
func NewChanges(a *app.App) slash.Command {
	o := changesOptions{app: a}
	return slash.Command{
		Name: "changes", Args: "[FILE...]", Short: "Take or drop what isolated runs changed",
		Long: "changes shows what runs changed in a copy of this folder (--isolate), as a diff. On a terminal it asks\n" +
			"whether to take the changes; elsewhere it needs --take or --drop. With FILE it takes these alone; the others\n" +
			"wait, unless --drop drops them. Files that changed here too are not taken. replan undo reverts taken changes.",
		Examples: []string{"changes", "changes --take", "changes --take README.md", "changes --take --drop README.md", "changes --drop --output json"},
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&o.take, "take", false, "take the changes, or those of FILE alone")
			f.BoolVar(&o.drop, "drop", false, "drop all changes, or those that are not taken")
		},
		Check: func(_ string, args []string) error {
			switch {
			case o.take && o.drop && len(args) == 0:
				return errors.New("take the changes or drop them: omit --take or --drop, or name the files to take")
			case len(args) > 0 && !o.take:
				return errors.New("FILE names what to take: add --take")
			}
			return nil
		},
		Do: func(ctx context.Context, c slash.Call) error { return o.run(ctx, c.Args) },
	}
}

// run shows the changes, or takes or drops them.
func (o changesOptions) run(ctx context.Context, files []string) (err error) {
	dry, out := o.app.Execution().DryRun, o.app.Out()
	var w *app.Services
	if c := o.app.Chat(); c == nil {
		if w, err = o.app.OpenChanges(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, exit.Wrap("end in order", w.Close())) }()
	} else if dry || out.JSON() {
		w = c.Services()
	} else {
		c.HandOver(o.command(files))
		return nil
	}
	c := lines.Changes{App: o.app, Copy: w.Changes()}
	now, err := c.Copy.Changes(ctx)
	if err != nil && !o.drop {
		return exit.Wrap("find the changes", err)
	}
	choice := o.choice(files)
	choice.Offer = now.Offer
	for _, name := range files {
		known := slices.ContainsFunc(now.Files, func(f event.ChangedFile) bool { return f.Path == name })
		if !known {
			return exit.Usage("no run changed %s", name)
		}
	}
	switch {
	case now.Empty() && c.Copy.Busy():
		return &exit.Error{Status: exit.BadUsage, Code: "locked", Err: errors.New("another session works in the copy with the changes: answer there, or end it first")}
	case err == nil && now.Empty():
		if out.JSON() {
			return out.PrintJSON(now)
		}
		return out.Print("no changes wait\n")
	case !o.take && !o.drop || dry:
		if out.JSON() {
			return out.PrintJSON(now)
		}
		if err := c.Show(o.app.IO().Out, now); err != nil || dry || !o.app.Asks() {
			return err
		}
		input, err := o.app.Input("read the answer")
		if err != nil {
			return err
		}
		answered := false
		if choice, answered, err = c.Ask(ctx, input, now); err != nil || !answered {
			return err
		}
	}
	return c.Settle(ctx, choice, o.app.IO().Out)
}

// command returns the command of the chat that takes or drops changes, or shows them.
func (o changesOptions) command(files []string) session.Command {
	if !o.take && !o.drop {
		return session.ShowChanges{}
	}
	return session.SettleChanges{Choice: o.choice(files)}
}

// choice returns the choice that flags and names of files make.
func (o changesOptions) choice(files []string) event.ChangesChoice {
	choice := event.ChangesChoice{All: o.take && len(files) == 0, Files: map[string]event.FileChoice{}, Keep: o.take && !o.drop}
	for _, name := range files {
		choice.Files[name] = event.FileChoice{All: true}
	}
	return choice
}
