package testgarbage

import (
	"os"
	"runtime/debug"
)

// CollectLess lets this process collect garbage less often, unless the environment
// says how often. Call it from TestMain.
func CollectLess() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
