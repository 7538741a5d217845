package child_test

import (
	"slices"
	"testing"

	"replan/mcpclient/child"
)

func TestServersInheritOnlyWhatIsListed(t *testing.T) {
	environ := []string{
		"PATH=/bin", "LC_ALL=C", "XDG_CACHE_HOME=/c", "https_proxy=http://proxy:1", "HTTP_PROXY=http://user:hunter22@proxy:1", "AWS_PROFILE=dev", "AWS_REGION=eu",
		"AWS_SECRET_ACCESS_KEY=x", "STRIPE_SK=x", "MY_JWT=x", "SSH_AUTH_SOCK=/s", "EDITOR=vi", "GIT_DIR=/g", "GIT_TOKEN=x", "XDG_SESSION_COOKIE=x",
	}
	for name, c := range map[string]struct {
		own     map[string]string
		inherit []string
		want    []string
	}{
		"list alone":        {nil, nil, []string{"PATH=/bin", "LC_ALL=C", "XDG_CACHE_HOME=/c", "https_proxy=http://proxy:1", "AWS_PROFILE=dev", "AWS_REGION=eu"}},
		"named variable":    {nil, []string{"SSH_AUTH_SOCK"}, []string{"PATH=/bin", "LC_ALL=C", "XDG_CACHE_HOME=/c", "https_proxy=http://proxy:1", "AWS_PROFILE=dev", "AWS_REGION=eu", "SSH_AUTH_SOCK=/s"}},
		"pattern":           {nil, []string{"GIT_*"}, []string{"PATH=/bin", "LC_ALL=C", "XDG_CACHE_HOME=/c", "https_proxy=http://proxy:1", "AWS_PROFILE=dev", "AWS_REGION=eu", "GIT_DIR=/g", "GIT_TOKEN=x"}},
		"own value is kept": {map[string]string{"PATH": "/own", "API_KEY": "k"}, nil, []string{"LC_ALL=C", "XDG_CACHE_HOME=/c", "https_proxy=http://proxy:1", "AWS_PROFILE=dev", "AWS_REGION=eu", "API_KEY=k", "PATH=/own"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := child.ServerEnviron(environ, c.own, c.inherit); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
