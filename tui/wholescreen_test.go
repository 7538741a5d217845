package tui_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// wholeScreens are the tests whose goldens hold whole screens: those of the main
// views. All other goldens hold what a pane or a dialog draws by itself, see
// [screen.pane], [screen.panes] and [screen.front], so that a word changes few.
var wholeScreens = []string{
	"TestAReplayIsDrawnWideAndNarrow",
	"TestEveryStateIsDrawnAtEverySize",
	"TestTheFirstScreenIsDrawnWideAndNarrow",
	"TestTheMainViewInItsColours",
}

func TestOnlyMainViewsHaveGoldensOfWholeScreens(t *testing.T) {
	found := map[string]bool{}
	err := filepath.WalkDir("testdata", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".golden" {
			return err
		}
		text, err := os.ReadFile(path) //nolint:gosec // the test's own
		if err != nil {
			return err
		}
		// The header of the screen begins with the name of the program.
		if strings.HasPrefix(ansi.Strip(string(text)), " replan ") {
			test, _, _ := strings.Cut(filepath.ToSlash(path[len("testdata/"):]), "/")
			found[strings.TrimSuffix(test, ".golden")] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, wholeScreens) {
		t.Errorf("the goldens of %q hold whole screens, want those of %q", got, wholeScreens)
	}
}
