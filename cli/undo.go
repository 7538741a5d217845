package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"replan/agent"
	"replan/agent/runner"
	"replan/agent/store/journal"
	"replan/mcpclient/workspace"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/tui/untrusted"
)

// newUndo is replan undo and, in the chat, /undo.
func newUndo(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "undo RUN",
		Short: "Put back what a run changed",
		Long: "undo puts back the files that a run changed, whether it was completed, failed, was stopped or killed:\n" +
			"content, mode and existence, all of them or none. It refuses where a file is no longer what the run left,\n" +
			"and shows what became of it. What the run did by other means than the workspace's own file tools, such as\n" +
			"a command it ran or a commit, stays and is named. With --dry-run only the diff is shown. RUN may be given\n" +
			"as a unique prefix.",
		Example: "  replan undo r-20260102 --dry-run\n  replan undo r-20260102-030405-1f2e3d\n  replan undo r-20260102 --output json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil // which are there is known once the configuration is read
			}
			return one("RUN")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return o.whichUndo(cmd.CommandPath())
			}
			return o.undo(cmd.Context(), args[0])
		},
	}
}

// whichUndo asks for the run, and names the newest that changed files here.
func (o *options) whichUndo(command string) error {
	entries, err := o.runs().List()
	if err != nil {
		return wrap("list the runs", err)
	}
	for _, e := range entries {
		head, err := o.runs().Head(e.ID)
		if err != nil {
			continue
		}
		if started, ok := head.Data.(agent.RunStarted); !ok || started.Workspace != o.workspace || started.Outer != "" {
			continue
		}
		if workspace.Changed(o.runs().Dir, e.ID) {
			return usage("say which: %s RUN; the newest that changed files here is %s", command, e.ID)
		}
	}
	return usage("say which: %s RUN; no run has changed files here that could be put back", command)
}

// undo is replan undo.
func (o *options) undo(ctx context.Context, prefix string) (err error) {
	id, err := o.undoable(prefix)
	if err != nil {
		return err
	}
	if o.talk != nil && !o.dryRun {
		o.talk.then = runner.Undo{Run: id}
		return nil
	}
	own, err := workspace.New(workspace.Config{Dir: o.workspace, Backups: o.runs().Dir})
	if err != nil {
		return usage("%w", err)
	}
	defer func() { err = errors.Join(err, wrap("end in order", own.Close())) }()
	u, err := o.undoRun(ctx, own, id, o.dryRun)
	if err != nil {
		return err
	}
	return o.tellUndo(u)
}

// tellUndo prints what an undo came to.
func (o *options) tellUndo(u agent.Undo) error {
	if u.Refused != "" {
		if u.Diff != "" {
			_, _ = fmt.Fprint(o.io.Err, untrusted.Visible(u.Diff))
		}
		return &failure{exit: 1, code: "changed", err: errors.New(u.Refused)}
	}
	if o.output == outputJSON {
		return o.printJSON(u)
	}
	var b strings.Builder
	say := sayTo(&b)
	b.WriteString(untrusted.Visible(u.Diff))
	for _, note := range u.Notes {
		say("note: %s", note)
	}
	done := "put back"
	if o.dryRun {
		done = "would be put back"
	}
	switch {
	case u.Already:
		say("the run %s is undone already: nothing was changed", u.Run)
	case len(u.Files) == 0:
		say("the run %s changed nothing that could be put back", u.Run)
	default:
		say("%s of the run %s: %s", done, u.Run, u.Counted())
		for _, f := range u.Files {
			say("  %s %s", f.Action, f.Path)
		}
	}
	return o.print(b.String())
}

// undoable returns the id that prefix means, of a run or of what was kept of a
// server that was used without one.
func (o *options) undoable(prefix string) (string, error) {
	id, err := o.runs().Find(prefix)
	if !errors.Is(err, plan.ErrUnknownID) {
		return id, unopenedIf(err)
	}
	orphans, listed := o.runs().Orphans()
	if listed != nil {
		return "", wrap("list the runs", listed)
	}
	ids := make([]string, len(orphans))
	for i, e := range orphans {
		ids[i] = e.ID
	}
	found, missed := plan.MatchPrefix(ids, prefix)
	if errors.Is(missed, plan.ErrUnknownID) {
		missed = err // which says what to do
	}
	return found, unopenedIf(missed)
}

func unopenedIf(err error) error {
	if err == nil {
		return nil
	}
	return unopened(err)
}

// undoRun puts back what a run changed, with the runs that its plan tools
// started. Nobody may be working on any of them.
func (o *options) undoRun(ctx context.Context, own *workspace.Operators, id string, dry bool) (u agent.Undo, err error) {
	u = agent.Undo{Run: id, Files: []agent.UndoneFile{}}
	f := o.followed()
	if err := f.follow(id); err != nil {
		return u, unopened(err)
	}
	u.Inner = f.runs[1:]
	if f.workspace != "" && !runner.SameFolder(f.workspace, o.workspace) {
		return u, elsewhere(&workspace.NotHereError{Run: id, Workspace: f.workspace})
	}
	for _, run := range f.runs {
		release, err := o.runs().Hold(run)
		if errors.Is(err, journal.ErrLocked) {
			return u, &failure{exit: exitUsage, code: "locked", err: fmt.Errorf("the run %s still goes on: stop it first, or wait until it has ended", run)}
		}
		if err != nil {
			return u, wrap("undo", err)
		}
		defer func() { err = errors.Join(err, release()) }()
	}
	done, err := own.Undo(ctx, dry, f.runs...)
	var changed *workspace.ChangedError
	var away *workspace.NotHereError
	switch {
	case errors.As(err, &changed):
		u.Refused, u.Diff = changed.Error(), changed.Diff
		return u, nil
	case errors.As(err, &away):
		return u, elsewhere(away)
	case err != nil:
		return u, wrap("undo the run "+id, err)
	}
	for _, file := range done.Files {
		u.Files = append(u.Files, agent.UndoneFile(file))
	}
	u.Diff, u.Already = done.Diff, done.Already
	u.Notes = slices.Concat(done.Notes, f.notes())
	return u, nil
}

// elsewhere is the failure of who would undo a run of another folder.
func elsewhere(err error) error {
	return &failure{exit: exitUsage, code: string(agent.ReasonNotOpened), err: err}
}

// followed is what the journals say of a run that is to be undone, and of those
// that its plan tools started.
type followed struct {
	journals  journal.Folder
	runs      []string // the run itself first
	workspace string   // "" where no journal says
	committed bool
	others    []string // tools with effects that nothing is kept of
	broken    []string // runs whose journal cannot be read to its end
}

func (o *options) followed() *followed { return &followed{journals: o.runs()} }

// follow reads the journal of a run as far as that can be done: what it changed
// is in a list of its own.
func (f *followed) follow(id string) error {
	if slices.Contains(f.runs, id) {
		return nil
	}
	f.runs = append(f.runs, id)
	events, err := f.journals.Read(id)
	var damaged *journal.DamageError
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, journal.ErrEmpty):
		return nil
	case errors.As(err, &damaged):
		f.broken = append(f.broken, id)
	case err != nil:
		return err
	}
	var tools plan.Catalogue
	for _, e := range events {
		switch d := e.Data.(type) {
		case agent.RunStarted:
			tools = d.Catalogue
			if f.workspace == "" {
				f.workspace = d.Workspace
			}
		case agent.RunResumed:
			tools = d.Catalogue
		case agent.RunSpawned:
			if err := f.follow(d.Run); err != nil {
				return err
			}
		case agent.StepStarted:
			f.tool(tools, d.Tool)
		}
	}
	return nil
}

// tool takes note of a tool that was called whose effects are not kept.
func (f *followed) tool(tools plan.Catalogue, name string) {
	if _, err := prompt.PlanTools().Find(name); err == nil || name == "" {
		return
	}
	tool, err := tools.Find(name)
	switch {
	case err != nil, tool.ReadOnly, tool.Trusted && strings.HasPrefix(tool.Name, "fs."):
	case tool.Trusted && tool.Name == "vcs.commit":
		f.committed = true
	case tool.Trusted && !slices.Contains(f.others, tool.Name):
		f.others = append(f.others, tool.Name)
	case !tool.Trusted && !slices.Contains(f.others, tool.QualifiedName()):
		f.others = append(f.others, tool.QualifiedName())
	}
}

// notes say what an undo leaves as it is.
func (f *followed) notes() []string {
	var notes []string
	if f.committed {
		notes = append(notes, "the run made a commit: git's history stays as it is")
	}
	if len(f.others) > 0 {
		notes = append(notes, "what "+together(f.others)+" changed is not put back")
	}
	for _, id := range f.broken {
		notes = append(notes, "the journal of "+id+" is damaged: runs that it started later are not undone with it")
	}
	return notes
}

// together joins names as a sentence does.
func together(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// undoes is how a session undoes runs: by its own operators, so that nothing
// else changes files meanwhile.
func (o *options) undoes(w *workshop) func(context.Context, string, bool) (agent.Undo, error) {
	return func(ctx context.Context, run string, dry bool) (u agent.Undo, err error) {
		own := w.own
		if own == nil { // the session works without them
			if own, err = workspace.New(workspace.Config{Dir: o.workspace, Backups: o.runs().Dir, Logger: w.logger}); err != nil {
				return agent.Undo{Run: run}, err
			}
			defer func() { err = errors.Join(err, own.Close()) }()
		}
		return o.undoRun(ctx, own, run, dry)
	}
}

// dirtyWithin bounds how long git may take to say what is not committed; in a
// folder where it takes longer the run begins without that word.
const dirtyWithin = 2 * time.Second

// dirty counts the files with changes that are not committed, 0 where there is no
// git to say.
func (w *workshop) dirty(ctx context.Context) int {
	if w.own == nil {
		return 0
	}
	ctx, cancel := context.WithTimeout(ctx, dirtyWithin)
	defer cancel()
	files, err := w.own.Dirty(ctx)
	if err != nil {
		w.logger.Info("what is not committed is not known", "error", err)
		return 0
	}
	return files
}
