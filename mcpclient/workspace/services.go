package workspace

import (
	"context"

	"replan/mcpclient/workspace/undo"
)

// Undo puts back what the runs changed. See [undo.Log.Undo].
func (o *Operators) Undo(ctx context.Context, dry bool, runs ...string) (undo.Undone, error) {
	ctx, done, err := o.begin(ctx)
	if err != nil {
		return undo.Undone{}, err
	}
	defer done()
	return o.undo.Undo(ctx, o.changes, dry, runs...)
}
