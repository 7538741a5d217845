package cli_test

import (
	"os/exec"
	"strings"
)

// goEnv asks the go command for one of its settings, so that a script whose
// HOME is another still finds the build cache.
func goEnv(name string) string {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
