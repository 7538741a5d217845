package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"replan/internal/untrusted"
)

// Git looks for git, and for a repository around the folder.
func Git(folder string) func(context.Context) []Check {
	return func(ctx context.Context) []Check {
		const subject = "Git"
		version, err := exec.CommandContext(ctx, "git", "--version").Output()
		if err != nil {
			return []Check{{subject, "git", Warning, "not found; vcs.* tools cannot work", "install git: https://git-scm.com/downloads"}}
		}
		checks := []Check{{Subject: subject, Name: "git", State: OK, Detail: untrusted.Text(strings.TrimSpace(string(version)))}}
		top := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel")
		top.Dir = folder
		if _, err := top.Output(); err != nil {
			return append(checks, Check{subject, "repository", Warning, "this folder is in no repository; vcs.* tools cannot work here", "git init"})
		}
		return append(checks, Check{Subject: subject, Name: "repository", State: OK, Detail: untrusted.Text(folder)})
	}
}

// Path names the folders of PATH from which no program is taken by its name.
func Path(left []string) func(context.Context) []Check {
	return func(context.Context) (checks []Check) {
		for _, folder := range left {
			shown := cmp.Or(folder, "an empty entry")
			checks = append(checks, Check{
				"Programs", "PATH", Warning, untrusted.Text(shown + " is relative or lies in this folder: no program is taken from it"),
				"take it out of PATH, or name its programs by their path",
			})
		}
		return checks
	}
}

// Folder is a folder that replan writes to.
type Folder struct {
	Name string // what it holds
	Path string
}

// Folders checks that replan can write to its folders, and that no other user can
// read them.
func Folders(folders []Folder) func(context.Context) []Check {
	return func(context.Context) []Check {
		var checks []Check
		for i, f := range folders {
			if slices.ContainsFunc(folders[:i], func(before Folder) bool { return before.Path == f.Path }) {
				continue
			}
			checks = append(checks, folderCheck(f))
		}
		return checks
	}
}

func folderCheck(f Folder) Check {
	check := Check{Subject: "Folders", Name: untrusted.Text(f.Name), State: OK, Detail: untrusted.Text(f.Path)}
	info, err := os.Stat(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		check.Detail += ", created when needed"
		if err := writable(existingParent(f.Path)); err != nil {
			check.State, check.Detail = Failed, sentence(fmt.Errorf("%s cannot be created: %w", f.Path, err))
			check.Fix = "use another folder: --data-dir DIR"
		}
	case err != nil:
		check.State, check.Detail = Failed, sentence(err)
	case !info.IsDir():
		check.State, check.Detail = Failed, untrusted.Text(f.Path+" is not a folder")
		check.Fix = untrusted.Text("move the file: mv " + quoted(f.Path) + " " + quoted(f.Path+".old"))
	default:
		if err := writable(f.Path); err != nil {
			check.State, check.Detail = Failed, sentence(fmt.Errorf("%s is not writable: %w", f.Path, err))
			check.Fix = untrusted.Text("chmod u+rwx " + quoted(f.Path))
		} else if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
			check.State, check.Detail = Warning, untrusted.Text(fmt.Sprintf("%s has mode %04o; others can read it", f.Path, mode))
			check.Fix = untrusted.Text("chmod 700 " + quoted(f.Path))
		}
	}
	return check
}

// writable reports why no file can be created in the folder.
func writable(folder string) error {
	file, err := os.CreateTemp(folder, ".replan-doctor-*")
	if err != nil {
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			return path.Err
		}
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// existingParent returns the nearest folder above the path that exists.
func existingParent(path string) string {
	for {
		above := filepath.Dir(path)
		if _, err := os.Stat(above); err == nil || above == path {
			return above
		}
		path = above
	}
}

// quoted returns a path as a shell reads it.
func quoted(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }

// Configuration reports the configuration file, or the error and the doubts about it.
func Configuration(file string, wrong error, doubts ...string) func(context.Context) []Check {
	return func(context.Context) []Check {
		check := Check{Subject: "Configuration", Name: untrusted.Text(filepath.Base(file)), State: OK, Detail: untrusted.Text(file)}
		if wrong != nil {
			check.State, check.Detail, check.Fix = Failed, sentence(wrong), untrusted.Text("edit "+file)
			if file == "" {
				check.Name, check.Fix = "settings", ""
			}
		} else if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			check.Detail += ", not written yet; the defaults apply"
		}
		checks := []Check{check}
		for _, doubt := range doubts {
			checks = append(checks, Check{check.Subject, "rules", Warning, untrusted.Text(doubt), untrusted.Text("edit " + file)})
		}
		return checks
	}
}
