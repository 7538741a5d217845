package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gofrs/flock"

	"replan/internal/placeholder"
	"replan/internal/wholefile"
	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

// memoryName is the name of the memory file in diffs and in the hashes of a
// call. The file is outside the workspace.
const memoryName = "memory.md"

// Limits of the memory, so that all of it fits into a prompt.
const (
	maxMemory     = 64 << 10 // bytes of the file
	maxFacts      = 200
	maxFact       = 500 // runes
	defaultRecall = 50  // number of facts that a call returns
)

// How long a change waits for another process to finish its own, which takes
// milliseconds.
const (
	memoryPatience = 5 * time.Second
	memoryInterval = 5 * time.Millisecond
)

// memoryHeader is the start of a new file.
const memoryHeader = "# Memory\n\nYour own facts and preferences, a bullet each. Change them as you like; all else in this file is left alone.\n\n"

type recallResult struct {
	Facts []foundFact `json:"facts"`
	Total int         `json:"total"` // matching facts, including those not returned
}

type foundFact struct {
	Text  string `json:"text"`
	Added string `json:"added,omitempty"`
}

type recallArgs struct {
	Query string `json:"query,omitempty" jsonschema:"a few words to look for; default: everything"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many facts to return; default: 50"`
}

// Operators implements the operators for the user's memory.
type Operators struct {
	file *factFile
	log  *slog.Logger
}

// New returns the operators for a file, which need not exist.
func New(path string, log *slog.Logger) (*Operators, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("finding the memory: %w", err)
	}
	return &Operators{file: &factFile{path: path}, log: log}, nil
}

// recall implements memory.read.
func (o *Operators) recall(_ context.Context, _ op.Call, args recallArgs) (*op.Answer[recallResult], error) {
	if args.Limit < 0 {
		return nil, fmt.Errorf("the argument limit of memory.read must be 1 or more, not %d", args.Limit)
	}
	f, err := o.file.load()
	if err != nil {
		return nil, err
	}
	list := readFacts(string(f.Data))
	found := list.about(args.Query)
	limit := args.Limit
	if limit == 0 {
		limit = defaultRecall
	}
	result := recallResult{Facts: []foundFact{}, Total: len(found)}
	var text strings.Builder
	for _, f := range found[:min(limit, len(found))] {
		result.Facts = append(result.Facts, foundFact{Text: f.text, Added: f.added})
		fmt.Fprintf(&text, "- %s\n", f.text)
	}
	if len(found) == 0 {
		fmt.Fprintf(&text, "no fact matches; there are %d facts in all", len(list.facts))
	}
	return op.Reply(result, text.String()), nil
}

// The effects of a call on the memory.
const (
	factAdded     = "added"
	factCorrected = "corrected"
	factRemoved   = "removed"
	factKnown     = "none" // it was already there
)

type rememberResult struct {
	Change string `json:"change"`
	Text   string `json:"text"`  // of the affected fact
	Total  int    `json:"total"` // number of facts after the change
	Diff   string `json:"diff"`
}

type rememberArgs struct {
	Text     string `json:"text" jsonschema:"the fact in one short sentence, at most 500 characters; empty to remove the fact in replaces"`
	Replaces string `json:"replaces,omitempty" jsonschema:"the fact to replace, exactly as memory.read returned it"`
}

// remember implements memory.write.
func (o *Operators) remember(ctx context.Context, c op.Call, args rememberArgs) (*op.Answer[rememberResult], error) {
	text, err := factOf(args.Text)
	if err != nil {
		return nil, err
	}
	if found, ok := placeholder.Find(text, ""); ok {
		return nil, fmt.Errorf("the argument text of memory.write is %q, which stands for a fact; say the fact itself", found)
	}
	replaces := oneLine(bulletForm.ReplaceAllString(args.Replaces, ""))
	if text == "" && replaces == "" {
		return nil, errors.New("the argument text of memory.write is empty; say what to remember, or name in replaces the fact to remove")
	}
	if c.Preview {
		planned, _, err := o.file.plan(text, replaces)
		if err != nil {
			return nil, err
		}
		diff, _ := planned.Diff()
		return &op.Answer[rememberResult]{
			Preview: &op.Preview{Diff: diff, Hashes: map[string]string{memoryName: planned.Before.Hash()}}, Text: diff,
		}, nil
	}
	unlock, err := o.file.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := o.file.unchanged(c.Hashes); err != nil {
		return nil, err
	}
	planned, result, err := o.file.plan(text, replaces)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if result.Change != factKnown {
		if err := o.file.store(planned.After.Data); err != nil {
			return nil, err
		}
		o.log.Info("memory changed", "change", result.Change, "facts", result.Total)
	}
	return op.Reply(result, result.sentence()), nil
}

func (r rememberResult) sentence() string {
	switch r.Change {
	case factKnown:
		return "this fact is already stored; nothing was changed"
	case factCorrected:
		return "corrected: " + r.Text
	case factRemoved:
		return "removed: " + r.Text
	default:
		return "remembered: " + r.Text
	}
}

// factOf validates a fact and joins it to one line. An empty text stays empty.
func factOf(text string) (string, error) {
	text = strings.TrimSpace(text)
	if strings.ContainsFunc(text, unprintable) {
		return "", errors.New("a fact is one line of plain text: give it without line breaks, tabs and invisible characters")
	}
	text = oneLine(bulletForm.ReplaceAllString(text, ""))
	switch n := utf8.RuneCountInString(text); {
	case text == "":
		return "", nil
	case n > maxFact:
		return "", fmt.Errorf("a fact has at most %d characters, and this one has %d; say it in a sentence or two", maxFact, n)
	case !saysSomething(text):
		return "", errors.New("the text is empty of content; write the fact as a sentence")
	}
	if kind := secretIn(text); kind != "" {
		return "", fmt.Errorf("this looks like %s, and secrets are not remembered; leave it out", kind)
	}
	return text, nil
}

// unprintable reports whether a rune controls a terminal, ends a line or hides
// text from readers of the file. It allows two such runes that only join
// letters of some scripts and emoji.
func unprintable(r rune) bool {
	const nonJoiner, joiner = '\u200C', '\u200D'
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp) && r != nonJoiner && r != joiner
}

// factFile is the file of the user's own facts and preferences.
type factFile struct{ path string }

// load reads the file. A missing file is empty.
func (m *factFile) load() (tree.File, error) {
	info, err := os.Stat(m.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return tree.File{}, nil
	case err != nil:
		return tree.File{}, fmt.Errorf("looking at the memory: %w", err)
	case !info.Mode().IsRegular(): // a pipe would never answer
		return tree.File{}, fmt.Errorf("the memory %s is not a regular file; move it away", m.path)
	case info.Size() > maxMemory:
		return tree.File{}, m.tooLarge(int(info.Size()))
	}
	data, err := os.ReadFile(m.path)
	switch {
	case err != nil:
		return tree.File{}, fmt.Errorf("reading the memory: %w", err)
	case len(data) > maxMemory:
		return tree.File{}, m.tooLarge(len(data))
	case tree.IsBinary(data) || !utf8.Valid(data):
		return tree.File{}, fmt.Errorf("the memory %s is not UTF-8 text; fix it by hand", m.path)
	}
	return tree.File{Exists: true, Data: data}, nil
}

func (m *factFile) tooLarge(size int) error {
	return fmt.Errorf("the memory %s has %d bytes, and at most %d are read; shorten it by hand", m.path, size, maxMemory)
}

// plan computes the change of a call. An empty text removes the replaced fact.
func (m *factFile) plan(text, replaces string) (change.Change, rememberResult, error) {
	before, err := m.load()
	if err != nil {
		return change.Change{}, rememberResult{}, err
	}
	list := readFacts(string(before.Data))
	if !before.Exists {
		list = readFacts(memoryHeader)
	}
	var old []fact
	result := rememberResult{Change: factAdded, Text: text}
	if replaces != "" {
		if old = list.same(replaces); len(old) == 0 {
			return change.Change{}, rememberResult{}, list.unknown(replaces)
		}
		result.Change = factCorrected
	}
	fresh := text
	switch known := list.same(text); {
	case text == "":
		result.Change, result.Text = factRemoved, old[0].text
	case len(known) == 0 || replaces != "" && gist(text) == gist(replaces):
	case len(old) == 0:
		result.Change, result.Text, result.Total = factKnown, known[0].text, len(list.facts)
		return change.Change{Path: memoryName, Before: before, After: before}, result, nil
	default:
		fresh = "" // another fact says the same: only remove the old one
	}
	if result.Change == factAdded && len(list.facts) >= maxFacts {
		return change.Change{}, rememberResult{}, fmt.Errorf("the memory is full: it has %d facts; remove an outdated one, or correct one with replaces", len(list.facts))
	}
	after := list.write(old, fresh, time.Now().Format(time.DateOnly))
	if len(after) > maxMemory {
		return change.Change{}, rememberResult{}, fmt.Errorf("the memory is full: with this it would have %d bytes, and at most %d are kept; remove outdated facts", len(after), maxMemory)
	}
	done := change.Change{Path: memoryName, Before: before, After: tree.File{Exists: true, Data: []byte(after)}}
	result.Total = len(readFacts(after).facts)
	result.Diff, _ = done.Diff()
	return done, result, nil
}

// unknown returns the error for an unknown fact, with the most similar one.
func (l factList) unknown(text string) error {
	near := l.about(text)
	if len(near) == 0 {
		return fmt.Errorf("there is no fact %q; memory.read lists them", op.Clip(text))
	}
	return fmt.Errorf("there is no fact %q; there is %q", op.Clip(text), near[0].text)
}

// unchanged checks that the file has not changed since the call was approved.
func (m *factFile) unchanged(hashes map[string]string) error {
	if hashes == nil {
		return nil
	}
	approved, ok := hashes[memoryName]
	if !ok {
		return op.Outdated(memoryName + " was not in the diff that was approved")
	}
	f, err := m.load()
	if err != nil {
		return err
	}
	if f.Hash() != strings.ToLower(approved) {
		return op.Outdated(memoryName + " changed since it was approved")
	}
	return nil
}

// lock prevents other processes from changing the memory until the returned
// function is called.
func (m *factFile) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(m.path), 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the memory: %w", err)
	}
	wait, cancel := context.WithTimeout(ctx, memoryPatience)
	defer cancel()
	lock := flock.New(m.path + ".lock")
	if _, err := lock.TryLockContext(wait, memoryInterval); errors.Is(err, context.DeadlineExceeded) {
		return nil, errors.New("another replan has been changing the memory for seconds; try again")
	} else if err != nil {
		return nil, fmt.Errorf("locking the memory: %w", err)
	}
	return func() { _ = lock.Unlock() }, nil // the system unlocks it when the program ends
}

// store replaces the file, or the target if it is a link.
func (m *factFile) store(data []byte) error {
	at := m.path
	if real, err := filepath.EvalSymlinks(at); err == nil {
		at = real
	}
	if err := wholefile.Write(at, data); err != nil {
		return fmt.Errorf("writing the memory: %w", err)
	}
	return nil
}
