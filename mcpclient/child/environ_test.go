package child_test

import (
	"slices"
	"strings"
	"testing"

	"replan/mcpclient/child"
)

func TestSecretsStayBehind(t *testing.T) {
	for _, name := range []string{
		"GITHUB_TOKEN", "gh_token", "CLIENT_SECRET", "SECRET_SAUCE", "OPENAI_API_KEY", "SSH_KEY", "KEY",
		"DB_PASSWORD", "PASSWORD", "PGPASSWORD", "MYSQL_PWD", "AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AZURE_X",
		"GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_API_KEY", "DATABASE_URL", "SENTRY_DSN", "NPM_TOKEN", "GITLAB_PAT",
	} {
		t.Run(name, func(t *testing.T) {
			if got := child.Environ([]string{name + "=x"}, nil); len(got) != 0 {
				t.Errorf("passed on: %v", got)
			}
		})
	}
}

func TestOrdinaryVariablesArePassedOn(t *testing.T) {
	for _, name := range []string{
		"PATH", "HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "PWD", "OLDPWD", "GOPATH", "GOFLAGS", "GOPROXY", "GOTOKENS_X",
		"XDG_CONFIG_HOME", "KEYBOARD", "SSH_AUTH_SOCK", "EDITOR", "MONKEY", "COMPASS", "HOMEPAGE_URL",
	} {
		t.Run(name, func(t *testing.T) {
			entry := name + "=a=b"
			if got := child.Environ([]string{entry}, nil); !slices.Equal(got, []string{entry}) {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestWhatIsWrittenDownForTheChildWins(t *testing.T) {
	got := child.Environ(
		[]string{"PATH=/bin", "MODE=old", "API_TOKEN=mine", "broken", "=C:=x"},
		map[string]string{"MODE": "new", "API_TOKEN": "its own", "A": ""},
	)
	want := "PATH=/bin|A=|API_TOKEN=its own|MODE=new"
	if strings.Join(got, "|") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
