package change

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"replan/internal/english"
	"replan/internal/placeholder"
	"replan/mcpclient/workspace/code/source"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
	"replan/planning/plan"

	"github.com/pelletier/go-toml/v2"
	"gopkg.in/yaml.v3"
)

// Change is one file before and after.
type Change struct {
	Path          string // from resolve
	Before, After tree.File
	Moved         string // the other path of a move: the old one of a new file, the new one of a removed file
	Note          string // what to know of the change before it is made: a match that is only near
}

// Result lists the changes of a call.
type Result struct {
	Files []File `json:"files"`
	Diff  string `json:"diff"`
	// Diagnostics lists the faults that language servers find in the files now.
	Diagnostics []source.Diagnostic `json:"diagnostics,omitempty"`
}

// File is the change of a call to one file.
type File struct {
	Path    string `json:"path"`
	Action  string `json:"action"`           // created, changed, removed or moved
	From    string `json:"from,omitempty"`   // old path of a moved file
	Folder  bool   `json:"folder,omitempty"` // it is a folder
	Added   int    `json:"added"`            // lines
	Removed int    `json:"removed"`          // lines
	Note    string `json:"note,omitempty"`   // what to know of the change: a match that is only near
}

// Make computes the changes of a call and, unless it is a preview, makes them. It
// computes all of them before it writes the first byte. The answer contains the
// diagnostics of the changed files.
func (w *Writer) Make(ctx context.Context, c op.Call, compute func() ([]Change, error)) (*op.Answer[Result], error) {
	answer, err := w.carryOut(ctx, c, compute)
	if err != nil || answer.Preview != nil || w.check == nil {
		return answer, err
	}
	answer.Data.Diagnostics = w.check(ctx, answer.Data.Files)
	for _, d := range answer.Data.Diagnostics {
		answer.Text += "\n" + d.String()
	}
	for _, f := range answer.Data.Files {
		if f.Note != "" && !strings.Contains(answer.Text, f.Note) {
			answer.Text += "\n" + f.Path + ": " + f.Note
		}
	}
	return answer, nil
}

func (w *Writer) carryOut(ctx context.Context, c op.Call, compute func() ([]Change, error)) (*op.Answer[Result], error) {
	if c.Preview {
		changes, err := compute()
		if err == nil {
			err = checkContent(changes)
		}
		if err != nil {
			return nil, err
		}
		diff, _ := shown(changes)
		preview := op.Preview{Diff: diff, Hashes: make(map[string]string, len(changes)), Removes: removes(c, changes)}
		for _, ch := range changes {
			preview.Hashes[ch.Path] = ch.Before.Hash()
		}
		if c.Contents {
			preview.File = onlyFile(changes)
		}
		return &op.Answer[Result]{Preview: &preview, Text: diff}, nil
	}
	release, err := w.Turn(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	changed, foreign, err := w.changedSince(c)
	switch {
	case err != nil:
		return nil, err
	case foreign != "":
		return nil, op.Outdated(foreign + " changed since it was approved")
	}
	changes, err := compute()
	if err == nil {
		err = checkContent(changes)
	}
	switch {
	case err != nil && changed != "":
		return nil, op.Outdated(changed + " changed since it was approved") // its gate says what is wrong with it now
	case err != nil:
		return nil, err
	case changed != "" && !stillApproved(c, changes):
		return nil, op.Outdated(changed + " was changed by another step of this run since it was approved")
	}
	for _, ch := range changes {
		if _, ok := c.Hashes[ch.Path]; c.Hashes != nil && !ok {
			return nil, op.Outdated(ch.Path + " was not in the diff that was approved")
		}
	}
	if c.Hold {
		if removes := removes(c, changes); removes != "" {
			return nil, op.Removal(removes)
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(changes) > 0 {
		if err := w.Apply(ctx, c.Run, changes); err != nil {
			return nil, err
		}
		w.seen.changed(changes)
		w.leave(c.Run, changes)
	}
	return w.changed(changes), nil
}

// onlyFile returns the text file that the changes leave; nil if they do more or other
// than that.
func onlyFile(changes []Change) *plan.FileChange {
	if len(changes) != 1 {
		return nil
	}
	c := changes[0]
	isText := func(f tree.File) bool { return !f.Dir && tree.IsText(f.Data) && utf8.Valid(f.Data) }
	if !c.After.Exists || c.Moved != "" || !isText(c.Before) || !isText(c.After) {
		return nil
	}
	return &plan.FileChange{Path: c.Path, Hash: c.Before.Hash(), Before: string(c.Before.Data), After: string(c.After.Data)}
}

// maxPreview is the most bytes of a diff that a preview shows. Its hashes cover the
// rest.
const maxPreview = 1 << 20

// shown returns the diff of changes for their approval, and whether it is complete.
// If too much is removed to be read, it lists the files with their sizes.
func shown(changes []Change) (text string, whole bool) {
	removed := 0
	for _, ch := range changes {
		if ch.removes() {
			removed += len(ch.Before.Data)
		}
	}
	whole = true
	var b strings.Builder
	for i, ch := range changes {
		var diff string
		if removed > maxPreview && ch.removes() && !ch.Before.Dir {
			whole = false
			diff = fmt.Sprintf("file %s removed: %s\n", ch.Path, size(ch.Before))
		} else {
			diff, _ = ch.Diff()
			if ch.Note != "" {
				diff = ch.Note + "\n" + diff
			}
		}
		if room := maxPreview - b.Len(); len(diff) > room {
			cut := strings.LastIndexByte(diff[:room], '\n') + 1
			fmt.Fprintf(&b, "%s[cut: %d bytes of what changes in %s", diff[:cut], len(diff)-cut, ch.Path)
			if left := len(changes) - i - 1; left > 0 {
				fmt.Fprintf(&b, " and %s after it are not shown", english.Count(left, "change"))
			} else {
				b.WriteString(" are not shown")
			}
			b.WriteString("]\n")
			whole = false
			break
		}
		b.WriteString(diff)
	}
	return b.String(), whole
}

// removes reports whether the change removes a file or a folder and does not move it.
func (c Change) removes() bool { return c.Before.Exists && !c.After.Exists && c.Moved == "" }

// size describes the size of a file.
func size(f tree.File) string {
	if !tree.IsText(f.Data) {
		return english.Count(len(f.Data), "byte")
	}
	return english.Count(source.CountLines(string(f.Data)), "line")
}

// changed reports what was done.
func (w *Writer) changed(changes []Change) *op.Answer[Result] {
	result := Result{Files: []File{}}
	var parts []string
	for _, ch := range changes {
		diff, counts := ch.Diff()
		result.Diff += diff
		if counts.Action == "" {
			continue // told by where it went
		}
		result.Files = append(result.Files, counts)
		switch {
		case counts.From != "":
			parts = append(parts, fmt.Sprintf("%s moved to %s", counts.From, counts.Path))
		case counts.Folder:
			parts = append(parts, fmt.Sprintf("folder %s %s", counts.Path, counts.Action))
		default:
			parts = append(parts, fmt.Sprintf("%s %s +%d -%d", counts.Path, counts.Action, counts.Added, counts.Removed))
		}
		if counts.Note != "" {
			parts[len(parts)-1] += "; " + counts.Note
		}
	}
	if len(parts) == 0 {
		parts = []string{"nothing had to be changed"}
	}
	if len(result.Diff) > w.maxOutput {
		cut := strings.LastIndexByte(result.Diff[:w.maxOutput], '\n') + 1
		result.Diff = result.Diff[:cut] + fmt.Sprintf("[cut: %d of %d bytes]\n", cut, len(result.Diff))
	}
	w.log.Info("files changed", "files", parts)
	return op.Reply(result, strings.Join(parts, "\n"))
}

// Apply makes all changes of a run or none, with the folders that they need. It
// stores the old content first. If it cannot roll back after a failure, it returns
// an [op.UnsureError]. It changes nothing once ctx has ended.
func (w *Writer) Apply(ctx context.Context, run string, changes []Change) error {
	changes = w.WithFolders(changes)
	record, err := w.record(run, changes)
	if err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	if err = context.Cause(ctx); err == nil {
		err = w.Perform(changes)
	}
	ended := record.Done
	if unsure := new(op.UnsureError); errors.As(err, &unsure) {
		ended = record.Unsure
	} else if err != nil {
		ended = record.RolledBack
	}
	if noted := ended(); noted != nil {
		w.log.Warn("how a change ended is not in the list of changes", "run", run, "error", noted)
	}
	return err
}

func (w *Writer) record(run string, changes []Change) (Record, error) {
	if w.recorder == nil {
		return noRecord{}, nil
	}
	return w.recorder.Record(run, changes)
}

// noRecord is the record of changes that are stored nowhere.
type noRecord struct{}

func (noRecord) Done() error       { return nil }
func (noRecord) RolledBack() error { return nil }
func (noRecord) Unsure() error     { return nil }

// Perform makes all changes or none; their old content is stored. It checks each
// file again right before it replaces it, because the user may have saved it
// meanwhile.
func (w *Writer) Perform(changes []Change) error {
	for i, c := range changes {
		err := w.still(c.Path, c.Before, c.After)
		if err == nil {
			err = w.put(c.Path, c.After)
		}
		if err == nil {
			continue
		}
		if back := w.Restore(changes[:i]); back != nil {
			return &op.UnsureError{Err: fmt.Errorf("a change failed and could not be undone, look at the files: %w", errors.Join(err, back))}
		}
		return fmt.Errorf("nothing was changed: %w", err)
	}
	return nil
}

// WithFolders adds the missing folders that the changes need, each before its
// entries, so that they are recorded like any change.
func (w *Writer) WithFolders(changes []Change) []Change {
	known := map[string]bool{".": true}
	for _, c := range changes {
		if c.After.Dir {
			known[c.Path] = true
		}
	}
	var folders []Change
	for _, c := range changes {
		if !c.After.Exists {
			continue
		}
		var missing []Change
		for at := path.Dir(c.Path); !known[at]; at = path.Dir(at) {
			known[at] = true
			if _, err := w.tree.Root.Lstat(at); errors.Is(err, fs.ErrNotExist) {
				missing = append(missing, Change{Path: at, After: tree.File{Exists: true, Dir: true}})
			}
		}
		slices.Reverse(missing)
		folders = append(folders, missing...)
	}
	return append(folders, changes...)
}

// still checks that a path has not changed before it is replaced. A folder where a
// file is to be written cannot be lost: put reports it. A folder that is to be made
// may exist.
func (w *Writer) still(at string, known, next tree.File) error {
	now, err := w.tree.Look(at)
	switch {
	case err != nil:
		return err
	case now.Hash() == known.Hash(), now.Dir && next.Exists:
		return nil
	case !now.Exists:
		return fmt.Errorf("%s was removed by another program meanwhile; try again", at)
	}
	return fmt.Errorf("%s was changed by another program meanwhile; try again", at)
}

// Restore undoes changes, the last one first. It leaves files alone that were saved
// since.
func (w *Writer) Restore(changes []Change) error {
	var failed error
	for _, c := range slices.Backward(changes) {
		err := w.still(c.Path, c.After, c.Before)
		if err == nil {
			err = w.put(c.Path, c.Before)
		}
		if err != nil && c.After.Dir && !c.Before.Exists {
			w.log.Warn("a folder that was made stays", "folder", c.Path, "error", err)
			continue
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// put writes or removes a file or a folder. Its parent folder exists.
func (w *Writer) put(at string, f tree.File) error {
	switch {
	case !f.Exists:
		if err := w.tree.Root.Remove(at); err != nil {
			return fmt.Errorf("removing %s: %w", at, err)
		}
	case f.Dir:
		return w.putFolder(at, f.Mode)
	case f.Mode == 0: // new: what the umask leaves of it
		return tree.WriteAtomic(w.tree.Root, at, tree.File{Data: f.Data, Mode: NewFile})
	default:
		return tree.WriteAtomic(w.tree.Root, at, f)
	}
	tree.SyncFolder(w.tree.Root, path.Dir(at))
	return nil
}

// The modes of new files and folders, before the umask.
const (
	NewFile   = 0o644
	newFolder = 0o755
)

// putFolder makes a folder with this mode; 0 leaves it to the umask. It keeps an
// existing folder and its entries.
func (w *Writer) putFolder(at string, mode fs.FileMode) error {
	err := w.tree.Root.Mkdir(at, newFolder)
	if errors.Is(err, fs.ErrExist) {
		if info, wrong := w.tree.Root.Lstat(at); wrong == nil && info.IsDir() {
			err = nil
		}
	}
	if err == nil && mode != 0 {
		err = w.tree.Root.Chmod(at, mode)
	}
	if err != nil {
		return fmt.Errorf("making the folder %s: %w", at, err)
	}
	tree.SyncFolder(w.tree.Root, path.Dir(at))
	return nil
}

// Diff returns the change as a unified diff with three lines of context, and counts
// its lines.
//
// Binary files and folders take one line. So does a move, in the change that makes
// the new path.
func (c Change) Diff() (string, File) {
	counts := File{Path: c.Path, Action: "changed", Folder: c.Before.Dir || c.After.Dir, Note: c.Note}
	switch {
	case c.Moved != "" && !c.After.Exists:
		return "", File{}
	case c.Moved != "":
		counts.Action, counts.From = "moved", c.Moved
	case !c.Before.Exists:
		counts.Action = "created"
	case !c.After.Exists:
		counts.Action = "removed"
	}
	switch {
	case counts.Folder && c.Moved != "":
		return fmt.Sprintf("folder %s moved to %s\n", c.Moved, c.Path), counts
	case counts.Folder:
		return fmt.Sprintf("folder %s %s\n", c.Path, counts.Action), counts
	case c.Moved != "":
		return fmt.Sprintf("diff --git a/%s b/%s\nsimilarity index 100%%\nrename from %s\nrename to %s\n", c.Moved, c.Path, c.Moved, c.Path), counts
	}
	from, to := "a/"+c.Path, "b/"+c.Path
	if !c.Before.Exists {
		from = "/dev/null"
	}
	if !c.After.Exists {
		to = "/dev/null"
	}
	if !tree.IsText(c.Before.Data) || !tree.IsText(c.After.Data) {
		return fmt.Sprintf("Binary files %s and %s differ\n", from, to), counts
	}
	text, added, removed := plan.UnifiedDiff(from, to, string(c.Before.Data), string(c.After.Data))
	counts.Added, counts.Removed = added, removed
	if text == "" && c.Before.Exists != c.After.Exists {
		text = fmt.Sprintf("--- %s\n+++ %s\n", from, to) // an empty file comes or goes
	}
	return text, counts
}

// CheckText fails for a text that must not become a file.
func CheckText(arg, text string) error {
	switch {
	case len(text) > tree.MaxFile:
		return fmt.Errorf("%s would make a file of %d bytes, and at most %d are written", arg, len(text), tree.MaxFile)
	case tree.IsBinary([]byte(text)) || !utf8.ValidString(text):
		return fmt.Errorf("%s is not text; only text is written", arg)
	}
	return nil
}

// checkContent fails for a change that writes a placeholder in place of content. What
// the file has already is none.
func checkContent(changes []Change) error {
	for _, c := range changes {
		if !c.After.Exists || c.After.Dir || c.Moved != "" || !tree.IsText(c.After.Data) {
			continue
		}
		if found, ok := placeholder.Find(string(c.After.Data), c.Path, string(c.Before.Data)); ok {
			return fmt.Errorf("nothing was changed: %q in the new text of %s stands for content that is left out; write the content itself", found, c.Path)
		}
		if c.Before.Exists && syntax(c.Path, c.Before.Data) == nil {
			if err := syntax(c.Path, c.After.Data); err != nil {
				return fmt.Errorf("nothing was changed: %s would no longer be valid: %w", c.Path, err)
			}
		}
	}
	return nil
}

// syntax fails for a text that is no valid Go, JSON, TOML or YAML, by the name of its file.
// Other languages are not checked, nor are templates of data.
func syntax(name string, text []byte) error {
	switch ext := path.Ext(name); {
	case ext != ".go" && (bytes.Contains(text, []byte("{{")) || bytes.Contains(text, []byte("{%"))):
		return nil // Helm, Ansible and the like write the file from it
	case ext == ".go":
		_, err := parser.ParseFile(token.NewFileSet(), path.Base(name), text, parser.SkipObjectResolution)
		if list, ok := errors.AsType[scanner.ErrorList](err); ok && len(list) > 0 {
			return list[0]
		}
		return err
	case ext == ".json":
		var value json.RawMessage
		return json.Unmarshal(text, &value)
	case ext == ".toml":
		var value map[string]any
		return toml.Unmarshal(text, &value)
	case ext == ".yaml" || ext == ".yml":
		for document := yaml.NewDecoder(bytes.NewReader(text)); ; {
			var value yaml.Node
			if err := document.Decode(&value); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
		}
	default:
		return nil
	}
}
