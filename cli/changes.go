package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/cli/ask"
	"replan/cli/config"
	"replan/cli/exit"
	"replan/cli/slash"
	"replan/internal/english"
	"replan/mcpclient/box"
	"replan/mcpclient/workcopy"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/change"
	"replan/tui/telling"
)

// newChanges returns the command replan changes, which is /changes in the chat.
func newChanges(o *options) slash.Command {
	var take, drop bool
	return slash.Command{
		Name: "changes", Args: "[FILE...]", Short: "Take or drop what isolated runs changed",
		Long: "changes shows what runs changed in a copy of this folder (--isolate), as a diff. On a terminal it asks\n" +
			"whether to take the changes; elsewhere it needs --take or --drop. With FILE it takes these alone; the others\n" +
			"wait, unless --drop drops them. Files that changed here too are not taken. replan undo reverts taken changes.",
		Examples: []string{"changes", "changes --take", "changes --take README.md", "changes --take --drop README.md", "changes --drop --output json"},
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&take, "take", false, "take the changes, or those of FILE alone")
			f.BoolVar(&drop, "drop", false, "drop all changes, or those that are not taken")
		},
		Check: func(_ string, args []string) error {
			switch {
			case take && drop && len(args) == 0:
				return errors.New("take the changes or drop them: omit --take or --drop, or name the files to take")
			case len(args) > 0 && !take:
				return errors.New("FILE names what to take: add --take")
			}
			return nil
		},
		Do: func(ctx context.Context, c slash.Call) error { return o.runs().changes(ctx, take, drop, c.Args) },
	}
}

// changes implements replan changes.
func (o runs) changes(ctx context.Context, take, drop bool, files []string) (err error) {
	if o.chatContext != nil && !o.DryRun && o.Output != config.OutputJSON {
		o.chatContext.then = settleOf(take, drop, files)
		return nil
	}
	c, closed, err := o.waiting(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, exit.Wrap("end in order", closed())) }()
	now, err := c.Changes(ctx)
	if err != nil && !drop {
		return exit.Wrap("find the changes", err)
	}
	choice := chosen(take, drop, files)
	choice.Offer = now.Offer
	for _, name := range files {
		known := slices.ContainsFunc(now.Files, func(f event.ChangedFile) bool { return f.Path == name })
		if !known {
			return exit.Usage("no run changed %s", name)
		}
	}
	switch {
	case now.Empty() && c.w.copy.Busy:
		return &exit.Error{Status: exit.BadUsage, Code: "locked", Err: errors.New("another session works in the copy with the changes: answer there, or end it first")}
	case err == nil && now.Empty():
		if o.Output == config.OutputJSON {
			return o.printJSON(now)
		}
		return o.print("no changes wait\n")
	case !take && !drop || o.DryRun:
		if o.Output == config.OutputJSON {
			return o.printJSON(now)
		}
		if err := o.showChanges(o.io.Out, now); err != nil || o.DryRun || !o.asks() {
			return err
		}
		input, err := ask.NewInput(o.io.In, o.io.Quiet)
		if err != nil {
			return exit.Wrap("read the answer", err)
		}
		answered := false
		if choice, answered, err = o.askChanges(ctx, input, now); err != nil || !answered {
			return err
		}
	}
	return o.settleChanges(ctx, c, choice, o.io.Out)
}

// settleOf returns the command of the chat that takes or drops changes, or shows them.
func settleOf(take, drop bool, files []string) session.Command {
	if !take && !drop {
		return session.ShowChanges{}
	}
	return session.SettleChanges{Choice: chosen(take, drop, files)}
}

// chosen returns the choice that flags and names of files make.
func chosen(take, drop bool, files []string) event.ChangesChoice {
	choice := event.ChangesChoice{All: take && len(files) == 0, Files: map[string]event.FileChoice{}, Keep: take && !drop}
	for _, name := range files {
		choice.Files[name] = event.FileChoice{All: true}
	}
	return choice
}

// waiting opens the copy in which changes wait; in the chat it is that of the session.
func (o runs) waiting(ctx context.Context) (c copies, closed func() error, err error) {
	if o.chatContext != nil {
		return copies{o: o.options, w: o.chatContext.services}, func() error { return nil }, nil
	}
	w := &services{}
	if w.logger, err = w.openLog(o.store.Dirs.Logs()); err != nil {
		return c, nil, err
	}
	isolated := *o.options
	isolated.Isolate.On, isolated.Isolate.InPlace, isolated.DryRun = true, false, false
	if err = w.openCopy(ctx, &isolated, opening{runs: true}); err == nil {
		if err = w.makeBox(&isolated); err == nil {
			err = w.openTarget(&isolated)
		}
	}
	if err != nil {
		return c, nil, errors.Join(err, w.close())
	}
	return copies{o: o.options, w: w}, w.close, nil
}

// showChanges prints changes.
func (o *options) showChanges(out io.Writer, c event.Changes) error {
	var b strings.Builder
	writef := lineWriter(&b)
	writef("changed by %s: %s", english.Agree(len(c.Runs), "run", "runs"), strings.Join(c.Runs, ", "))
	b.WriteString(o.diff(out, c.Diff()))
	for _, f := range c.Files {
		if f.Conflict {
			writef("conflict: %s changed in this folder too, so it cannot be taken", f.Path)
		}
	}
	for _, m := range c.Moves {
		writef("git: %s", m)
	}
	for _, note := range c.Notes {
		writef("note: %s", note)
	}
	_, err := io.WriteString(o.coloured(out), b.String())
	return exit.Wrap(exit.Writing, err)
}

// askChanges asks which changes to take, and whether there was an answer.
func (o *options) askChanges(ctx context.Context, input *ask.Input, c event.Changes) (choice event.ChangesChoice, answered bool, err error) {
	choice = event.ChangesChoice{Offer: c.Offer, Files: map[string]event.FileChoice{}}
	answer := func(prompt string) (string, error) {
		line, _, err := input.AskIn(ctx, o.coloured(o.io.Out), prompt, o.look())
		return strings.ToLower(strings.TrimSpace(line)), err
	}
	for {
		word, err := answer(fmt.Sprintf("take %s into this folder? [a]ll, by [f]ile, [d]rop, [L]ater: ", telling.Changed(c)))
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
			return choice, false, o.print("they wait: replan changes\n")
		case "f", "file":
			for _, f := range c.Files {
				if f.Conflict {
					continue
				}
				word, err := answer(fmt.Sprintf("take %s (%s)? [y]es, [N]o: ", f.Path, telling.ChangeOf(f)))
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

// settleChanges takes or drops changes, and says what was done.
func (o *options) settleChanges(ctx context.Context, c copies, choice event.ChangesChoice, out io.Writer) error {
	done, err := c.Settle(ctx, choice)
	if errors.Is(err, workcopy.ErrOutdated) {
		return &exit.Error{Status: exit.Failed, Code: "changed", Err: err}
	}
	if err != nil {
		return exit.Wrap("take the changes", err)
	}
	if o.Output == config.OutputJSON && out == o.io.Out {
		return o.printJSON(done)
	}
	text := telling.Settled(done)
	if n := c.w.copy.Others; n > 0 {
		text += fmt.Sprintf("\nchanges wait in %d more %s of this folder: replan changes", n, english.Agree(n, "copy", "copies"))
	}
	_, err = fmt.Fprintln(out, text)
	return exit.Wrap(exit.Writing, err)
}

// answerChanges asks the user what to do with the changes of a run that ended. If
// nobody is there to answer, they wait, unless all gates are approved.
func (o *options) answerChanges(ctx context.Context, w *services, input *ask.Input) error {
	if w.copy == nil || ctx.Err() != nil {
		return nil
	}
	c := copies{o: o, w: w}
	now, err := c.Changes(ctx)
	if err != nil || now.Empty() {
		return exit.Wrap("find the changes of the run", err)
	}
	out := o.io.Out
	if o.Output == config.OutputJSON {
		out = o.io.Err
	}
	switch {
	case o.ApproveText == string(policy.ApproveAll):
		return o.settleChanges(ctx, c, event.ChangesChoice{Offer: now.Offer, All: true}, out)
	case input == nil:
		_, err := fmt.Fprintf(out, "%s in a copy of this folder: replan changes shows, takes or drops them\n", english.Capital(telling.ChangesWait(now)))
		return exit.Wrap(exit.Writing, err)
	}
	if err := o.showChanges(out, now); err != nil {
		return err
	}
	choice, answered, err := o.askChanges(ctx, input, now)
	if err != nil || !answered {
		return err
	}
	return o.settleChanges(ctx, c, choice, out)
}

var _ runner.WorkingCopy = copies{}

// folder returns the folder that runs and their programs work in.
func (w *services) folder(o *options) string {
	if w.copy != nil {
		return w.copy.Dir
	}
	return o.Workspace
}

// backups returns where the old content of changed files is kept: what runs change in
// a copy is undone by dropping it.
func (w *services) backups(o *options) string {
	if w.copy != nil {
		return ""
	}
	return o.store.Runs.Dir
}

// openCopy opens the copy of the workspace if runs work in one.
func (w *services) openCopy(ctx context.Context, o *options, how opening) (err error) {
	if !o.Isolate.On || o.Isolate.InPlace || !how.runs || o.DryRun {
		return nil
	}
	if _, err := box.Supported(); err != nil {
		return nil //nolint:nilerr // the box says so
	}
	w.copy, err = workcopy.Open(ctx, workcopy.Config{Folder: o.Workspace, Copies: o.store.Dirs.Copies(), Private: o.store.Dirs.All(), Run: how.resume})
	switch {
	case err == nil && w.copy.Missing() > 0:
		w.notes = append(w.notes, english.Count(w.copy.Missing(), "file")+" of this folder cannot be read: the copy in which runs work lacks them")
	case err == nil && w.copy.Waits():
		w.notes = append(w.notes, "runs work in a copy of this folder, in which earlier runs worked: /changes or replan changes shows what they changed")
	case err == nil:
		w.notes = append(w.notes, "runs work in a copy of this folder; you take or drop what they changed at the end")
	default:
		return &exit.Error{Status: exit.BadUsage, Code: "no_copy", Err: fmt.Errorf("%w; with --in-place runs work in the folder itself", err)}
	}
	return nil
}

// makeBox makes the box of the children if the user wants one, and notes what this
// kernel does not hold.
func (w *services) makeBox(o *options) (err error) {
	if !o.Isolate.On {
		return nil
	}
	w.box, err = box.New(box.Config{Dir: w.folder(o), Write: o.Isolate.Write, Private: o.Dirs.All(), Network: o.Isolate.Network, Copy: w.copy != nil})
	if err != nil {
		advice := ""
		if _, unsupported := box.Supported(); unsupported != nil {
			advice = "; to run them all the same, leave out --isolate"
		}
		return &exit.Error{Status: exit.BadUsage, Code: "no_box", Err: fmt.Errorf("programs cannot be isolated: %w%s", err, advice)}
	}
	w.notes = append(w.notes, w.box.Gaps()...)
	return nil
}

// openTarget opens the workspace for the changes that are taken from the copy.
func (w *services) openTarget(o *options) (err error) {
	if w.copy == nil {
		return nil
	}
	if w.target, err = workspace.New(workspace.Config{Dir: o.Workspace, Backups: o.store.Runs.Dir, Private: o.store.Dirs.All(), Logger: w.logger}); err != nil {
		return exit.Usage("%w", err)
	}
	own := w.own
	if own == nil { // only for git
		if own, err = workspace.New(workspace.Config{Dir: w.copy.Dir, Logger: w.logger, Box: w.box}); err != nil {
			return exit.Usage("%w", err)
		}
		w.named = own
	}
	w.copy.Use(own, w.target)
	return nil
}

// copies is where the runs of a session work: in a copy of the workspace or, without
// one, in the workspace itself.
type copies struct {
	o     *options
	w     *services
	quiet bool // the session does not offer the changes
}

// Refresh makes the copy follow the workspace before a run.
func (c copies) Refresh(ctx context.Context, resume string) error {
	if c.w.copy != nil {
		return c.w.copy.Refresh(ctx, resume)
	}
	if resume == "" {
		return nil
	}
	return workcopy.Elsewhere(c.o.store.Dirs.Copies(), c.o.Workspace, resume)
}

// Begin records that a run works in the copy.
func (c copies) Begin(run string) (copied bool, err error) {
	if c.w.copy == nil {
		return false, nil
	}
	return true, c.w.copy.Begin(run)
}

// Changes returns what runs changed in the copy.
func (c copies) Changes(ctx context.Context) (event.Changes, error) {
	if c.w.copy == nil || c.quiet {
		return event.Changes{}, nil
	}
	offer, err := c.w.copy.Changes(ctx)
	return offered(offer), err
}

// Settle takes the chosen changes and drops the others, or lets them wait. Runs whose changes were all
// dropped are undone.
func (c copies) Settle(ctx context.Context, choice event.ChangesChoice) (event.SettledChanges, error) {
	if c.w.copy == nil {
		return event.SettledChanges{}, errors.New("runs work in this folder itself: there are no changes to take")
	}
	files := map[string]workcopy.FileChoice{}
	for name, f := range choice.Files {
		files[name] = workcopy.FileChoice(f)
	}
	done, err := c.w.copy.Settle(ctx, workcopy.Choice{Offer: choice.Offer, All: choice.All, Files: files, Keep: choice.Keep})
	settled := event.SettledChanges{Runs: done.Runs, Taken: []event.ChangedFile{}, Dropped: slices.Concat([]string{}, done.Dropped), Notes: done.Notes}
	for _, f := range done.Taken {
		settled.Taken = append(settled.Taken, changed(f))
	}
	if err != nil || len(settled.Taken) > 0 || choice.All {
		return settled, err
	}
	return settled, c.o.recordDropped(done.Runs)
}

// recordDropped records that all changes of the runs were dropped.
func (o *options) recordDropped(runs []string) error {
	var errs []error
	for _, run := range runs {
		changes, err := o.store.Changes(run)
		if err == nil {
			var release func() error
			if release, err = changes.Hold(); err == nil {
				err = errors.Join(changes.Record([]event.UndoneFile{}, time.Now()), release())
			}
		}
		errs = append(errs, err)
	}
	return exit.Wrap("record that the changes were dropped", errors.Join(errs...))
}

// offered converts an offer.
func offered(offer workcopy.Offer) event.Changes {
	out := event.Changes{Offer: offer.ID, Runs: offer.Runs, Files: []event.ChangedFile{}, Notes: offer.Notes}
	for _, f := range offer.Files {
		file := changed(f.File)
		file.Diff, file.Hunks, file.Conflict = f.Diff, f.Hunks, f.Conflict
		out.Files = append(out.Files, file)
	}
	for _, m := range offer.Moves {
		out.Moves = append(out.Moves, m.String())
	}
	return out
}

func changed(f change.File) event.ChangedFile {
	return event.ChangedFile{Path: f.Path, Action: f.Action, Folder: f.Folder, Added: f.Added, Removed: f.Removed}
}
