package intent_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"replan/planning/intent"
)

func TestFilesAboutTheWordsOfAGoalAreFound(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"greenhouse/beds.py":    "class Bed:\n    def water(self, seconds):\n        if seconds > 90: raise ValueError('a bed is flooded')\n",
		"greenhouse/sensors.py": "class Reading:\n    pass\n",
		"README.md":             "# greenhouse\n\nThe server listens on port 7070 unless GREENHOUSE_PORT says otherwise. It waters beds.\n",
		"notes/cli.py":          "def main(args):\n    print('unknown command', args[0])\n",
		"data/3.json":           "{\"name\": \"bread\", \"price\": 280}",
		"server.py":             "# The server.\nport = os.environ.get('GREENHOUSE_PORT', 7070) # environment variable\n",
		"huge.py":               "bed water second port server environment",
		"picture.png":           "bed water second",
		"secrets.yaml":          "bed water second port server environment variable default",
	}
	order := []string{"README.md", "data/3.json", "notes/cli.py", "greenhouse/beds.py", "greenhouse/sensors.py", "huge.py", "picture.png", "secrets.yaml", "server.py"}
	for goal, want := range map[string][]string{
		"What happens if a bed is watered for more than 90 seconds?":                            {"greenhouse/beds.py"},
		"Which environment variable sets the port of the server, and what is the default port?": {"server.py"},
		"Print the message about an unknown command to stderr instead of stdout.":               {"notes/cli.py"},
		"what does the bread cost, and which file is that in?":                                  {"data/3.json"},
		"Let the bread cost less": nil, // one word is too little to change a file
		"What is a monad?":        nil,
		"Hello":                   nil,
	} {
		s := intent.NewSurvey(goal)
		for _, at := range order {
			s.See(at, false)
		}
		s.Search(t.Context(), func(at string, _ int64) (string, int64) {
			if at == "huge.py" {
				return "", 1 << 20
			}
			return files[at], int64(len(files[at]))
		})
		got := s.Facts(nil).Related
		if len(got) == 0 != (len(want) == 0) || len(want) > 0 && got[0] != want[0] || slices.Contains(got, "huge.py") || slices.Contains(got, "picture.png") || slices.Contains(got, "secrets.yaml") {
			t.Errorf("%s: %q", goal, got)
		}
	}
}

func TestSearchForFilesIsBounded(t *testing.T) {
	t.Parallel()
	s := intent.NewSurvey("What happens if a bed is watered for more than 90 seconds?")
	for i := range 10_000 {
		s.See(fmt.Sprintf("a/%d.go", i), false)
	}
	asked := 0
	s.Search(t.Context(), func(string, int64) (string, int64) { asked++; return "", 1 << 20 })
	if asked > 4000 {
		t.Errorf("the size of %d files was asked for", asked)
	}
}

func TestSearchForFilesEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := intent.NewSurvey("What happens if a bed is watered for more than 90 seconds?")
	for i := range 100 {
		s.See(fmt.Sprintf("a/%d.go", i), false)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	read := 0
	s.Search(ctx, func(string, int64) (string, int64) {
		if read++; read == 3 {
			cancel()
		}
		return "a bed is watered for 90 seconds", 31
	})
	if found := s.Facts(nil).Related; read != 3 || found != nil {
		t.Errorf("%d files were read, and %q found", read, found)
	}
}
