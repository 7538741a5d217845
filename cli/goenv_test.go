package cli_test

import (
	"encoding/json"
	"os/exec"
	"sync"
)

// goEnv returns the go command's directories by variable name, so that a script
// with another HOME still finds the build cache. It is nil without a go command.
var goEnv = sync.OnceValue(func() (found map[string]string) {
	out, err := exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOROOT").Output()
	if err != nil {
		return nil
	}
	_ = json.Unmarshal(out, &found)
	return found
})
