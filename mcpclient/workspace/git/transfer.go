package git

import (
	"cmp"
	"context"
	"crypto/sha1" // #nosec G505 -- git's
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"replan/mcpclient/workspace/tree"
)

// Move is the change of a branch, a tag or HEAD.
type Move struct {
	Ref string
	Old string // a commit or, of HEAD, "ref: " and a branch; "" for none
	New string // like Old, never ""
}

// String describes the move in a few words.
func (m Move) String() string {
	name := strings.TrimPrefix(strings.TrimPrefix(m.Ref, "refs/heads/"), "refs/tags/")
	switch {
	case m.Ref == "HEAD" && strings.HasPrefix(m.New, symbolic):
		return "switched to " + strings.TrimPrefix(m.New, symbolic+"refs/heads/")
	case m.Old == "":
		return "created " + name
	default:
		return fmt.Sprintf("moved %s from %.7s to %.7s", name, m.Old, m.New)
	}
}

// symbolic begins what HEAD holds if it names a branch.
const symbolic = "ref: "

// transfers bring commits from one repository of the same workspace into another.
type transfers struct {
	repositories *repositories
	turn         turn
}

// Ignored returns those of some absolute paths that git ignores. Without a repository
// it ignores none.
func (o *transfers) Ignored(ctx context.Context, paths []string) (map[string]bool, error) {
	r, err := o.repositories.open(ctx)
	if errors.Is(err, errNoRepository) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out, err := r.git(ctx, gitRun{args: []string{"--no-literal-pathspecs", "check-ignore", "-z", "--stdin"}, input: []byte(strings.Join(paths, "\x00") + "\x00")})
	switch {
	case err != nil:
		return nil, err
	case out.exit > 1:
		return nil, out.failure("find the files that it ignores")
	}
	ignored := map[string]bool{}
	for name := range strings.SplitSeq(out.data, "\x00") {
		ignored[name] = true
	}
	return ignored, nil
}

// Bundle writes the commits of moved refs into a file.
func (o *transfers) Bundle(ctx context.Context, file string, moves []Move) error {
	r, err := o.repositories.open(ctx)
	if err != nil {
		return err
	}
	args, not := []string{"bundle", "create", "-q", file}, []string{}
	for _, m := range moves {
		if !strings.HasPrefix(m.New, symbolic) {
			args = append(args, m.Ref)
		}
		if !strings.HasPrefix(m.Old, symbolic) && m.Old != "" {
			not = append(not, "^"+m.Old)
		}
	}
	_, err = r.must(ctx, "collect the new commits", gitRun{args: slices.Concat(args, not)})
	return err
}

// Take reads the commits of a pack, and makes the moves: all or none. The files of the
// workspace stay as they are, and so does what the user staged. If that is not possible,
// or if a commit changes a path that was not shown, nothing moves. Shown paths are
// relative to the repository; files that the workspace has as the commit were shown when
// they were taken.
func (o *transfers) Take(ctx context.Context, pack []byte, moves []Move, shown map[string]bool) error {
	r, err := o.repositories.open(ctx)
	if err != nil {
		return err
	}
	release, err := o.turn(ctx)
	if err != nil {
		return err
	}
	defer release()
	if len(pack) > 0 {
		if _, err := r.must(ctx, "read the new commits", gitRun{args: []string{"index-pack", "--stdin", "--fix-thin", "--strict"}, input: pack}); err != nil {
			return err
		}
	}
	var commands strings.Builder
	head := ""
	for _, m := range moves {
		if strings.HasPrefix(m.New, symbolic) {
			head = strings.TrimPrefix(m.New, symbolic)
			continue
		}
		if _, err := r.must(ctx, "check the new commits", gitRun{args: []string{"rev-list", "--objects", "--quiet", "--not", "--all", "--not", "--end-of-options", m.New}}); err != nil {
			return err
		}
		if err := r.onlyShown(ctx, m.New, shown); err != nil {
			return err
		}
		switch {
		case m.Old == "":
			_, _ = fmt.Fprintf(&commands, "create %s %s\n", m.Ref, m.New)
		case strings.HasPrefix(m.Old, symbolic): // git compares commits alone
			_, _ = fmt.Fprintf(&commands, "update %s %s\n", m.Ref, m.New)
		default:
			_, _ = fmt.Fprintf(&commands, "update %s %s %s\n", m.Ref, m.New, m.Old)
		}
	}
	trees, err := r.treesOf(ctx, moves)
	if err != nil {
		return err
	}
	if commands.Len() > 0 {
		if _, err := r.must(ctx, "move the branches", gitRun{args: []string{"update-ref", "--stdin", "--no-deref"}, input: []byte(commands.String())}); err != nil {
			return err
		}
	}
	if head != "" {
		if _, err := r.must(ctx, "switch the branch", gitRun{args: []string{"symbolic-ref", "--", "HEAD", head}}); err != nil {
			return err
		}
	}
	if len(trees) > 0 {
		_, err = r.must(ctx, "bring the index up to date", gitRun{args: slices.Concat(readTree, trees)})
	}
	return err
}

// onlyShown fails if a new commit changes a path that was not shown, and not to the file
// that the workspace has.
func (r gitRepository) onlyShown(ctx context.Context, commit string, shown map[string]bool) error {
	out, err := r.must(ctx, "list the files of the new commits", gitRun{args: []string{
		"log", "--format=", "--raw", "--no-abbrev", "--no-renames", "-m", "-z", "--not", "--all", "--not", "--end-of-options", commit,
	}})
	switch {
	case err != nil:
		return err
	case out.cut:
		return errors.New("the new commits change too many files to check them")
	}
	// :OLD-MODE NEW-MODE OLD-OBJECT NEW-OBJECT STATUS NUL NAME NUL
	fields := slices.DeleteFunc(strings.Split(out.data, "\x00"), func(field string) bool { return strings.Trim(field, "\n") == "" })
	for i := 0; i+1 < len(fields); i += 2 {
		name, entry := fields[i+1], strings.Fields(fields[i])
		if shown[name] {
			continue
		}
		if local, inside := r.local(name); inside && len(entry) == 5 {
			f, err := r.tree.Look(local)
			removed := entry[1] == "000000" && !f.Exists
			if err == nil && (removed || f.Exists && !f.Dir && entry[1] == modeOf(f) && entry[3] == objectOf(f.Data, len(entry[3]))) {
				continue
			}
		}
		return fmt.Errorf("a new commit changes %s, which is not among the changes that you saw", name)
	}
	return nil
}

// modeOf returns git's mode of a file.
func modeOf(f tree.File) string {
	if f.Mode&0o100 != 0 {
		return "100755"
	}
	return "100644"
}

// objectOf returns the name of git's object with a content, of as many digits.
func objectOf(data []byte, digits int) string {
	hash := sha1.New() // #nosec G401 -- git's
	if digits == hex.EncodedLen(sha256.Size) {
		hash = sha256.New()
	}
	_, _ = fmt.Fprintf(hash, "blob %d\x00%s", len(data), data)
	return hex.EncodeToString(hash.Sum(nil))
}

// readTree changes the index as a switch between two trees does, without the files.
var readTree = []string{"read-tree", "-i", "-m"}

// treesOf returns the commits that HEAD names before and after some moves; none if
// they are the same. It fails if the index cannot follow, which holds what the user
// staged.
func (r gitRepository) treesOf(ctx context.Context, moves []Move) ([]string, error) {
	out, err := r.git(ctx, gitRun{args: []string{"symbolic-ref", "--quiet", "HEAD"}})
	if err != nil {
		return nil, err
	}
	head := cmp.Or(strings.TrimSpace(out.data), "HEAD")
	for _, m := range moves {
		if m.Ref == "HEAD" {
			head = cmp.Or(strings.TrimPrefix(m.New, symbolic), head)
		}
	}
	after := head
	for _, m := range moves {
		if m.Ref == head && m.Ref != "HEAD" {
			after = m.New
		}
	}
	var trees []string
	for _, commit := range []string{"HEAD", after} {
		out, err := r.git(ctx, gitRun{args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", commit + "^{commit}"}})
		if err != nil {
			return nil, err
		}
		if hash := strings.TrimSpace(out.data); out.exit == 0 && !slices.Contains(trees, hash) {
			trees = append(trees, hash)
		} else if commit != "HEAD" {
			return nil, nil // the same one, or none
		}
	}
	if _, err := r.must(ctx, "keep what is staged (commit it, or take it out of the index)", gitRun{args: slices.Concat(readTree, []string{"--dry-run"}, trees)}); err != nil {
		return nil, err
	}
	return trees, nil
}
