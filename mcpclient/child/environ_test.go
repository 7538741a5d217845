package child_test

import (
	"slices"
	"strings"
	"testing"

	"replan/mcpclient/child"
)

func TestSecretVariablesAreRemovedByName(t *testing.T) {
	for _, name := range []string{
		"GITHUB_TOKEN", "gh_token", "CLIENT_SECRET", "SECRET_SAUCE", "OPENAI_API_KEY", "SSH_KEY", "KEY",
		"DB_PASSWORD", "PASSWORD", "PGPASSWORD", "MYSQL_PWD", "AWS_ACCESS_KEY_ID", "AZURE_X",
		"GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_API_KEY", "DATABASE_URL", "SENTRY_DSN", "NPM_TOKEN", "GITLAB_PAT",
		"MONGO_URI", "REDIS_URL", "SLACK_WEBHOOK_URL", "DOCKER_AUTH_CONFIG", "OP_SESSION_my", "TOKEN_GITHUB", "GH_TOKEN_WORK", "GITHUB_PAT_CLASSIC",
		"OPENAI_KEY_2", "MY_TOKEN_2", "ANTHROPIC_AUTH", "NPM_CONFIG__AUTH", "BASIC_AUTH", "STRIPE_SK", "JWT", "KUBE_CONFIG_DATA", "TWILIO_SID", "SESSION_COOKIE",
	} {
		t.Run(name, func(t *testing.T) {
			if got := child.Environ([]string{name + "=x"}, nil); len(got) != 0 {
				t.Errorf("passed on: %v", got)
			}
		})
	}
}

func TestSecretVariablesAreRemovedByValue(t *testing.T) {
	for _, value := range []string{
		"sk-abcdefghijklmnop1234", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "AKIAABCDEFGHIJKLMNOP", "http://user:hunter22@proxy:8080", "redis://:hunter22@host",
	} {
		if got := child.Environ([]string{"PLAIN=" + value}, nil); len(got) != 0 {
			t.Errorf("passed on: %v", got)
		}
	}
	for _, value := range []string{"http://proxy:8080", "git@github.com:a/b.git", "/usr/bin:/bin", "task-force-of-the-summer"} {
		if got := child.Environ([]string{"PLAIN=" + value}, nil); len(got) != 1 {
			t.Errorf("removed: %s", value)
		}
	}
}

func TestOrdinaryVariablesAreKept(t *testing.T) {
	for _, name := range []string{
		"PATH", "HOME", "LANG", "LC_ALL", "TERM", "TMPDIR", "PWD", "OLDPWD", "GOPATH", "GOFLAGS", "GOPROXY", "GOTOKENS_X",
		"XDG_CONFIG_HOME", "KEYBOARD", "SSH_AUTH_SOCK", "EDITOR", "MONKEY", "COMPASS", "HOMEPAGE_URL",
		"AWS_REGION", "AWS_PROFILE", "AWS_DEFAULT_REGION", "VAULT_ADDR", "DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_SESSION_TYPE", "DESKTOP_SESSION",
		"HTTPS_PROXY", "NO_PROXY", "SHELL", "USER", "CI", "GOCACHE", "JAVA_HOME", "VIRTUAL_ENV", "CARGO_HOME",
	} {
		t.Run(name, func(t *testing.T) {
			entry := name + "=a=b"
			if got := child.Environ([]string{entry}, nil); !slices.Equal(got, []string{entry}) {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestConfiguredVariablesOverrideInherited(t *testing.T) {
	got := child.Environ(
		[]string{"PATH=/bin", "MODE=old", "API_TOKEN=mine", "broken", "=C:=x"},
		map[string]string{"MODE": "new", "API_TOKEN": "its own", "A": ""},
	)
	want := "PATH=/bin|A=|API_TOKEN=its own|MODE=new"
	if strings.Join(got, "|") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
