package instructions

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestWhatSpeaksForTheUser(t *testing.T) {
	const user, other, root, staff = 1000, 1001, 0, 20
	mine := holder{user, user}
	for name, c := range map[string]struct {
		of         holder
		user       holder
		mode       fs.FileMode
		repository bool
		want       error
	}{
		"what only the user writes":                      {holder{user, staff}, holder{user, staff}, 0o755, false, nil},
		"what only root writes":                          {holder{root, root}, mine, 0o755, false, nil},
		"not what everybody writes":                      {mine, mine, 0o757, false, errOthersMayWrite},
		"not even where few may remove it":               {holder{root, root}, mine, 0o777 | fs.ModeSticky, false, errOthersMayWrite},
		"not what a group writes":                        {holder{user, staff}, holder{user, staff}, 0o775, false, errOthersMayWrite},
		"not what a group of root's writes":              {holder{root, root}, mine, 0o775, false, errOthersMayWrite},
		"what the user's private group writes":           {mine, mine, 0o775, false, nil},
		"not what the private group and everybody write": {mine, mine, 0o777, false, errOthersMayWrite},
		"not what another group writes":                  {holder{user, staff}, mine, 0o775, false, errOthersMayWrite},
		"not what another's private group writes":        {holder{other, other}, mine, 0o775, false, errOthersMayWrite},
		"not root's group, which is no private one":      {holder{root, root}, holder{root, root}, 0o775, false, errOthersMayWrite},
		"not what somebody else writes":                  {holder{other, other}, mine, 0o755, false, errNotOwned},
		"not what somebody else writes in the own group": {holder{other, user}, mine, 0o755, false, errNotOwned},
		"what a group writes in the own repository":      {holder{user, staff}, holder{user, staff}, 0o775, true, nil},
		"what others of it wrote in the own repository":  {holder{other, staff}, holder{user, staff}, 0o664, true, nil},
		"not what everybody writes in it":                {mine, mine, 0o666, true, errOthersMayWrite},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.of.speaksFor(c.user, c.mode, c.repository); !errors.Is(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestWhoseInstructionsCount takes files of others, which only root can make.
func TestWhoseInstructionsCount(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() != 0 {
		t.Skip("nothing can be given to others here")
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
		"those of a repository that a group shares": {
			repository,
			map[string]given{"r": {0o775, 0, shared}, "r/AGENTS.md": {0o664, 0, shared}},
			"r/a",
			Instructions{"repo", "../AGENTS.md", ""},
		},
		"those that a colleague wrote into it": {
			repository,
			map[string]given{"r": {0o775, 0, shared}, "r/AGENTS.md": {0o664, other, shared}},
			"r/a",
			Instructions{"repo", "../AGENTS.md", ""},
		},
		"not those that everybody may write into it": {
			repository, map[string]given{"r/AGENTS.md": {0o666, 0, 0}}, "r/a", Instructions{Note: writable},
		},
		"not those of somebody else's repository": {
			repository,
			map[string]given{"r": {0o755, other, shared}, "r/.git": {0o755, other, shared}, "r/AGENTS.md": {0o644, other, shared}},
			"r/a",
			Instructions{Note: foreign},
		},
		"not those of a folder that a stranger made a repository": {
			repository, map[string]given{"r": {0o775, 0, shared}, "r/.git": {0o755, other, shared}}, "r/a", Instructions{Note: writable},
		},
		"those of a lone folder of the user's": {
			lone, nil, "h/f/a", Instructions{"above", "../AGENTS.md", ""},
		},
		"not those of a folder that a group may write to": {
			lone, map[string]given{"h/f": {0o775, 0, shared}}, "h/f/a", Instructions{Note: writable},
		},
		"not those that a group may write": {
			lone, map[string]given{"h/f/AGENTS.md": {0o664, 0, shared}}, "h/f/a", Instructions{Note: writable},
		},
		"not those of somebody else's folder": {
			lone, map[string]given{"h/f": {0o755, other, shared}}, "h/f/a", Instructions{Note: foreign},
		},
		"not those of somebody else": {
			lone, map[string]given{"h/f/AGENTS.md": {0o644, other, shared}}, "h/f/a", Instructions{Note: foreign},
		},
		"those of the workspace, whoever wrote them": {
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
					t.Skipf("not allowed here: %v", err)
				}
			}
			got, err := Find(filepath.Join(top, filepath.FromSlash(c.workspace)), filepath.Join(top, "h"))
			if err != nil || got != c.want {
				t.Errorf("found %+v (%v), want %+v", got, err, c.want)
			}
		})
	}
}
