package telling_test

import (
	"testing"

	"replan/planning/plan"
	"replan/tui/telling"
)

func TestAddressOfAServerQuotesItsArguments(t *testing.T) {
	for want, s := range map[string]plan.ServerStatus{
		"serve --name 'x y' ''":   {Command: []string{"serve", "--name", "x y", ""}},
		"https://example.com/mcp": {URL: "https://example.com/mcp"},
		"":                        {},
	} {
		if got := telling.ServerAddress(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestServerIsShownAsCommandLine(t *testing.T) {
	for want, p := range map[string]plan.PendingServer{
		"npx-nope -y x":     {Command: []string{"npx-nope", "-y", "x"}},
		"serve 'two words'": {Command: []string{"serve", "two words"}},
		"serve \"a\\nb\"":   {Command: []string{"serve", "a\nb"}},
		"serve\nin the folder sub\nenv A=1\nenv B='$HOME'": {
			Command: []string{"serve"}, Dir: "sub", Env: map[string]string{"B": "$HOME", "A": "1"},
		},
		"https://example.com/mcp\nruns 'cat key' in a shell for its headers": {URL: "https://example.com/mcp", HeadersHelper: "cat key"},
		"serve\ngets of your environment TOKEN 'AWS_*'":                      {Command: []string{"serve"}, Inherit: []string{"TOKEN", "AWS_*"}},
		"https://example.com/mcp\nheader X=y":                                {URL: "https://example.com/mcp", Headers: map[string]string{"X": "y"}},
	} {
		if got := telling.ServerWords(p.Whole()); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
