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

	"replan/tui"
)

// wholeScreens are the tests whose goldens hold whole screens: those of the main
// views. Every other golden holds what a pane or a dialog draws by itself, so that a
// changed word touches few goldens. Such a test belongs in the package of the pane,
// or it uses [screen.pane], [screen.panes] or [screen.front].
var wholeScreens = []string{
	"TestAReplayIsDrawnWideAndNarrow",
	"TestFirstScreenGreetsWideAndNarrow",
	"TestMainViewsAtEverySize",
	"TestTheMainViewInItsColors",
}

// mostWholeScreens limits the goldens of those tests.
const mostWholeScreens = 60

func TestOnlyMainViewsHaveGoldensOfWholeScreens(t *testing.T) {
	found, count := map[string]bool{}, 0
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
			count++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, wholeScreens) {
		t.Errorf("the goldens of %q hold whole screens, want those of %q", got, wholeScreens)
	}
	if count > mostWholeScreens {
		t.Errorf("%d goldens hold whole screens, want at most %d", count, mostWholeScreens)
	}
}

func TestTinyTerminalShowsShortMessage(t *testing.T) {
	for _, size := range []struct{ w, h int }{{10, 3}, {39, 12}, {40, 11}, {8, 2}, {6, 1}, {1, 1}} {
		s := open(t, tui.Options{}, size.w, size.h).show(newStory().Branching())
		lines := strings.Split(s.m.View().Content, "\n")
		if len(lines) != size.h {
			t.Errorf("%v: %d lines", size, len(lines))
		}
	}
	s := open(t, tui.Options{}, 10, 3)
	s.wants("Enlarge")
}
