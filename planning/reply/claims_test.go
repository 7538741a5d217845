package reply_test

import (
	"strings"
	"testing"

	"replan/planning/reply"
)

func TestClaimsThatNoResultShowsAreFound(t *testing.T) {
	const results = "auth/auth.go:3: func Login(user string)\nport = 8080"
	for name, tt := range map[string]struct {
		answer string
		counts []int
		want   string
	}{
		"all is shown":            {"`Login` is in auth/auth.go, and the port is 8080.", nil, ""},
		"a file that is not":      {"It is in auth/session.go.", nil, "auth/session.go"},
		"a name that is not":      {"Call `Logout()` first.", nil, "Logout"},
		"a number that is not":    {"The port is 9090.", nil, "9090"},
		"a number of the goal":    {"The port is now 7070.", nil, ""},
		"a count of lines":        {"There are 42 lines.", []int{42}, ""},
		"one digit":               {"There are 3 of them.", nil, ""},
		"a method of a shown one": {"`auth.Login` does it.", nil, ""},
		"no file, but two words":  {"Read and/or write it.", nil, ""},
		"letters of another case": {"`login` is there.", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(reply.Unsupported(tt.answer, results, "Set the port to 7070", tt.counts), ", "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
