package cli_test

import (
	"encoding/json"
	"os/exec"
	"sync"
)

// goEnv returns where the go command keeps things, by the names of its
// variables, so that a script whose HOME is another still finds the build cache.
// It is nil without a go command.
var goEnv = sync.OnceValue(func() (found map[string]string) {
	out, err := exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOROOT").Output()
	if err != nil {
		return nil
	}
	_ = json.Unmarshal(out, &found)
	return found
})
