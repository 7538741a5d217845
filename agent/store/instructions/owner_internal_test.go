package instructions

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestTrustByOwnerAndMode(t *testing.T) {
	const user, other, root, staff = 1000, 1001, 0, 20
	mine := holder{user, user}
	for name, c := range map[string]struct {
		of         holder
		user       holder
		mode       fs.FileMode
		repository bool
		want       error
	}{
		"file and folder of the user":             {holder{user, staff}, holder{user, staff}, 0o755, false, nil},
		"file and folder of root":                 {holder{root, root}, mine, 0o755, false, nil},
		"world-writable":                          {mine, mine, 0o757, false, errOthersMayWrite},
		"world-writable and sticky":               {holder{root, root}, mine, 0o777 | fs.ModeSticky, false, errOthersMayWrite},
		"group-writable, another group":           {holder{user, staff}, holder{user, staff}, 0o775, false, errOthersMayWrite},
		"root, group-writable":                    {holder{root, root}, mine, 0o775, false, errOthersMayWrite},
		"private group":                           {mine, mine, 0o775, false, nil},
		"private group, world-writable":           {mine, mine, 0o777, false, errOthersMayWrite},
		"another group":                           {holder{user, staff}, mine, 0o775, false, errOthersMayWrite},
		"another user's private group":            {holder{other, other}, mine, 0o775, false, errOthersMayWrite},
		"root's group":                            {holder{root, root}, holder{root, root}, 0o775, false, errOthersMayWrite},
		"another user":                            {holder{other, other}, mine, 0o755, false, errNotOwned},
		"another user in the user's group":        {holder{other, user}, mine, 0o755, false, errNotOwned},
		"group-writable in the user's repository": {holder{user, staff}, holder{user, staff}, 0o775, true, nil},
		"group file in the user's repository":     {holder{other, staff}, holder{user, staff}, 0o664, true, nil},
		"world-writable in the user's repository": {mine, mine, 0o666, true, errOthersMayWrite},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.of.speaksFor(c.user, c.mode, c.repository); !errors.Is(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestFindChecksOwnerAndMode needs files of other owners, which only root can
// create.
func TestFindChecksOwnerAndMode(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() != 0 {
		t.Skip("cannot change the owner of files")
	}
	const other, shared = 54321, 54322
	type given struct {
		mode        fs.FileMode
		user, group int
	}
	repository := map[string]string{"r/.git/": "", "r/AGENTS.md": "repo", "r/a/": ""}
	lone := map[string]string{"h/f/AGENTS.md": "above", "h/f/a/": ""}
	const (
		writable = "../AGENTS.md is left out: others may write to it or to its folder"
		foreign  = "../AGENTS.md is left out: it or its folder belongs to somebody else"
	)
	for name, c := range map[string]struct {
		files     map[string]string
		give      map[string]given
		workspace string
		want      Instructions
	}{
		"repository shared by a group": {
			repository,
			map[string]given{"r": {0o775, 0, shared}, "r/AGENTS.md": {0o664, 0, shared}},
			"r/a",
			Instructions{"repo", "../AGENTS.md", ""},
		},
		"group member's file in a shared repository": {
			repository,
			map[string]given{"r": {0o775, 0, shared}, "r/AGENTS.md": {0o664, other, shared}},
			"r/a",
			Instructions{"repo", "../AGENTS.md", ""},
		},
		"world-writable file in a repository": {
			repository, map[string]given{"r/AGENTS.md": {0o666, 0, 0}}, "r/a", Instructions{Note: writable},
		},
		"repository of another user": {
			repository,
			map[string]given{"r": {0o755, other, shared}, "r/.git": {0o755, other, shared}, "r/AGENTS.md": {0o644, other, shared}},
			"r/a",
			Instructions{Note: foreign},
		},
		".git folder of another user": {
			repository, map[string]given{"r": {0o775, 0, shared}, "r/.git": {0o755, other, shared}}, "r/a", Instructions{Note: writable},
		},
		"folder without a repository": {
			lone, nil, "h/f/a", Instructions{"above", "../AGENTS.md", ""},
		},
		"group-writable folder": {
			lone, map[string]given{"h/f": {0o775, 0, shared}}, "h/f/a", Instructions{Note: writable},
		},
		"group-writable file": {
			lone, map[string]given{"h/f/AGENTS.md": {0o664, 0, shared}}, "h/f/a", Instructions{Note: writable},
		},
		"folder of another user": {
			lone, map[string]given{"h/f": {0o755, other, shared}}, "h/f/a", Instructions{Note: foreign},
		},
		"file of another user": {
			lone, map[string]given{"h/f/AGENTS.md": {0o644, other, shared}}, "h/f/a", Instructions{Note: foreign},
		},
		"workspace of another user": {
			lone,
			map[string]given{"h/f": {0o777, other, shared}, "h/f/AGENTS.md": {0o666, other, shared}},
			"h/f",
			Instructions{"above", "AGENTS.md", ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			top := tree(t, c.files)
			for file, g := range c.give {
				at := filepath.Join(top, filepath.FromSlash(file))
				if err := errors.Join(os.Chown(at, g.user, g.group), os.Chmod(at, g.mode)); err != nil {
					t.Skipf("cannot change owner or mode: %v", err)
				}
			}
			got, err := Find(filepath.Join(top, filepath.FromSlash(c.workspace)), filepath.Join(top, "h"))
			if err != nil || got != c.want {
				t.Errorf("found %+v (%v), want %+v", got, err, c.want)
			}
		})
	}
}
