package app

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"replan/agent/ollama"
	"replan/mcpclient/child"
)

// installed returns how Ollama is started on this machine, nil if it is not installed. log is
// the file for its output.
func installed(log string) func(host string) (ollama.Process, error) {
	program, err := exec.LookPath("ollama")
	if err != nil {
		return nil
	}
	return func(host string) (ollama.Process, error) { return serve(program, host, log) }
}

// installer returns the command that installs Ollama on this system, "" if none is known.
func installer() string {
	switch runtime.GOOS {
	case "darwin":
		return "brew install ollama"
	case "windows":
		return "winget install Ollama.Ollama"
	case "linux":
		return "curl -fsSL https://ollama.com/install.sh | sh"
	default:
		return ""
	}
}

// serve starts Ollama's server in a session of its own, so that it goes on after this program
// and hears none of its terminal's signals, as one that the user started would.
func serve(program, host, log string) (p ollama.Process, err error) {
	if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
		return p, fmt.Errorf("making the folder of its output: %w", err)
	}
	output, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600) //nolint:gosec // in replan's own folder
	if err != nil {
		return p, fmt.Errorf("opening the file for its output: %w", err)
	}
	defer func() { _ = output.Close() }()
	cmd := exec.Command(program, "serve") //nolint:gosec,noctx // the user's own; it outlives this program
	cmd.Env = append(os.Environ(), "OLLAMA_HOST="+host)
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Dir(log), output, output
	child.Isolate(cmd)
	if err := cmd.Start(); err != nil {
		return p, fmt.Errorf("starting it: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // it may run longer than this program
	return ollama.Process{Log: log, Ended: ended, Stop: func() error { return child.Kill(cmd) }}, nil
}
