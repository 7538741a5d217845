package lines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/cli/app"
	"replan/cli/exit"
	"replan/internal/english"
	"replan/mcpclient/workcopy"
	"replan/tui/wording"
)

// Changes shows the user what runs changed in a copy of the workspace, and asks what to
// do with it.
type Changes struct {
	App  *app.App
	Copy *app.WorkingCopy
}

// Show prints changes.
func (c Changes) Show(out io.Writer, now event.Changes) error {
	var b strings.Builder
	writef := app.LineWriter(&b)
	writef("changed by %s: %s", english.Agree(len(now.Runs), "run", "runs"), strings.Join(now.Runs, ", "))
	b.WriteString(c.App.Out().Diff(out, now.Diff()))
	for _, f := range now.Files {
		if f.Conflict {
			writef("conflict: %s changed in this folder too, so it cannot be taken", f.Path)
		}
	}
	for _, m := range now.Moves {
		writef("git: %s", m)
	}
	for _, note := range now.Notes {
		writef("note: %s", note)
	}
	_, err := io.WriteString(c.App.Out().Colored(out), b.String())
	return exit.Wrap(exit.Writing, err)
}

// Ask asks which changes to take, and whether there was an answer.
func (c Changes) Ask(ctx context.Context, input *app.Input, now event.Changes) (choice event.ChangesChoice, answered bool, err error) {
	choice = event.ChangesChoice{Offer: now.Offer, Files: map[string]event.FileChoice{}}
	for {
		word, err := input.Ask(ctx, fmt.Sprintf("take %s into this folder? [a]ll, by [f]ile, [d]rop, [L]ater: ", wording.Changed(now)))
		if err != nil {
			return choice, false, err
		}
		switch word {
		case "a", "all", "y", "yes":
			choice.All = true
			return choice, true, nil
		case "d", "drop":
			return choice, true, nil
		case "", "l", "later":
			return choice, false, c.App.Out().Print("they wait: replan changes\n")
		case "f", "file":
			for _, f := range now.Files {
				if f.Conflict {
					continue
				}
				word, err := input.Ask(ctx, fmt.Sprintf("take %s (%s)? [y]es, [N]o: ", f.Path, wording.ChangeOf(f)))
				if err != nil {
					return choice, false, err
				}
				if word == "y" || word == "yes" {
					choice.Files[f.Path] = event.FileChoice{All: true}
				}
			}
			if len(choice.Files) > 0 {
				choice.Keep = true
				return choice, true, nil
			}
		}
	}
}

// Settle takes or drops changes, and says what was done.
func (c Changes) Settle(ctx context.Context, choice event.ChangesChoice, out io.Writer) error {
	done, err := c.Copy.Settle(ctx, choice)
	if errors.Is(err, workcopy.ErrOutdated) {
		return &exit.Error{Status: exit.Failed, Code: "changed", Err: err}
	}
	if err != nil {
		return exit.Wrap("take the changes", err)
	}
	if c.App.Out().JSON() && out == c.App.IO().Out {
		return c.App.Out().PrintJSON(done)
	}
	text := wording.Settled(done)
	if n := c.Copy.Others(); n > 0 {
		text += fmt.Sprintf("\nchanges wait in %d more %s of this folder: replan changes", n, english.Agree(n, "copy", "copies"))
	}
	_, err = fmt.Fprintln(out, text)
	return exit.Wrap(exit.Writing, err)
}

// Answer asks the user what to do with the changes of a run that ended. If no user
// is present, input is nil: they wait, unless all gates are approved.
func (c Changes) Answer(ctx context.Context, input *app.Input) error {
	if !c.Copy.Exists() || ctx.Err() != nil {
		return nil
	}
	now, err := c.Copy.Changes(ctx)
	if err != nil || now.Empty() {
		return exit.Wrap("find the changes of the run", err)
	}
	out := c.App.IO().Out
	if c.App.Out().JSON() {
		out = c.App.IO().Err
	}
	switch {
	case c.App.Gates().Approve == policy.ApproveAll:
		return c.Settle(ctx, event.ChangesChoice{Offer: now.Offer, All: true}, out)
	case input == nil:
		_, err := fmt.Fprintf(out, "%s in a copy of this folder: replan changes shows, takes or drops them\n", english.Capital(wording.ChangesWait(now)))
		return exit.Wrap(exit.Writing, err)
	}
	if err := c.Show(out, now); err != nil {
		return err
	}
	choice, answered, err := c.Ask(ctx, input, now)
	if err != nil || !answered {
		return err
	}
	return c.Settle(ctx, choice, out)
}
