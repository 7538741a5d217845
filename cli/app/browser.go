package app

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/cli/browser"
)

// browserPatience is how long an opened browser may take to report a failure. One
// that still runs then is open.
const browserPatience = 2 * time.Second

// silenceBrowsers discards the output of browsers. A writer of this program, even one
// that discards, would be waited for until the browser ends.
var silenceBrowsers = sync.OnceFunc(func() { browser.Stdout, browser.Stderr = nil, nil })

// Browser returns what opens addresses in the user's browser. It does not wait for
// the end of the browser. Over SSH and without a desktop it fails: there, a browser in
// the terminal would open.
func Browser(getenv func(string) string) func(address string) error {
	return func(address string) error {
		desktop := runtime.GOOS == "darwin" || runtime.GOOS == "windows" || getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != "" || getenv("WSL_DISTRO_NAME") != ""
		if !desktop || getenv("SSH_CONNECTION") != "" {
			return errors.New("there is no browser on this machine")
		}
		silenceBrowsers()
		failed := make(chan error, 1)
		go func() { failed <- browser.OpenURL(address) }() // a new browser may run longer than this program
		select {
		case err := <-failed:
			if err != nil {
				return fmt.Errorf("opening the browser: %w", err)
			}
		case <-time.After(browserPatience):
		}
		return nil
	}
}
