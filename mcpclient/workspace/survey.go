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
	"replan/mcpclient/workspace/tree"
	"replan/planning/intent"
)

// preparedState is what is known of the workspace before the user has typed a goal.
type preparedState struct {
	mu      sync.Mutex
	texts   map[string]readText // of the files that each goal's words are looked for in
	state   git.State
	version int       // of the walk before it, see [tree.Index.Walk]
	at      time.Time // zero for none
}

// preparedFor is how long a prepared state holds. A file that is changed in place within it
// is not seen to be changed.
const preparedFor = time.Minute

// readText is a small file as it was read.
type readText struct {
	stamp tree.Stamp
	text  string
}

// Prepare gathers what [Operators.Facts] needs for any goal, so that it takes less time soon:
// the folders, the state of the repository, and the names that files declare. It reads files
// again only if they have changed. For 50,000 small files it takes 0.7 s of processor time the
// first time and 0.15 s later, and 180 bytes a file; for the sources of Go 390 bytes a file.
func (o *Operators) Prepare(ctx context.Context) error {
	within, done, err := o.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	now := time.Now()
	survey := intent.NewSurvey("")
	version, err := o.index.Walk(within, survey.See) // before git looks: what changes meanwhile is seen later
	if err != nil {
		return fmt.Errorf("looking through the workspace: %w", err)
	}
	state := o.repositoryState(within)
	o.prepared.mu.Lock()
	o.prepared.state, o.prepared.version, o.prepared.at = state, version, now
	known := o.prepared.texts
	o.prepared.mu.Unlock()
	texts := map[string]readText{}
	for range survey.Texts(within, o.reader(known, texts)) { //nolint:revive // reader keeps the texts
	}
	o.prepared.mu.Lock()
	o.prepared.texts = texts
	o.prepared.mu.Unlock()
	if err := o.index.Learn(within, intent.DeclaredNames); err != nil {
		return fmt.Errorf("reading the names that files declare: %w", err)
	}
	return nil
}

// Facts searches the workspace for the names in the words of a goal. Its files are as they are
// now: those that have changed since [Operators.Prepare] are read.
func (o *Operators) Facts(ctx context.Context, survey *intent.Survey) (intent.Facts, error) {
	within, done, err := o.begin(ctx)
	if err != nil {
		return intent.Facts{}, err
	}
	defer done()
	o.prepared.mu.Lock()
	state, prepared, texts := o.prepared.state, o.prepared.version, o.prepared.texts
	known := !survey.Repository() && time.Since(o.prepared.at) < preparedFor && state.Current()
	o.prepared.mu.Unlock()
	var lines []grep.Match
	var unsearched error
	var workers sync.WaitGroup
	if !known {
		workers.Go(func() { state = o.repositoryState(within) })
	}
	var version int
	switch expression := survey.Lines(); {
	case expression == "":
		version, err = o.index.Walk(within, survey.See)
	case o.index.Learned():
		var files func() []string
		files, version, err = o.index.Search(within, survey.See, survey.Wants)
		workers.Go(func() {
			found := files()
			lines, unsearched = o.surveyLines(expression, func(s *grep.Search) error { return s.RunFiles(within, o.tree, found) })
		})
	default:
		workers.Go(func() {
			lines, unsearched = o.surveyLines(expression, func(s *grep.Search) error {
				return s.Run(within, o.tree, ".", func(_ string, d fs.DirEntry) bool { return d.Type().IsRegular() })
			})
		})
		version, err = o.index.Walk(within, survey.See)
	}
	if known && version != prepared {
		state = o.repositoryState(within)
	}
	survey.Search(within, o.reader(texts, nil))
	sketch := survey.Sketch()
	workers.Wait()
	if err := cmp.Or(err, unsearched, context.Cause(within)); err != nil {
		return intent.Facts{}, fmt.Errorf("looking through the workspace: %w", err)
	}
	for _, m := range lines {
		survey.Line(m.Path, m.Line, m.Text)
	}
	facts := survey.Facts(o.sizeOf)
	facts.Sketch = sketch
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

// reader returns the texts of files: those that are known and still as they were, and the
// others as they are read. Unless keep is nil, it puts them there.
func (o *Operators) reader(known, keep map[string]readText) intent.Reader {
	return func(at string, most int64) (string, int64) {
		now := time.Now()
		info, err := o.tree.Root.Stat(at)
		if err != nil {
			return "", 0
		}
		if info.Size() > most {
			return "", info.Size()
		}
		stamp, settled := tree.StampOf(info, now)
		r, ok := known[at]
		if !ok || r.stamp != stamp {
			data, err := o.tree.Root.ReadFile(at)
			if err != nil {
				return "", info.Size()
			}
			r = readText{stamp, string(data)}
		}
		if keep != nil && settled {
			keep[at] = r
		}
		return r.text, info.Size()
	}
}

// surveyLines returns the lines that match an expression, of the files that run searches.
func (o *Operators) surveyLines(expression string, run func(s *grep.Search) error) ([]grep.Match, error) {
	find, err := grep.NewFinder(expression, true, true)
	if err != nil {
		return nil, err
	}
	s := grep.Search{Find: find, Limit: grep.MostMatches, Size: o.maxOutput}
	if err := run(&s); err != nil {
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
