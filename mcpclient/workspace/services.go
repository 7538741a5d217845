package workspace

import (
	"context"

	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/git"
	"replan/mcpclient/workspace/undo"
	"replan/planning/intent"
	"replan/planning/prompt"
)

// Undo puts back what the runs changed. See [undo.Log.Undo].
func (o *Operators) Undo(ctx context.Context, dry bool, runs ...string) (undo.Undone, error) {
	ctx, done, err := o.calls.begin(ctx)
	if err != nil {
		return undo.Undone{}, err
	}
	defer done()
	return o.undo.Undo(ctx, o.changes, dry, runs...)
}

// Redo takes back the last undo of the first of the runs. See [undo.Log.Redo].
func (o *Operators) Redo(ctx context.Context, dry bool, runs ...string) (undo.Undone, error) {
	ctx, done, err := o.calls.begin(ctx)
	if err != nil {
		return undo.Undone{}, err
	}
	defer done()
	return o.undo.Redo(ctx, o.changes, dry, runs...)
}

// Mentionable lists the files and folders of the workspace for the user to choose
// from. See [files.Operators.Mentionable].
func (o *Operators) Mentionable(ctx context.Context) (paths []string, more bool, err error) {
	ctx, done, err := o.calls.begin(ctx)
	if err != nil {
		return nil, false, err
	}
	defer done()
	return o.files.Mentionable(ctx)
}

// Mention reads a file of the workspace, or lists a folder, for a message that
// names it. See [files.Operators.Mention].
func (o *Operators) Mention(ctx context.Context, name string) (prompt.Mention, error) {
	ctx, done, err := o.calls.begin(ctx)
	if err != nil {
		return prompt.Mention{}, err
	}
	defer done()
	return o.files.Mention(ctx, name)
}

// Apply makes changes as those of a run, all or none. They can be undone.
func (o *Operators) Apply(ctx context.Context, run string, changes []change.Change) error {
	ctx, done, err := o.calls.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	release, err := o.changes.Turn(ctx)
	if err != nil {
		return err
	}
	defer release()
	return o.changes.Apply(ctx, run, changes)
}

// Prepare gathers what [Operators.Facts] needs for any goal, so that it takes less time soon.
// These are the folders, the state of the repository, and the names that files declare.
func (o *Operators) Prepare(ctx context.Context) error {
	ctx, done, err := o.calls.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	return o.surveyor.prepare(ctx)
}

// Facts searches the workspace for the names in the words of a goal. Its files are as they are
// now: those that have changed since [Operators.Prepare] are read.
func (o *Operators) Facts(ctx context.Context, survey *intent.Survey) (intent.Facts, error) {
	ctx, done, err := o.calls.begin(ctx)
	if err != nil {
		return intent.Facts{}, err
	}
	defer done()
	return o.surveyor.facts(ctx, survey)
}

// Dirty counts the files with changes that are not committed. Without git or a
// repository it is 0.
func (o *Operators) Dirty(ctx context.Context) (int, error) {
	ctx, done, err := o.calls.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	return o.git.Dirty(ctx)
}

// Git returns the operators of the repository.
func (o *Operators) Git() *git.Operators { return o.git }
