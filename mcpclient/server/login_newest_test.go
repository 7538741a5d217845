package server_test

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"replan/mcpclient/oauth/oauthtest"
	"replan/planning/plan"
)

// TestLoginToAServerOfTheNewestProtocolAlone goes from the first refusal through a login,
// a call that needs more rights, and a registration that the authorization server forgets.
func TestLoginToAServerOfTheNewestProtocolAlone(t *testing.T) {
	g := guard(t, oauthtest.Settings{}, oauthtest.Protection{
		Newest: true, Asks: "mcp:basic", Scopes: []string{"mcp:profile", "mcp:write"}, Needs: map[string]string{`"name":"write"`: "mcp:write"},
	}, false)
	login := func() (client string, scopes []string) {
		t.Helper()
		var asked url.Values
		var browser sync.WaitGroup
		defer browser.Wait()
		if err := g.Login(t.Context(), "far", func(address string) {
			at, err := url.Parse(address)
			if err != nil {
				t.Error(err)
				return
			}
			asked = at.Query()
			browser.Go(func() { _, _, _ = oauthtest.Browse(context.Background(), address) })
		}, nil); err != nil {
			t.Fatal(err)
		}
		return asked.Get("client_id"), strings.Fields(asked.Get("scope"))
	}
	wantCall := func(name string) {
		t.Helper()
		if got, err := call(t, g.Pool, "far:"+name, nil); err != nil || got != name+" done" {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}

	if got := status(t, g.Pool, "far"); !got.NeedsLogin || !strings.Contains(string(got.Error), "replan mcp login far") {
		t.Fatalf("got %+v, want that it needs a login", got)
	}
	first, scopes := login()
	if !slices.Equal(scopes, []string{"mcp:basic"}) {
		t.Errorf("asked for %v", scopes)
	}
	wantCall("read")

	write := tool(t, g.Pool, "write")
	if _, err := g.Call(t.Context(), plan.ToolCall{Tool: write}); !isToolError(err) || !strings.Contains(err.Error(), "asks for more rights (mcp:write): run replan mcp login far") {
		t.Errorf("got %v", err)
	}
	if _, scopes = login(); !slices.Equal(scopes, []string{"mcp:basic", "mcp:write"}) {
		t.Errorf("asked for %v", scopes)
	}
	wantCall("write")

	g.authority.Unregister()
	g.authority.Expire()
	if _, err := g.Call(t.Context(), plan.ToolCall{Tool: write}); !isToolError(err) || !strings.Contains(err.Error(), "replan mcp login far") {
		t.Errorf("got %v", err)
	}
	awaitState(t, g.Pool, plan.ServerFailed)
	client, scopes := login()
	if client == first || !slices.Equal(scopes, []string{"mcp:basic", "mcp:write"}) {
		t.Errorf("got the program %s, before it was %s, and the scopes %v", client, first, scopes)
	}
	wantCall("write")
	g.wantNoSecrets(t)
}
