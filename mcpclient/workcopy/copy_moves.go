package workcopy

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"replan/mcpclient/workspace/git"
	"replan/mcpclient/workspace/tree"
)

// Move is the change of a branch, a tag or HEAD.
type Move = git.Move

// moved returns the differences between two lists of refs.
func moved(before, after refList) (moves []Move) {
	read := func(text refList) map[string]string {
		refs := map[string]string{}
		for line := range strings.Lines(string(text)) {
			if at := strings.LastIndexByte(line, ' '); at > 0 {
				refs[strings.TrimSpace(line[at:])] = line[:at]
			}
		}
		return refs
	}
	was, is := read(before), read(after)
	names := maps.Clone(was)
	maps.Copy(names, is)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if was[name] != is[name] && (name != "HEAD" || is[name] != "") { // no program removes HEAD in order
			moves = append(moves, Move{Ref: name, Old: was[name], New: is[name]})
		}
	}
	return moves
}

// addMoves adds what runs did to branches and tags.
func (c *Copy) addMoves(o *Offer) {
	r, found := c.findRepository()
	if !found || c.state.Git == "" {
		return
	}
	mine := moved(c.state.Refs, refsOf(r))
	if _, err := c.root.Lstat(path.Join(gitName, "reftable")); err == nil {
		o.note("this repository keeps its branches in a table, so commits of the copy are not taken")
	}
	for _, m := range moved(c.state.Refs, c.copiedRefs()) {
		if m.New == "" {
			o.note("the copy lacks %s: deleted branches and tags are not taken", m.Ref)
			continue
		}
		at := slices.IndexFunc(mine, func(other Move) bool { return other.Ref == m.Ref })
		if at >= 0 && mine[at].New == m.New {
			continue // it was taken, but the program ended before it noted that
		}
		o.addMove(m, at >= 0)
	}
}

// settleMoves brings the branches and commits of the copy into the workspace if all of
// its files were taken.
func (c *Copy) settleMoves(ctx context.Context, o Offer, all bool, s *Settled) error {
	if !o.movable(all) {
		return nil
	}
	var pack []byte
	if slices.ContainsFunc(o.Moves, func(m Move) bool { return !strings.HasPrefix(m.New, "ref: ") }) {
		var err error
		if pack, err = c.pack(ctx, o.Moves); err != nil {
			return errors.Join(errors.New("the files were taken, but not the commits"), err)
		}
	}
	shown := map[string]bool{}
	for _, f := range o.Files {
		shown[path.Join(filepath.ToSlash(c.inside), f.Path)] = true
	}
	if err := c.target.Git().Take(ctx, pack, o.Moves, shown); err != nil {
		return errors.Join(errors.New("the files were taken, but not the commits"), err)
	}
	for _, m := range o.Moves {
		s.Notes = append(s.Notes, m.String())
	}
	c.state.Refs = c.copiedRefs()
	return nil
}

// maxPack is the most that new commits take.
const maxPack = 128 << 20

// pack returns the objects of the new commits as a pack; empty if the workspace has
// them. The copy's git writes it where programs of the run could replace it, so it is
// read as their work.
func (c *Copy) pack(ctx context.Context, moves []Move) ([]byte, error) {
	name := path.Join(gitName, "replan-"+rand.Text()+".bundle")
	defer c.root.Remove(name) //nolint:errcheck // the next reset removes it too
	if err := c.own.Git().Bundle(ctx, filepath.Join(c.place, filesName, name), moves); err != nil {
		if strings.Contains(err.Error(), "empty bundle") {
			return nil, nil
		}
		return nil, err
	}
	f, err := c.root.OpenFile(name, os.O_RDONLY|tree.NonBlocking, 0)
	if err != nil {
		return nil, fmt.Errorf("read the new commits: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, fmt.Errorf("read the new commits: %w", err)
	case !info.Mode().IsRegular() || info.Size() > maxPack:
		return nil, fmt.Errorf("the new commits take more than %d MB", maxPack>>20)
	}
	bundle, err := io.ReadAll(io.LimitReader(f, maxPack))
	if err != nil {
		return nil, fmt.Errorf("read the new commits: %w", err)
	}
	_, pack, found := bytes.Cut(bundle, []byte("\n\n")) // after what the bundle says of them
	if !found {
		return nil, errors.New("read the new commits: git wrote no bundle")
	}
	return pack, nil
}
