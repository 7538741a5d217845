package workspace

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"replan/mcpclient/workspace/git"
	"replan/mcpclient/workspace/grep"
	"replan/planning/intent"
)

// preparedState is the state of the repository before the user has typed a goal.
type preparedState struct {
	mu      sync.Mutex
	state   git.State
	version int       // of the walk before it, see [tree.Index.Walk]
	at      time.Time // zero for none
}

// preparedFor is how long a prepared state holds. A file that is changed in place within it
// is not seen to be changed.
const preparedFor = time.Minute

// Prepare gathers what [Operators.Facts] needs for any goal, so that it takes less time soon.
func (o *Operators) Prepare(ctx context.Context) error {
	within, done, err := o.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	now := time.Now()
	version, err := o.index.Walk(within, func(string, bool) {}) // before git looks: what changes meanwhile is seen later
	if err != nil {
		return fmt.Errorf("looking through the workspace: %w", err)
	}
	state := o.repositoryState(within)
	o.prepared.mu.Lock()
	defer o.prepared.mu.Unlock()
	o.prepared.state, o.prepared.version, o.prepared.at = state, version, now
	return nil
}

// Facts searches the workspace for the names in the words of a goal.
func (o *Operators) Facts(ctx context.Context, survey *intent.Survey) (intent.Facts, error) {
	within, done, err := o.begin(ctx)
	if err != nil {
		return intent.Facts{}, err
	}
	defer done()
	o.prepared.mu.Lock()
	state, prepared := o.prepared.state, o.prepared.version
	known := !survey.Repository() && time.Since(o.prepared.at) < preparedFor && state.Current()
	o.prepared.mu.Unlock()
	var lines []grep.Match
	var unsearched error
	var workers sync.WaitGroup
	if !known {
		workers.Go(func() { state = o.repositoryState(within) })
	}
	if survey.Lines() != "" {
		workers.Go(func() { lines, unsearched = o.surveyLines(within, survey.Lines()) })
	}
	version, err := o.index.Walk(within, survey.See)
	if known && version != prepared {
		state = o.repositoryState(within)
	}
	workers.Wait()
	if err := cmp.Or(err, unsearched); err != nil {
		return intent.Facts{}, fmt.Errorf("looking through the workspace: %w", err)
	}
	for _, m := range lines {
		survey.Line(m.Path, m.Line, m.Text)
	}
	survey.Search(o.sizeOf, o.textOf)
	facts := survey.Facts(o.sizeOf)
	facts.Sketch = survey.Sketch()
	for _, d := range facts.Declared[:min(len(facts.Declared), 6)] {
		facts.Sketch.Named = append(facts.Sketch.Named, d.Place())
	}
	facts.Sketch = facts.Sketch.InRepository(state.Branch, state.Changed)
	if survey.Repository() {
		facts.Clean, facts.NoUpstream, facts.NoRemote = state.Clean, state.NoUpstream, state.NoRemote
	}
	return facts, nil
}

// sizeOf returns the bytes of a file, 0 if it is gone.
func (o *Operators) sizeOf(at string) int64 {
	info, err := o.tree.Root.Stat(at)
	if err != nil {
		return 0
	}
	return info.Size()
}

// textOf returns the text of a small file, "" if it cannot be read.
func (o *Operators) textOf(at string) string {
	data, err := o.tree.Root.ReadFile(at)
	if err != nil {
		return ""
	}
	return string(data)
}

// surveyLines returns the lines that match an expression.
func (o *Operators) surveyLines(ctx context.Context, expression string) ([]grep.Match, error) {
	find, err := grep.NewFinder(expression, true, true)
	if err != nil {
		return nil, err
	}
	s := grep.Search{Find: find, Limit: grep.MostMatches, Size: o.maxOutput}
	if err := s.Run(ctx, o.tree, ".", func(_ string, d fs.DirEntry) bool { return d.Type().IsRegular() }); err != nil {
		return nil, err
	}
	return s.Result().Matches, nil
}

// repositoryState returns the state of the repository; the zero value without one.
func (o *Operators) repositoryState(ctx context.Context) git.State {
	state, err := o.git.State(ctx)
	if err != nil {
		o.log.Debug("the state of the repository is not known", "error", err)
	}
	return state
}

// Dirty counts the files with changes that are not committed. Without git or a
// repository it is 0.
func (o *Operators) Dirty(ctx context.Context) (int, error) {
	ctx, done, err := o.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	return o.git.Dirty(ctx)
}
