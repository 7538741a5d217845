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

	"replan/internal/english"
	"replan/mcpclient/workspace/change"
	"replan/mcpclient/workspace/code/source"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

// patcher changes the text of files.
type patcher struct {
	tree    *tree.Tree
	changes *change.Writer
	diffs   *diffReader
}

type writeArgs struct {
	Path string `json:"path" jsonschema:"file, relative to the workspace; missing folders are made"`
	Text string `json:"text" jsonschema:"the whole text of the file"`
}

func (o *patcher) write(ctx context.Context, c op.Call, args writeArgs) (*op.Answer[change.Result], error) {
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
		if strings.TrimSpace(text) == "" && len(bytes.TrimSpace(before.Data)) > 0 {
			return nil, fmt.Errorf("the argument text of fs.write is empty, and %s has %s; give the whole text, or remove the file with fs.remove",
				at, english.Count(source.CountLines(string(before.Data)), "line"))
		}
		if tree.AllCRLF(string(before.Data)) {
			text = tree.ToCRLF(text)
		}
		text = tree.KeepMark(before.Data, text)
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

func (o *patcher) patch(ctx context.Context, c op.Call, args patchArgs) (*op.Answer[change.Result], error) {
	compute := func() ([]change.Change, error) { return o.replacement(ctx, args) }
	switch {
	case args.Diff != "" && (args.Old != nil || args.New != nil):
		return nil, errors.New("fs.patch takes either path, old and new, or diff, not both")
	case args.Diff != "":
		compute = func() ([]change.Change, error) { return o.diffs.changes(ctx, args) }
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
func (o *patcher) vouched(hashes map[string]string) (map[string]bool, error) {
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

// replacement returns the change of one file by a replacement. An old text that does
// not occur exactly is matched to the nearest place, if there is only one.
func (o *patcher) replacement(ctx context.Context, args patchArgs) ([]change.Change, error) {
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
	r := replacement{at: at, text: string(before.Data), old: *args.Old, with: *args.New}
	marked := strings.Contains(r.old, tree.ByteOrderMark)
	if !marked {
		r.text = strings.TrimPrefix(r.text, tree.ByteOrderMark)
	}
	if tree.AllCRLF(r.text) {
		r.old, r.with = tree.ToCRLF(r.old), tree.ToCRLF(r.with)
	}
	after, note, err := r.apply(ctx, args.All)
	if err != nil {
		return nil, err
	}
	if !marked {
		after = tree.KeepMark(before.Data, after)
	}
	if err := change.CheckText("new", after); err != nil {
		return nil, err
	}
	return []change.Change{{Path: at, Before: before, After: tree.File{Exists: true, Data: []byte(after), Mode: before.Mode}, Note: note}}, nil
}

// apply returns the text after the replacement, and how old was matched if not exactly.
func (r replacement) apply(ctx context.Context, all bool) (after, note string, err error) {
	r.with = unfolded(r.old, r.with)
	found := occurrences(r.text, r.old)
	var t target
	switch {
	case len(found) > 0 && all:
		return strings.ReplaceAll(r.text, r.old, r.with), "", nil
	case len(found) > 1:
		places := make([]target, len(found))
		for i, at := range found {
			places[i] = target{start: at, end: at + len(r.old)}
		}
		var ok bool
		if t, ok = r.inside(ctx, places...); ok {
			break
		}
		return "", "", fmt.Errorf("old occurs %d times in %s (%s); give more of the text around it, or set all to true",
			len(found), r.at, lineList(r.text, found))
	case len(found) == 1:
		t = r.whole(ctx, target{start: found[0], end: found[0] + len(r.old), with: r.with})
	default:
		if t, err = r.nearest(ctx); err != nil {
			return "", "", err
		}
	}
	if tree.AllCRLF(r.text) {
		t.with = tree.ToCRLF(t.with)
	}
	if r.text[t.start:t.end] == t.with {
		return "", "", fmt.Errorf("new is what stands in %s already; there is nothing to change", r.at)
	}
	return r.text[:t.start] + t.with + r.text[t.end:], t.note, nil
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
