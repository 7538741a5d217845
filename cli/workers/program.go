package workers

import (
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"

	"replan/agent/remote"
	"replan/internal/untrusted"
	"replan/mcpclient/child"
)

// programName is the worker program, which alone knows the database.
const programName = "replan-worker"

// onVariable hands the address to the program. Arguments would show its password to all
// users of the machine.
const onVariable = "REPLAN_ON"

// Program returns how to start the worker program for a database. Save saves a setting of the
// screen.
func Program(database string, save func(key string, value *string) (string, error), log *slog.Logger) (remote.Options, error) {
	path, err := find()
	if err != nil {
		return remote.Options{}, err
	}
	return remote.Options{
		Command: []string{path, "attach"},
		Env:     append(os.Environ(), onVariable+"="+database),
		Prepare: child.Isolate, // an interrupt of the terminal is for replan alone
		By:      by(), Logger: log, SaveSetting: save,
	}, nil
}

// find looks for the worker program beside this one, then on the path.
func find() (string, error) {
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), programName)
		if runtime.GOOS == "windows" {
			beside += ".exe"
		}
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	path, err := exec.LookPath(programName)
	if err != nil {
		return "", errors.New("--on needs the program replan-worker beside replan or on the PATH: build it with go build -C distributed -o \"$(dirname \"$(command -v replan)\")\" ./replan-worker")
	}
	return path, nil
}

// by names the user to the others who follow a run.
func by() string {
	name := "somebody"
	if u, err := user.Current(); err == nil {
		name = u.Username[strings.LastIndexByte(u.Username, '\\')+1:] // without a Windows domain
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return untrusted.Line(name)
}
