package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// DiffHash is the SHA-256 of a diff in hex, as [MetaDiff] has it.
func DiffHash(diff string) string {
	sum := sha256.Sum256([]byte(diff))
	return hex.EncodeToString(sum[:])
}

// outdatedError refuses a call that would not do any more what was approved.
// Nothing was changed.
type outdatedError struct{ why string }

func (e *outdatedError) Error() string { return e.why + "; look at the new diff" }

// result is the answer that says why, so that the call can be asked about again.
func (e *outdatedError) result() *mcp.CallToolResult {
	result := mcp.NewToolResultError(e.Error())
	result.Meta = mcp.NewMetaFromMap(map[string]any{MetaOutdated: e.why})
	return result
}

// stillApproved reports whether changes are what the call was approved with, although
// a file is no longer what it was then.
func (c call) stillApproved(changes []change) bool {
	diff, whole := shown(changes)
	return whole && DiffHash(diff) == c.diff
}

// leave remembers what a run has made of files.
func (o *Operators) leave(run string, changes []change) {
	if run == "" {
		return
	}
	for _, ch := range changes {
		o.left.note(run+" "+ch.path, ch.after.Hash())
	}
}

// unchanged checks that every file still has its hash. It returns the first
// that has not, empty where there is none.
func (o *Operators) unchanged(hashes map[string]string) (string, error) {
	_, foreign, err := o.changedSince(call{hashes: hashes})
	return foreign, err
}

// changedSince compares files with what a call was approved against. It returns the
// first that its own run has changed since, and the first that somebody else has.
func (o *Operators) changedSince(c call) (changed, foreign string, err error) {
	for _, name := range slices.Sorted(maps.Keys(c.hashes)) {
		at, err := o.tree.Resolve(name)
		if err != nil {
			return "", "", err
		}
		f, err := o.tree.LoadEntry(at)
		if err != nil {
			return "", "", err
		}
		switch hash := f.Hash(); {
		case hash == strings.ToLower(c.hashes[name]):
		case c.run == "" || !o.left.has(c.run+" "+at, hash):
			return "", name, nil
		case changed == "":
			changed = name
		}
	}
	return changed, "", nil
}
