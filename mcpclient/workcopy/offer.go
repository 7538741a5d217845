package workcopy

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/mcpclient/workspace/change"
	"replan/planning/plan"
)

// The most that an offer holds.
const (
	maxOffered      = 5000     // files
	maxOfferedBytes = 64 << 20 // of their content after the change
)

// Offer is what runs changed in the copy.
type Offer struct {
	ID    string   // hash of all of it
	Runs  []string // that worked in the copy, oldest first
	Files []File
	Notes []string // on what cannot be taken, a sentence each
	Moves []Move   // of branches and tags

	changes  []change.Change // of Files
	dropOnly []string        // paths that can only be dropped
	stuck    bool            // Moves cannot be taken
}

// File is a changed file of an offer.
type File struct {
	change.File
	Diff     string // unified
	Hunks    int    // of Diff
	Conflict bool   // the file of the workspace changed too: it cannot be taken
}

// Empty reports whether nothing changed.
func (o Offer) Empty() bool { return len(o.Files)+len(o.Notes)+len(o.Moves) == 0 }

// add adds a change with its diff.
func (o *Offer) add(ch change.Change, conflict bool) {
	f := File{Conflict: conflict}
	f.Diff, f.File = ch.Diff()
	switch was, is := ch.Before, ch.After; {
	case !is.Exists, is.Dir:
	case was.Exists && !was.Dir && was.Mode != is.Mode:
		f.Diff = fmt.Sprintf("mode of %s: %04o, was %04o\n%s", ch.Path, is.Mode, was.Mode, f.Diff)
	case !was.Exists && is.Mode&0o111 != 0:
		f.Diff = fmt.Sprintf("mode of %s: %04o\n%s", ch.Path, is.Mode, f.Diff)
	}
	for line := range strings.Lines(f.Diff) {
		if strings.HasPrefix(line, "@@ ") {
			f.Hunks++
		}
	}
	o.Files = append(o.Files, f)
	o.changes = append(o.changes, ch)
}

// hash returns a hash over everything that is offered.
func (o *Offer) hash() string {
	sum := sha256.New()
	for i, ch := range o.changes {
		_, _ = fmt.Fprintf(sum, "%q %s %o %s %o %t\n", ch.Path, ch.Before.Hash(), ch.Before.Mode, ch.After.Hash(), ch.After.Mode, o.Files[i].Conflict)
	}
	_, _ = fmt.Fprintf(sum, "%q %q\n", o.Notes, o.Moves)
	return hex.EncodeToString(sum.Sum(nil))
}

// addDropOnly notes why a path cannot be taken.
func (o *Offer) addDropOnly(at, why string) {
	o.dropOnly = append(o.dropOnly, at)
	o.note("%s cannot be taken: %s", at, why)
}

// note adds a sentence on what cannot be taken.
func (o *Offer) note(format string, args ...any) {
	o.Notes = append(o.Notes, fmt.Sprintf(format, args...))
}

// addMove adds the change of a branch or a tag. It says so if the workspace moved it too.
func (o *Offer) addMove(m Move, clashes bool) {
	if clashes {
		o.stuck = true
		o.note("%s moved in the workspace too, so no branch of the copy can be taken", m.Ref)
	}
	o.Moves = append(o.Moves, m)
}

// noteDropOnly says that paths can only be dropped. dir is the workspace in the copy.
func (o *Offer) noteDropOnly(dir string) {
	if len(o.dropOnly) > 0 {
		o.note("%s %s in %s until you drop the changes", english.Count(len(o.dropOnly), "path"), english.Agree(len(o.dropOnly), "stays", "stay"), dir)
	}
}

// setID names the offer by all that it holds.
func (o *Offer) setID() { o.ID = o.hash() }

// movable reports whether branches can be taken, with all files or not.
func (o Offer) movable(whole bool) bool { return len(o.Moves) > 0 && whole && !o.stuck }

// remains reports whether a choice leaves changes in the copy, counting those in waits.
func (o Offer) remains(choice Choice, waits []string) bool {
	return (choice.All || choice.Keep) && (len(o.dropOnly)+len(waits) > 0 || o.stuck)
}

// dropOnlyPaths returns the paths that can only be dropped.
func (o Offer) dropOnlyPaths() []string { return o.dropOnly }

// Choice says which changes of an offer to take. What is not taken is dropped, or
// waits.
type Choice struct {
	Offer string // the ID of the offer that was looked at
	All   bool   // all that can be taken
	Files map[string]FileChoice
	Keep  bool // what is not taken waits
}

// FileChoice is what to take of a file.
type FileChoice struct {
	All   bool
	Hunks []int // of its diff, counted from 0
}

// Settled is what became of an offer.
type Settled struct {
	Taken   []change.File
	Dropped []string // paths
	Runs    []string
	Notes   []string
}

// ErrOutdated reports that the copy changed since the offer that the user looked at.
var ErrOutdated = errors.New("the changes differ from those that you looked at: look at them again")

// choose returns the changes that are taken, what is said of those that wait, and
// whether all is taken. dir is the workspace in the copy.
func (o Offer) choose(choice Choice, dir string, s *Settled) (taken []change.Change, waits []string, whole bool) {
	whole = true
	var left []string
	for i, ch := range o.changes {
		part, all := o.Files[i].chosen(ch, choice)
		whole = whole && all
		switch {
		case choice.All && o.Files[i].Conflict:
			waits = append(waits, fmt.Sprintf("%s changed in this folder too: its changes stay in %s until you drop them", ch.Path, dir))
		case part.Path == "" && choice.Keep:
			left = append(left, ch.Path)
		case part.Path == "":
			s.Dropped = append(s.Dropped, ch.Path)
		default:
			taken = append(taken, part)
			_, counts := part.Diff()
			s.Taken = append(s.Taken, counts)
		}
	}
	left = slices.DeleteFunc(left, func(at string) bool { // a folder that is made for what is in it
		return slices.ContainsFunc(taken, func(ch change.Change) bool { return strings.HasPrefix(ch.Path, at+"/") && ch.After.Exists })
	})
	if len(left) > 0 {
		waits = append(waits, fmt.Sprintf("%s %s in the copy", english.Count(len(left), "changed file"), english.Agree(len(left), "waits", "wait")))
	}
	return taken, waits, whole
}

// check fails if the user did not look at this offer, or chose what cannot be taken.
func (o Offer) check(choice Choice) error {
	if choice.Offer != "" && choice.Offer != o.ID && o.ID != "" {
		return ErrOutdated
	}
	for name := range choice.Files {
		at := slices.IndexFunc(o.Files, func(f File) bool { return f.Path == name })
		switch {
		case at < 0:
			return fmt.Errorf("no run changed %s: look at the changes again", name)
		case o.Files[at].Conflict:
			return fmt.Errorf("%s changed in this folder too: it cannot be taken", name)
		}
	}
	return nil
}

func newest(runs []string) string {
	if len(runs) == 0 {
		return ""
	}
	return runs[len(runs)-1]
}

// chosen returns what is taken of a change, and whether that is all of it. part has no
// path if nothing is taken.
func (f File) chosen(ch change.Change, choice Choice) (part change.Change, all bool) {
	file := choice.Files[ch.Path]
	switch {
	case f.Conflict:
		return change.Change{}, false
	case choice.All || file.All:
		return ch, true
	case len(file.Hunks) == 0 || f.Hunks == 0:
		return change.Change{}, false
	}
	ch.After.Data = []byte(plan.TakeHunks(string(ch.Before.Data), string(ch.After.Data), func(hunk int) bool { return slices.Contains(file.Hunks, hunk) }))
	ch.After.Exists = true
	if ch.After.Mode == 0 {
		ch.After.Mode = ch.Before.Mode
	}
	return ch, false
}
