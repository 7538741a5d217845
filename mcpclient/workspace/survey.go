package workspace

import (
	"context"
	"fmt"
	"io/fs"

	"replan/mcpclient/workspace/grep"
	"replan/planning/intent"
)

// Facts searches the workspace for the names in the words of a goal.
func (o *Operators) Facts(ctx context.Context, survey *intent.Survey) (intent.Facts, error) {
	within, done, err := o.begin(ctx)
	if err != nil {
		return intent.Facts{}, err
	}
	defer done()
	err = o.tree.Walk(within, ".", func(at string, d fs.DirEntry) error {
		if at != "." {
			survey.See(at, d.IsDir())
		}
		return nil
	})
	if err != nil {
		return intent.Facts{}, fmt.Errorf("looking through the workspace: %w", err)
	}
	if survey.Lines() != "" {
		if err := o.surveyLines(within, survey); err != nil {
			return intent.Facts{}, err
		}
	}
	survey.Search(o.sizeOf, o.textOf)
	facts := survey.Facts(o.sizeOf)
	facts.Sketch = survey.Sketch()
	for _, d := range facts.Declared[:min(len(facts.Declared), 6)] {
		facts.Sketch.Named = append(facts.Sketch.Named, d.Place())
	}
	o.repositoryFacts(within, survey, &facts)
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

// surveyLines passes a survey the lines that it wants.
func (o *Operators) surveyLines(ctx context.Context, survey *intent.Survey) error {
	find, err := grep.NewFinder(survey.Lines(), true, true)
	if err != nil {
		return err
	}
	s := grep.Search{Find: find, Limit: grep.MostMatches, Size: o.maxOutput}
	if err := s.Run(ctx, o.tree, ".", func(_ string, d fs.DirEntry) bool { return d.Type().IsRegular() }); err != nil {
		return fmt.Errorf("looking through the workspace: %w", err)
	}
	for _, m := range s.Result().Matches {
		survey.Line(m.Path, m.Line, m.Text)
	}
	return nil
}

// repositoryFacts adds the state of the repository, if there is one.
func (o *Operators) repositoryFacts(ctx context.Context, survey *intent.Survey, facts *intent.Facts) {
	state, err := o.git.State(ctx)
	if err != nil {
		o.log.Debug("the state of the repository is not known", "error", err)
		return
	}
	facts.Sketch = facts.Sketch.InRepository(state.Branch, state.Changed)
	if survey.Repository() {
		facts.Clean, facts.NoUpstream, facts.NoRemote = state.Clean, state.NoUpstream, state.NoRemote
	}
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
