package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

type writeArgs struct {
	Path string `json:"path" jsonschema:"file, relative to the workspace; missing folders are made"`
	Text string `json:"text" jsonschema:"the whole text of the file"`
}

func (o *Operators) write(ctx context.Context, c op.Call, args writeArgs) (*op.Answer[change.Result], error) {
	if err := change.CheckText("text", args.Text); err != nil {
		return nil, err
	}
	return o.changes.Make(ctx, c, func() ([]change.Change, error) {
		at, err := o.tree.Changeable(args.Path)
		if err != nil {
			return nil, err
		}
		before, err := o.tree.LoadText(at)
		if err != nil {
			return nil, err
		}
		text := args.Text
		if tree.AllCRLF(string(before.Data)) {
			text = tree.ToCRLF(text)
		}
		return []change.Change{{Path: at, Before: before, After: tree.File{Exists: true, Data: []byte(text), Mode: before.Mode}}}, nil
	})
}

type patchArgs struct {
	Path   string            `json:"path,omitempty" jsonschema:"file, relative to the workspace"`
	Old    *string           `json:"old,omitempty" jsonschema:"the exact text to replace, with its indentation"`
	New    *string           `json:"new,omitempty" jsonschema:"the text to put there"`
	All    bool              `json:"all,omitempty" jsonschema:"replace every occurrence of old"`
	Diff   string            `json:"diff,omitempty" jsonschema:"unified diff with --- a/PATH, +++ b/PATH and @@ lines, instead of path, old and new"`
	Hashes map[string]string `json:"hashes,omitempty" jsonschema:"the SHA-256 of each file that the change was made against, by path; a file that differs is refused"`
}

func (o *Operators) patch(ctx context.Context, c op.Call, args patchArgs) (*op.Answer[change.Result], error) {
	compute := func() ([]change.Change, error) { return o.replacement(ctx, args) }
	switch {
	case args.Diff != "" && (args.Old != nil || args.New != nil):
		return nil, errors.New("fs.patch takes either path, old and new, or diff, not both")
	case args.Diff != "":
		compute = func() ([]change.Change, error) { return o.diffChanges(ctx, args) }
	case args.Path == "" || args.Old == nil || args.New == nil:
		return nil, errors.New("fs.patch needs path, old and new, or a diff")
	case *args.Old == "":
		return nil, errors.New("the argument old of fs.patch is empty; say which text to replace, or create a file with fs.write")
	case *args.Old == *args.New:
		return nil, errors.New("old and new are the same; there is nothing to change")
	}
	return o.changes.Make(ctx, c, func() ([]change.Change, error) {
		vouched, err := o.vouched(args.Hashes)
		if err != nil {
			return nil, err
		}
		changes, err := compute()
		if err == nil {
			err = o.changes.CheckRead(changes, vouched)
		}
		return changes, err
	})
}

// vouched checks the files that a call was made against by their hashes, and
// returns their paths.
func (o *Operators) vouched(hashes map[string]string) (map[string]bool, error) {
	for name, hash := range hashes {
		if sum, err := hex.DecodeString(hash); err != nil || len(sum) != sha256.Size && hash != "" {
			return nil, fmt.Errorf("the argument hashes of fs.patch has no SHA-256 in hex for %q", name)
		}
	}
	stale, err := o.changes.Unchanged(hashes)
	if err != nil {
		return nil, err
	}
	if stale != "" {
		return nil, change.StaleError(stale)
	}
	paths := make(map[string]bool, len(hashes))
	for name := range hashes {
		at, err := o.tree.Resolve(name)
		if err != nil {
			return nil, err
		}
		paths[at] = true
	}
	return paths, nil
}

// replacement returns the change of one file by an exact replacement.
func (o *Operators) replacement(ctx context.Context, args patchArgs) ([]change.Change, error) {
	at, err := o.tree.Changeable(args.Path)
	if err != nil {
		return nil, err
	}
	before, err := o.tree.LoadText(at)
	if err != nil {
		return nil, err
	}
	if !before.Exists {
		return nil, o.tree.NoFile(ctx, at)
	}
	text, old, with := string(before.Data), *args.Old, *args.New
	if tree.AllCRLF(text) {
		old, with = tree.ToCRLF(old), tree.ToCRLF(with)
	}
	found := occurrences(text, old)
	switch {
	case len(found) == 0:
		return nil, notFound(at, text, old)
	case len(found) > 1 && !args.All:
		return nil, fmt.Errorf("old occurs %d times in %s (%s); give more of the text around it, or set all to true",
			len(found), at, lineList(text, found))
	}
	after := strings.ReplaceAll(text, old, with)
	if err := change.CheckText("new", after); err != nil {
		return nil, err
	}
	return []change.Change{{Path: at, Before: before, After: tree.File{Exists: true, Data: []byte(after), Mode: before.Mode}}}, nil
}

// occurrences returns the positions of old in text. Overlapping ones count
// too, since either could be meant.
func occurrences(text, old string) []int {
	const enough = 1000
	var found []int
	for from := 0; len(found) < enough; {
		i := strings.Index(text[from:], old)
		if i < 0 {
			break
		}
		found = append(found, from+i)
		from += i + 1
	}
	return found
}

// lineList lists the line numbers of the first few places.
func lineList(text string, places []int) string {
	const shown = 5
	numbers := make([]string, 0, shown)
	for _, at := range places[:min(len(places), shown)] {
		numbers = append(numbers, strconv.Itoa(1+strings.Count(text[:at], "\n")))
	}
	list := "lines " + strings.Join(slices.Compact(numbers), ", ")
	if len(places) > shown {
		list += " …"
	}
	return list
}

// notFound returns an error that old does not occur, with the most similar
// place.
func notFound(at, text, old string) error {
	wanted := ""
	for line := range strings.Lines(old) {
		if wanted = strings.TrimSpace(line); wanted != "" {
			break
		}
	}
	number, line := nearest(text, wanted)
	switch {
	case number == 0:
		return fmt.Errorf("old does not occur in %s; read the file and copy the text exactly", at)
	case line == wanted:
		return fmt.Errorf("old does not occur in %s; its first line is in line %d, but white space or a later line differs: copy the text exactly", at, number)
	default:
		return fmt.Errorf("old does not occur in %s; the nearest line is %d: %q; copy the text exactly", at, number, op.Clip(line))
	}
}

// nearest returns the trimmed line of text most similar to wanted and its
// number, counted from 1. It returns 0 if no line is similar enough.
func nearest(text, wanted string) (int, string) {
	const alike = 0.5 // below this a hint would mislead
	pairs := bigrams(wanted)
	best, at, found, n := alike, 0, "", 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == wanted && wanted != "" {
			return n, line
		}
		// Lines of very different length cannot be similar, and comparing them is
		// slow.
		if len(line) > 3*len(wanted)+8 || len(wanted) > 3*len(line)+8 {
			continue
		}
		if score := dice(pairs, bigrams(line)); score > best {
			best, at, found = score, n, line
		}
	}
	return at, found
}

func bigrams(s string) map[[2]byte]int {
	pairs := make(map[[2]byte]int, len(s))
	for i := 1; i < len(s); i++ {
		pairs[[2]byte{s[i-1], s[i]}]++
	}
	return pairs
}

// dice returns the similarity of two sets of letter pairs, from 0 to 1.
func dice(a, b map[[2]byte]int) float64 {
	both, all := 0, 0
	for pair, n := range a {
		both += min(n, b[pair])
		all += n
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 0
	}
	return 2 * float64(both) / float64(all)
}

func endsInCRLF(line string) bool { return bytes.HasSuffix([]byte(line), []byte("\r\n")) }
